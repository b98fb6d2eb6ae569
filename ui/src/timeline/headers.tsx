// Names of the lanes at the left; only those on screen are in the DOM.
import { useEffect, useRef } from "preact/hooks";
import { formatDuration, formatInt, formatPercent, formatShort } from "../format";
import { t } from "../i18n";
import { Icon } from "../shell/icons";
import { askRankNumber } from "../state/session";
import type { Track } from "../state/tracks";
import { openMenu, openMenuAt } from "../widgets/menu";
import { moveRank, offsetOf, offsets } from "./aligning";
import { laneTop } from "./bands";
import { laneEntries } from "./context_menu";
import { hide, moveLane, movePin, toggleOpen, togglePin } from "./lane_actions";
import { isOfData, type Lane, laneAt, lanesIn } from "./layout";
import type { TimelineModel } from "./model";
import { revealTrack } from "./moving";
import type { TimelineSearch } from "./searching";

interface Props {
  model: TimelineModel;
  search: TimelineSearch;
}

function Badges({ model, search, lane }: Props & { lane: Lane }) {
  const hits = lane.track.kind === "slices" ? search.perTrack.value.get(lane.track.id) : undefined;
  const offset = lane.track.kind === "rank" ? offsets.value.get(lane.track.rank) : undefined;
  const rank = lane.track.kind === "rank" ? model.meta.ranks.find((each) => each.rank === lane.track.rank) : undefined;
  return (
    <>
      {rank?.guessed && lane.height >= 18 && (
        <button class="tag guessed" title={t("rank.guessed_text")} onClick={() => askRankNumber(model.ds, rank)}>
          {t("rank.guessed")}
        </button>
      )}
      {hits !== undefined && (
        <span class="lane-hits" title={t("tl.hits", { n: hits })}>
          {formatShort(hits)}
        </span>
      )}
      {offset && (
        <span
          class="lane-offset"
          title={t("tl.offset", {
            offset: formatDuration(offset.offset),
            residual: offset.residual === null ? "–" : formatDuration(offset.residual),
          })}
        >
          {formatDuration(offset.offset)}
        </span>
      )}
    </>
  );
}

/** What the lane does in the time on screen: busy share and number of slices; beside the name, or below it where there is room. */
function Stat({ model, lane }: { model: TimelineModel; lane: Lane }) {
  const stat = model.laneStats.value?.get(lane.track.id);
  if (!stat || lane.form === "counter") return null;
  const share = stat.busy_ns / Math.max(1, model.view.t1 - model.view.t0);
  const slices = t("tl.area.slices", { n: stat.count });
  const waits = stat.wait_ns / Math.max(1, model.view.t1 - model.view.t0);
  const waiting = waits >= 0.001 ? ` · ${t("tl.lane_waits", { share: formatPercent(waits) })}` : "";
  const text = lane.height >= 36 ? `${formatPercent(share)}${waiting} · ${slices}` : formatPercent(share);
  return (
    <span class="lane-stat" title={t("tl.lane_stat", { share: formatPercent(share), slices }) + waiting}>
      {text}
    </span>
  );
}

/** Alt and a drag on the header of a rank move the rank in time. */
function dragRank(model: TimelineModel, rank: number, event: PointerEvent): void {
  if (!event.altKey || event.button !== 0) return;
  event.preventDefault();
  const header = event.currentTarget as HTMLElement;
  const [from, before] = [event.clientX, offsetOf(model, rank)];
  const residual = offsets.peek().get(rank)?.residual ?? null;
  const kept = offsets.peek();
  // A positive offset moves a rank to the left.
  const at = (x: number) => Math.round(before - (x - from) * model.nsPerCssPx);
  const end = (): void => {
    header.onpointermove = header.onpointerup = header.onpointercancel = null;
  };
  header.setPointerCapture(event.pointerId);
  header.onpointermove = (move) => {
    offsets.value = new Map(kept).set(rank, { offset: at(move.clientX), residual });
  };
  header.onpointerup = (up) => {
    end();
    if (at(up.clientX) === before) offsets.value = kept;
    else void moveRank(model, rank, at(up.clientX));
  };
  header.onpointercancel = () => {
    end();
    offsets.value = kept;
  };
}

/** `top` is a prop and not computed here: a header draws itself again only when its props change. */
function LaneHeader({ model, search, lane, top, shift = 0 }: Props & { lane: Lane; top: number; shift?: number }) {
  const { track } = lane;
  const label = model.shortName(track);
  // A pinned lane stands apart from its rank: it says whose it is. All of its path is in the tooltip.
  const rank = lane.pinned && track.kind !== "rank" ? model.tree.ancestors(track).at(-1) : undefined;
  const given = model.lanes.value.names.has(track.path);
  const menu = (event: MouseEvent) => {
    event.preventDefault();
    openMenu(event.clientX, event.clientY, laneEntries(model, { track }));
  };
  const hover = () => {
    model.hover.value = { x: -1, y: 0, t: (model.view.t0 + model.view.t1) / 2, track, row: -1, run: null, value: null };
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const path = event.dataTransfer?.getData("text/plain") ?? "";
    if (lane.pinned) movePin(model, path, track.path);
    else moveLane(model, path, track.path);
  };
  const drag = {
    draggable: isOfData(track),
    onDragStart: (e: DragEvent) => e.dataTransfer?.setData("text/plain", track.path),
    onDragOver: (e: DragEvent) => e.preventDefault(),
    onDrop: drop,
    ...(track.kind === "rank" && !lane.pinned ? { onPointerDown: (e: PointerEvent) => dragRank(model, track.rank, e) } : {}),
  };
  return (
    <div
      class={`lane lane-${lane.form} kind-${track.kind} ${lane.pinned ? "pinned" : ""}`}
      style={{ top: `${top}px`, height: `${lane.height}px`, paddingLeft: `${6 + lane.level * 12}px`, paddingTop: `${shift}px` }}
      title={[
        model.fullName(track),
        given && model.tree.label(track),
        model.origin(track),
        `${track.path} · ${formatInt(track.n)}`,
      ]
        .filter(Boolean)
        .join("\n")}
      role="treeitem"
      aria-level={lane.level + 1}
      aria-expanded={lane.expandable ? lane.expanded : undefined}
      onContextMenu={menu}
      onDblClick={() => lane.expandable && toggleOpen(model, track)}
      onPointerEnter={hover}
      {...drag}
    >
      {lane.expandable ? (
        <button
          class="lane-open"
          aria-label={t(lane.expanded ? "tl.collapse" : "tl.expand")}
          onClick={() => toggleOpen(model, track)}
        >
          {lane.expanded ? "▾" : "▸"}
        </button>
      ) : (
        <span class="lane-open" />
      )}
      <span class="lane-name">
        {rank && <span class="lane-rank">{`${model.shortName(rank)} · `}</span>}
        {label}
        {lane.height >= 36 && <Stat model={model} lane={lane} />}
      </span>
      {lane.height < 36 && lane.height >= 18 && <Stat model={model} lane={lane} />}
      <Badges model={model} search={search} lane={lane} />
      {lane.height >= 18 && isOfData(track) && (
        <span class="lane-tools">
          <button
            class={`icon ${lane.pinned || model.lanes.value.pinned.includes(track.path) ? "on" : ""}`}
            aria-label={t("tl.menu.pin")}
            title={`${t("tl.menu.pin")} (P)`}
            onClick={() => togglePin(model, track)}
          >
            <Icon name="pin" />
          </button>
          <button
            class="icon"
            aria-label={t("tl.menu.hide")}
            title={`${t("tl.menu.hide")} (H)`}
            onClick={() => hide(model, track)}
          >
            <Icon name="eye" />
          </button>
          <button
            class="icon"
            aria-label={t("tl.menu")}
            onClick={(e) => openMenuAt(e.currentTarget, laneEntries(model, { track }))}
          >
            <Icon name="more" />
          </button>
        </span>
      )}
    </div>
  );
}

const kStickyBar = 22;

/** Rank and groups of the first lane on screen whose own headers are scrolled away. */
function lanesAbove(model: TimelineModel): Track[] {
  const first = laneAt(model.layout.lanes, model.scrollY);
  if (!first) return [];
  const above = [...model.tree.ancestors(first.track).reverse(), ...(first.form === "header" ? [first.track] : [])];
  return above.filter((track) => {
    const lane = model.layout.byTrack.get(track.id);
    return lane && lane.y < model.scrollY;
  });
}

/** How far a name goes down in its lane so that what covers the lane's top does not cover it. */
export function nameShift(top: number, height: number, covered: number): number {
  return Math.max(0, Math.min(covered - top, height - 22));
}

export function LaneHeaders({ model, search }: Props) {
  const box = useRef<HTMLDivElement>(null);
  void model.layoutVersion.value;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      model.setScroll(model.scrollY + event.deltaY * (event.deltaMode === 1 ? 18 : 1));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [model]);
  const split = model.pinnedShown;
  const scrolled = lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight).slice(0, 120);
  const pinned = lanesIn(model.layout.pinned, 0, split);
  const above = lanesAbove(model);
  const bar = above.length > 0 ? kStickyBar : 0;
  return (
    <div class="lane-headers" ref={box} role="tree" aria-label={t("tl.lanes")}>
      <div class="lane-clip" style={{ top: `${split}px` }}>
        <div style={{ position: "absolute", inset: `${-split}px 0 0 0` }}>
          {scrolled.map((lane) => {
            const top = laneTop(model, lane);
            return <LaneHeader key={lane.track.id} model={model} search={search} lane={lane} top={top} shift={nameShift(top, lane.height, split + bar)} />;
          })}
        </div>
        {bar > 0 && (
          <div class="lane-sticky" aria-hidden="true" title={model.fullName(above.at(-1)!)}>
            {above.map((track, at) => (
              <button key={track.id} class="link" tabIndex={-1} onClick={() => revealTrack(model, track.id)}>
                {`${at > 0 ? "› " : ""}${model.shortName(track)}`}
              </button>
            ))}
          </div>
        )}
      </div>
      {split > 0 && (
        <div class="lane-clip pinned-clip" style={{ top: 0, height: `${split}px` }}>
          {pinned.map((lane) => (
            <LaneHeader key={lane.track.id} model={model} search={search} lane={lane} top={laneTop(model, lane)} />
          ))}
        </div>
      )}
    </div>
  );
}

/** The scroll bar of the lanes: a native one, as tall as the lanes. */
export function LaneScrollbar({ model }: { model: TimelineModel }) {
  const box = useRef<HTMLDivElement>(null);
  void model.layoutVersion.value;
  useEffect(() => {
    if (box.current && Math.abs(box.current.scrollTop - model.scrollY) > 1) box.current.scrollTop = model.scrollY;
  });
  return (
    <div
      class="lane-scrollbar"
      ref={box}
      tabIndex={-1}
      style={{ top: `${model.pinnedShown}px` }}
      onScroll={(e) => model.setScroll(e.currentTarget.scrollTop)}
    >
      <div style={{ height: `${model.layout.height + 20}px` }} />
    </div>
  );
}
