// What was read, what was left out and why, what was wrong with it, and which views lack what.
import type { Dataset } from "../api";
import type { RankMeta, ViewState } from "../api_types";
import { formatBytes, formatDuration, formatInt } from "../format";
import { hasMessage, t, valueText } from "../i18n";
import { askRankNumber } from "../state/session";
import { copyText, missingWords } from "../widgets/states";
import { Card } from "./parts";
import type { PageProps } from "./registry";

function Files({ rank }: { rank: RankMeta }) {
  const timed = rank.files.some((file) => file.read_ms !== undefined);
  return (
    <table class="plain wide">
      <thead>
        <tr>
          <th>{t("data.file")}</th>
          <th class="num">{t("data.size")}</th>
          {timed && (
            <th class="num" title={t("data.read_time_text")}>
              {t("data.read_time")}
            </th>
          )}
          <th>{t("data.use")}</th>
        </tr>
      </thead>
      <tbody>
        {rank.files.map((file) => (
          <tr key={file.path} class={file.used ? "" : "muted"}>
            <td class="mono">{file.path}</td>
            <td class="num">{formatBytes(file.size)}</td>
            {timed && <td class="num">{file.read_ms === undefined ? "" : formatDuration(file.read_ms * 1e6)}</td>}
            <td>{file.used ? t("data.used") : `${t("data.left_out")}: ${valueText(file.note)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Issues({ rank }: { rank: RankMeta }) {
  if (rank.issues.length === 0) return <p class="ok">{t("data.sound")}</p>;
  return (
    <table class="plain wide">
      <thead>
        <tr>
          <th>{t("data.issue")}</th>
          <th class="num">{t("data.times")}</th>
          <th>{t("data.example")}</th>
        </tr>
      </thead>
      <tbody>
        {rank.issues.map((issue) => (
          <tr key={issue.name}>
            <td>
              <span class={`tag ${issue.severity}`}>{t(`severity.${issue.severity}`)}</span> {hasMessage(`issue.${issue.name}`) ? t(`issue.${issue.name}`) : issue.text}
            </td>
            <td class="num">{formatInt(issue.count)}</td>
            <td class="mono">{issue.example}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Views({ views }: { views: Record<string, ViewState> }) {
  return (
    <table class="plain wide">
      <thead>
        <tr>
          <th>{t("data.view")}</th>
          <th>{t("data.state")}</th>
          <th>{t("missing.what")}</th>
          <th>{t("missing.flag")}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(views).map(([name, view]) => (
          <tr key={name}>
            <td>{t(`page.${name === "operator" ? "operators" : name}`)}</td>
            <td>{t(view.available ? (view.missing.length === 0 ? "data.complete" : "data.partly") : "data.not_there")}</td>
            <td>{view.missing.map((part) => missingWords(part.what)).join("; ")}</td>
            <td>
              {view.missing
                .filter((part) => part.flag)
                .map((part) => (
                  <button key={part.flag} class="link mono" title={t("copy")} onClick={() => void copyText(part.flag)}>
                    {missingWords(part.flag)}
                  </button>
                ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How long reading took, and how fast that was. */
function readText({ read_ms = 0, cached, files }: RankMeta): string {
  const time = formatDuration(read_ms * 1e6);
  if (cached) return t("data.read_cached", { time });
  const bytes = files.reduce((sum, file) => sum + (file.used ? file.size : 0), 0);
  return t("data.read", { time, size: formatBytes(bytes), rate: formatBytes(bytes / Math.max(read_ms / 1000, 1e-6)) });
}

function Rank({ ds, rank, open }: { ds: Dataset; rank: RankMeta; open: boolean }) {
  const counts = Object.entries(rank.counts).filter(([, count]) => count > 0);
  return (
    <details class="card" open={open}>
      <summary>
        <b>
          {t("rank")} {rank.alias || rank.rank}
        </b>{" "}
        <span class="muted">
          {[rank.source, rank.format, rank.level, rank.host].filter((part) => part !== "").join(" · ")} · {rank.path}
        </span>{" "}
        {rank.guessed && <span class="tag">{t("rank.guessed")}</span>}{" "}
        {rank.issues.length > 0 && <span class="tag warn">{t("data.issues", { n: rank.issues.length })}</span>}
      </summary>
      <p class="facts-line">
        {counts.map(([name, count]) => (
          <span key={name}>
            {name} <b>{formatInt(count)}</b>
          </span>
        ))}
        {rank.steps.length > 0 && (
          <span>
            {t("step")} <b>{rank.steps.map((step) => step.step).join(", ")}</b>
          </span>
        )}
      </p>
      {rank.read_ms !== undefined && <p class="muted">{readText(rank)}</p>}
      {rank.guessed && (
        <p>
          <button title={t("rank.guessed_text")} onClick={() => askRankNumber(ds, rank)}>
            {t("rank.renumber")}
          </button>
        </p>
      )}
      <Issues rank={rank} />
      <Files rank={rank} />
    </details>
  );
}

export default function DataPage({ ds, meta }: PageProps) {
  return (
    <div class="page-body">
      <Card title={t("data.views")}>
        <Views views={meta.views as Record<string, ViewState>} />
      </Card>
      {meta.ranks.map((rank) => (
        <Rank key={rank.rank} ds={ds} rank={rank} open={meta.ranks.length <= 2} />
      ))}
      {meta.ignored.length > 0 && (
        <Card title={t("data.ignored")}>
          <table class="plain wide">
            <tbody>
              {meta.ignored.map((file) => (
                <tr key={file.path}>
                  <td class="mono">{file.path}</td>
                  <td>{valueText(file.note)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )}
    </div>
  );
}
