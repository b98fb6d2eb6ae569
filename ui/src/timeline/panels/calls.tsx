// The calls of a range as a table that opens: call tree, or bottom-up.
import { useMemo, useState } from "preact/hooks";
import { formatInt, formatPercent, oneUnit } from "../../format";
import { t } from "../../i18n";
import { kernelLabel } from "../../kernel_label";
import { LaneFlag } from "../../state/tracks";
import { scopeRank } from "../../state/session";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import { callsDown, callsUp, openRows } from "../call_tree";
import { readNodes } from "../flame_layout";
import type { TimelineModel } from "../model";
import type { TimelineSearch } from "../searching";

const kMost = 400;

/** Host operators and streams of the rank in scope. */
function lanesOfRank(model: TimelineModel, rank: number): number[] {
  const left_out = LaneFlag.overlap | LaneFlag.pythonStack | LaneFlag.annotation | LaneFlag.commGroup | LaneFlag.commPlane;
  return model.tree.all
    .filter((each) => each.rank === rank && each.kind === "slices" && each.flags & (LaneFlag.host | LaneFlag.device) && !(each.flags & left_out))
    .map((each) => each.id)
    .slice(0, 64);
}

export function CallsPanel({ model, search }: { model: TimelineModel; search: TimelineSearch }) {
  void model.viewVersion.value;
  const area = model.area.value;
  const [isUp, setUp] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rank = scopeRank.value;
  const tracks = area && area.tracks.length > 0 ? area.tracks : lanesOfRank(model, rank);
  const t0 = Math.max(0, Math.round(area?.t0 ?? model.view.t0));
  const t1 = Math.round(area?.t1 ?? model.view.t1);
  const loaded = useLoad((signal) => (tracks.length > 0 && t1 > t0 ? model.ds.metric("flame", { tracks, t0, t1, order: "merged" }, signal) : null), [tracks.join(), t0, t1]);
  const table = loaded.data?.tables["nodes"] ?? Object.values(loaded.data?.tables ?? {})[0];
  const tops = useMemo(() => {
    const nodes = table ? readNodes(table) : [];
    return isUp ? callsUp(nodes) : callsDown(nodes);
  }, [table, isUp]);
  const rows = useMemo(() => openRows(tops, open), [tops, open]);
  if (loaded.error) return <ErrorState error={loaded.error} onRetry={loaded.reload} />;
  if (!table && loaded.busy) return <Loading />;
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const whole = tops.reduce((sum, node) => sum + node.total_ns, 0);
  const write = oneUnit(rows.slice(0, kMost).map(({ node }) => node.total_ns));
  return (
    <div class="calls-panel">
      <div class="row flame-order" role="group" aria-label={t("tl.calls.order")}>
        {[false, true].map((each) => (
          <button key={String(each)} class="toggle" aria-pressed={isUp === each} title={t(each ? "tl.calls.up_text" : "tl.calls.down_text")} onClick={() => (setUp(each), setOpen(new Set()))}>
            {t(each ? "tl.calls.up" : "tl.calls.down")}
          </button>
        ))}
        <span class="muted">{area ? t("tl.calls.where_area") : t("tl.calls.where_view", { rank })}</span>
      </div>
      {rows.length === 0 ? (
        <EmptyState title={t("tl.flame.none")} />
      ) : (
        <div class="calls-box" tabIndex={0}>
          <table class="plain wide calls" aria-label={t("tl.tab.calls")}>
            <thead>
              <tr>
                <th>{t("tl.calls.name")}</th>
                <th class="num">{t("tl.calls.total")}</th>
                <th class="num">%</th>
                <th class="num">{t("tl.calls.self")}</th>
                <th class="num">{t("tl.calls.count")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, kMost).map(({ node, depth, inner }) => (
                <tr key={node.key}>
                  <td style={{ paddingLeft: `${8 + depth * 16}px` }}>
                    {inner > 0 ? (
                      <button class="lane-open" aria-expanded={open.has(node.key)} aria-label={t(open.has(node.key) ? "tl.collapse" : "tl.expand")} onClick={() => toggle(node.key)}>
                        {open.has(node.key) ? "▾" : "▸"}
                      </button>
                    ) : (
                      <span class="lane-open" />
                    )}
                    <button class="link" title={node.name} onClick={() => search.type(node.name)}>
                      {kernelLabel(node.name)}
                    </button>
                  </td>
                  <td class="num">{write(node.total_ns)}</td>
                  <td class="num">{formatPercent(whole > 0 ? node.total_ns / whole : 0)}</td>
                  <td class="num">{write(node.self_ns)}</td>
                  <td class="num">{formatInt(node.count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {rows.length > kMost && <p class="muted">{t("tl.calls.more", { n: rows.length - kMost })}</p>}
        </div>
      )}
    </div>
  );
}
