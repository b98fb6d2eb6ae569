// The operators of all ranks over time, one row a rank; ranks can be shifted so that a chosen operator ends together.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { CanvasChart, type Mark, type Surface } from "../../charts/canvas_chart";
import { seriesColor } from "../../charts/palette";
import { largest, smallest } from "../../charts/ticks";
import { formatDuration } from "../../format";
import { t } from "../../i18n";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, jumpTo, rowsOf, tableOf, useMetric } from "../parts";
import type { CommChoice } from "./index";

interface Op {
  rank: number;
  name: string;
  start: number;
  dur: number;
  /** The same on all ranks that take part. */
  call: string;
}

const kRow = 22;
const kLeft = 64;

/** Shift per rank that makes the end of a call fall on its latest end. */
function shiftsFor(ops: Op[], call: string | null): Map<number, number> {
  const members = call === null ? [] : ops.filter((op) => op.call === call);
  const last = largest(members.map((op) => op.start + op.dur), -Infinity);
  return new Map(members.map((op) => [op.rank, last - op.start - op.dur]));
}

function drawLanes({ g, width, muted }: Surface, ops: Op[], ranks: number[], shifts: Map<number, number>, window: [number, number]): Mark[] {
  const scale = (width - kLeft - 4) / Math.max(1, window[1] - window[0]);
  g.textBaseline = "middle";
  g.textAlign = "right";
  g.fillStyle = muted;
  ranks.forEach((rank, row) => g.fillText(`${t("rank")} ${rank}`, kLeft - 6, row * kRow + kRow / 2));
  const marks: Mark[] = [];
  ops.forEach((op, at) => {
    const begin = op.start + (shifts.get(op.rank) ?? 0);
    const x0 = Math.max(kLeft, kLeft + (begin - window[0]) * scale);
    const x1 = Math.min(width - 4, kLeft + (begin + op.dur - window[0]) * scale);
    if (x1 < kLeft || x0 > width - 4) return;
    const y = ranks.indexOf(op.rank) * kRow + 3;
    let hash = 0;
    for (const letter of op.name.replace(/[\d_]+$/, "")) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
    g.fillStyle = seriesColor(hash % 9);
    const w = Math.max(1, x1 - x0);
    g.fillRect(x0, y, w, kRow - 6);
    marks.push({ x: x0, y, w, h: kRow - 6, text: `${t("rank")} ${op.rank} · ${op.name} · ${formatDuration(op.start)} + ${formatDuration(op.dur)}`, key: at });
  });
  return marks;
}

export function OperatorLanes({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const reply = useMetric(ds, "comm_thumbnail", { ...choice });
  const [picked, setPicked] = useState<Op | null>(null);
  const [aligned, setAligned] = useState<string | null>(null);
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const ops = useMemo(
    () => rowsOf(reply.data, "thumbnail").map((row): Op => ({ rank: asNumber(row["rank"]), name: asText(row["name"]), start: asNumber(row["start_ns"]), dur: asNumber(row["elapse_ns"]), call: asText(row["call"]) })),
    [reply.data],
  );
  const ranks = useMemo(() => [...new Set(ops.map((op) => op.rank))].sort((a, b) => a - b), [ops]);
  const shifts = useMemo(() => shiftsFor(ops, aligned), [ops, aligned]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const begin = smallest(ops.map((op) => op.start), Infinity);
  const end = largest(ops.map((op) => op.start + op.dur), -Infinity);
  const window: [number, number] = zoom ?? (ops.length > 0 ? [begin, end] : [0, 1]);
  const scaleBy = (factor: number) => {
    const middle = picked ? picked.start + picked.dur / 2 : (window[0] + window[1]) / 2;
    const half = ((window[1] - window[0]) * factor) / 2;
    setZoom([middle - half, middle + half]);
  };
  const pan = (share: number) => setZoom([window[0] + (window[1] - window[0]) * share, window[1] + (window[1] - window[0]) * share]);
  return (
    <Card
      title={t("comm.lanes_title")}
      definition="comm.lanes"
      extra={
        <>
          <button onClick={() => pan(-0.3)} aria-label={t("comm.earlier")}>◀</button>
          <button onClick={() => pan(0.3)} aria-label={t("comm.later")}>▶</button>
          <button onClick={() => scaleBy(0.5)} aria-label={t("comm.zoom_in")}>+</button>
          <button onClick={() => scaleBy(2)} aria-label={t("comm.zoom_out")}>−</button>
          <button onClick={() => setZoom(null)}>{t("comm.fit")}</button>
          <button disabled={!picked?.call} onClick={() => setAligned(picked?.call ?? null)}>{t("comm.align")}</button>
          {aligned && <button onClick={() => setAligned(null)}>{t("comm.restore")}</button>}
          <button disabled={!picked} onClick={() => picked && void jumpTo(ds, picked.rank, picked.name, picked.start, picked.dur)}>{t("table.jump")}</button>
        </>
      }
    >
      <CanvasChart
        title={t("comm.lanes_title")}
        height={Math.max(60, ranks.length * kRow + 8)}
        draw={(surface) => drawLanes(surface, ops, ranks, shifts, window)}
        deps={[ops, ranks, shifts, window[0], window[1]]}
        table={tableOf(reply.data, "thumbnail")}
        onPick={(at) => setPicked(ops[at] ?? null)}
      />
      {picked && (
        <p>
          {t("rank")} {picked.rank} · <b>{picked.name}</b> · {formatDuration(picked.dur)}
        </p>
      )}
    </Card>
  );
}
