// Flame graph of the area: nesting merged by name, widest first; or as it was in time.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MetricTable } from "../../api_types";
import { formatDuration, formatPercent } from "../../format";
import { t } from "../../i18n";
import { theme } from "../../state/theme";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import { drawnSvg, exportEntries } from "../../charts/canvas_chart";
import { openMenuAt } from "../../widgets/menu";
import { isDark, pixelToCss, sliceColor, sliceFamily } from "../colors";
import { readColors } from "../base_layer";
import { fitText } from "../labels";
import type { TimelineModel } from "../model";
import type { TimelineSearch } from "../searching";
import { viewAround } from "../view";
import { type FlameNode, layoutFlame, layoutInTime, readNodes, sandwich } from "../flame_layout";

const kRow = 18;

/** Height of the graph, px. */
const heightOf = (nodes: FlameNode[]) => (nodes.reduce((depth, node) => Math.max(depth, node.depth), 0) + 1) * kRow + 4;

function draw(canvas: HTMLCanvasElement, nodes: FlameNode[]): void {
  const box = canvas.parentElement;
  const g = canvas.getContext("2d");
  if (!box || !g) return;
  const ratio = Math.min(2, devicePixelRatio || 1);
  const width = box.clientWidth;
  const height = heightOf(nodes);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  g.scale(ratio, ratio);
  paint(g, nodes, width);
}

function paint(g: CanvasRenderingContext2D, nodes: FlameNode[], width: number): void {
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  const { dark } = readColors();
  for (const node of nodes) {
    const x = node.x * width;
    const w = node.w * width;
    if (w < 0.5) continue;
    const color = sliceColor(sliceFamily("host", node.name), node.name, "name", dark);
    g.fillStyle = pixelToCss(color);
    g.fillRect(x, node.depth * kRow, Math.max(0.5, w - 1), kRow - 1);
    if (w < 30) continue;
    g.fillStyle = isDark(color) ? "#ffffff" : "#10202e";
    g.fillText(
      fitText((text) => g.measureText(text).width, node.name, w - 8),
      x + 4,
      node.depth * kRow + kRow / 2,
    );
  }
}

/** Saves the graph that is shown, or its nodes. */
function saveMenu(anchor: Element, canvas: HTMLCanvasElement | null, nodes: FlameNode[], table: MetricTable): void {
  const svg = () => (canvas ? drawnSvg(({ g, width }) => paint(g, nodes, width), canvas.clientWidth, heightOf(nodes)) : null);
  openMenuAt(anchor, exportEntries({ title: t("tl.tab.flame"), table, picture: () => canvas, svg }));
}

interface CanvasProps {
  nodes: FlameNode[];
  /** What the csv of the graph has. */
  table: MetricTable;
  onTip(node: FlameNode | undefined): void;
  onPick(node: FlameNode | undefined): void;
  onOpen(node: FlameNode): void;
  label: string;
}

function FlameCanvas({ nodes, table, onTip, onPick, onOpen, label }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element?.parentElement) return;
    draw(element, nodes);
    const observer = new ResizeObserver(() => draw(element, nodes));
    observer.observe(element.parentElement);
    return () => observer.disconnect();
  }, [nodes, theme.value]);
  const at = (event: MouseEvent): FlameNode | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const x = (event.clientX - box.left) / box.width;
    const depth = Math.floor((event.clientY - box.top) / kRow);
    return nodes.find((node) => node.depth === depth && x >= node.x && x < node.x + node.w);
  };
  return (
    <div class="flame-canvas">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerMove={(e) => onTip(at(e))}
        onPointerLeave={() => onTip(undefined)}
        onClick={(e) => onPick(at(e))}
        onDblClick={(e) => ((node) => node && onOpen(node))(at(e))}
      />
      <button class="icon flame-save" aria-label={t("chart.menu")} title={t("chart.menu")} onClick={(e) => saveMenu(e.currentTarget, canvas.current, nodes, table)}>
        ⋯
      </button>
    </div>
  );
}

function Graph({ table, search }: { table: MetricTable; search: TimelineSearch }) {
  const [root, setRoot] = useState<number | null>(null);
  const [around, setAround] = useState("");
  const [tip, setTip] = useState("");
  const all = useMemo(() => readNodes(table), [table]);
  const nodes = useMemo(() => layoutFlame(all, root), [all, root]);
  const sides = useMemo(() => {
    if (around === "") return null;
    const { callers, callees } = sandwich(all, around);
    return { callers: layoutFlame(callers, null), callees: layoutFlame(callees, null) };
  }, [all, around]);
  const whole = nodes[0]?.total_ns ?? 1;
  const focused = all.find((node) => node.id === root)?.name ?? "";
  const show = (node: FlameNode | undefined) =>
    setTip(
      node
        ? `${node.name} · ${formatDuration(node.total_ns)} (${formatPercent(node.total_ns / whole)}) · ${t("tl.self")} ${formatDuration(node.self_ns)} · × ${node.count}`
        : "",
    );
  return (
    <div class="flame">
      <div class="row flame-line">
        <span class="grow">{tip || t("tl.flame.hint")}</span>
        {focused !== "" && around === "" && <button onClick={() => setAround(focused)}>{t("tl.flame.sandwich")}</button>}
        {(root !== null || around !== "") && (
          <button
            onClick={() => {
              setRoot(null);
              setAround("");
            }}
          >
            {t("tl.flame.whole")}
          </button>
        )}
      </div>
      {sides ? (
        <div class="flame-box">
          <h3>{t("tl.flame.callers", { name: around })}</h3>
          <FlameCanvas nodes={sides.callers} table={table} label={tip || t("tl.flame.callers", { name: around })} onTip={show} onPick={(node) => node && setAround(node.name)} onOpen={(node) => search.type(node.name)} />
          <h3>{t("tl.flame.callees", { name: around })}</h3>
          <FlameCanvas nodes={sides.callees} table={table} label={tip || t("tl.flame.callees", { name: around })} onTip={show} onPick={(node) => node && setAround(node.name)} onOpen={(node) => search.type(node.name)} />
        </div>
      ) : (
        <div class="flame-box">
          <FlameCanvas nodes={nodes} table={table} label={tip || t("tl.tab.flame")} onTip={show} onPick={(node) => setRoot(node?.id ?? null)} onOpen={(node) => search.type(node.name)} />
        </div>
      )}
    </div>
  );
}

/** The same stacks where they were: neighbours of one name are one bar. */
function InTime({ table, t0, t1, model, search }: { table: MetricTable; t0: number; t1: number; model: TimelineModel; search: TimelineSearch }) {
  const [tip, setTip] = useState("");
  const nodes = useMemo(() => layoutInTime(readNodes(table), t0, t1), [table, t0, t1]);
  const show = (node: FlameNode | undefined) =>
    setTip(node ? `${node.name} · ${formatDuration(node.end_ns - node.begin_ns)} · ${t("tl.self")} ${formatDuration(node.self_ns)} · × ${node.count}` : "");
  const zoomTo = (node: FlameNode | undefined) => node && model.setView(viewAround(node.begin_ns, node.end_ns));
  return (
    <div class="flame">
      <div class="row flame-line">
        <span class="grow">{tip || t("tl.flame.time_hint")}</span>
      </div>
      <div class="flame-box">
        <FlameCanvas nodes={nodes} table={table} label={tip || t("tl.tab.flame")} onTip={show} onPick={zoomTo} onOpen={(node) => search.type(node.name)} />
      </div>
    </div>
  );
}

export function FlamePanel({ model, search }: { model: TimelineModel; search: TimelineSearch }) {
  const area = model.area.value;
  const [inTime, setInTime] = useState(false);
  const lane = model.selected.value?.track;
  const tracks = area?.tracks ?? (lane === undefined ? [] : [lane]);
  const t0 = Math.max(0, Math.round(area?.t0 ?? model.view.t0));
  const t1 = Math.round(area?.t1 ?? model.view.t1);
  const loaded = useLoad(
    (signal) => (tracks.length > 0 ? model.ds.metric("flame", { tracks, t0, t1, order: inTime ? "time" : "merged" }, signal) : null),
    [tracks.join(), t0, t1, inTime],
  );
  if (tracks.length === 0)
    return (
      <EmptyState title={t("tl.flame.none")}>
        <p class="muted">{t("tl.area.none_text")}</p>
      </EmptyState>
    );
  if (loaded.error) return <ErrorState error={loaded.error} onRetry={loaded.reload} />;
  const table = loaded.data?.tables["nodes"] ?? Object.values(loaded.data?.tables ?? {})[0];
  if (!table || loaded.busy) return <Loading />;
  if (table.rows.length === 0) return <EmptyState title={t("tl.flame.none")} />;
  return (
    <div class="flame-panel">
      <div class="row flame-order" role="group" aria-label={t("tl.flame.order")}>
        {[false, true].map((each) => (
          <button key={String(each)} class="toggle" aria-pressed={inTime === each} onClick={() => setInTime(each)}>
            {t(each ? "tl.flame.in_time" : "tl.flame.merged")}
          </button>
        ))}
      </div>
      {inTime ? <InTime table={table} t0={t0} t1={t1} model={model} search={search} /> : <Graph table={table} search={search} />}
    </div>
  );
}
