// The card that explains a gap, a wait or a slice; every piece of evidence can be gone to.
import type { ExplainItem } from "../../api_types";
import { formatDuration, formatPercent } from "../../format";
import { t } from "../../i18n";
import { EmptyState, Loading } from "../../widgets/states";
import { explainBusy, explanation, word } from "../explaining";
import type { TimelineModel } from "../model";
import { revealTrack } from "../moving";
import { goTo } from "../selecting";
import { viewAround } from "../view";

function go(model: TimelineModel, item: ExplainItem): void {
  if (item.track !== undefined && item.i !== undefined) return goTo(model, { track: item.track, i: item.i });
  if (item.track !== undefined) revealTrack(model, item.track);
  if (item.t0 !== undefined && item.t1 !== undefined) model.setView(viewAround(item.t0, item.t1));
}

function Item({ model, item }: { model: TimelineModel; item: ExplainItem }) {
  const jumps = item.track !== undefined || item.t0 !== undefined;
  const text = word(item.text, item.key, item.args);
  return (
    <li>
      <span class="explain-bar">
        <i style={{ width: `${Math.round(100 * Math.max(0, Math.min(1, item.share ?? 0)))}%` }} />
      </span>
      <span class="explain-share">{item.share === undefined ? "" : formatPercent(item.share, 0)}</span>
      <span class="explain-ns">{item.ns === undefined ? "" : formatDuration(item.ns)}</span>
      {jumps ? (
        <button class="link" onClick={() => go(model, item)}>
          {text}
        </button>
      ) : (
        <span>{text}</span>
      )}
    </li>
  );
}

export function ExplainPanel({ model }: { model: TimelineModel }) {
  const reply = explanation.value;
  if (explainBusy.value) return <Loading />;
  if (!reply)
    return (
      <EmptyState title={t("tl.explain.none")}>
        <p class="muted">{t("tl.explain.none_text")}</p>
      </EmptyState>
    );
  return (
    <div class="explain pad">
      <h2>{word(reply.title)}</h2>
      <p>{word(reply.verdict)}</p>
      <ul>
        {reply.items.map((item, at) => (
          <Item key={at} model={model} item={item} />
        ))}
      </ul>
    </div>
  );
}
