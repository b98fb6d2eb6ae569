// Two sides next to each other: what differs in a step, by which operators, groups and causes, and where in time.
import { useMemo, useState } from "preact/hooks";
import { Dataset } from "../../api";
import type { DatasetMeta, MetricReply } from "../../api_types";
import { BlockLanes } from "../../charts/block_lanes";
import { DeltaBars } from "../../charts/delta_bars";
import { LineChart } from "../../charts/line_chart";
import { sideColors } from "../../charts/palette";
import { formatPercent, oneUnit, signedDuration } from "../../format";
import { hasMessage, locale, t } from "../../i18n";
import { openSearch } from "../../state/jump";
import { navigate, noteState, route } from "../../state/router";
import { info, scope, scopeRank, scopeSide } from "../../state/session";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { type Loaded, useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import { partTitle } from "../against";
import { curvesOf, named } from "../curves";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, Warnings } from "../parts";
import type { PageProps } from "../registry";
import { matchedBlocks } from "./matched";
import { firstSides, formatSide, parseSide, runsAsSides, type Side } from "../../state/sides";
import { missingSides, type PartTimes, partTimes } from "./parts";

const kGroupings = [
  "Computing Operator Type",
  "Computing Operator Name and Input Shape",
  "Communication Operator Type",
  "Communication Operator",
];
const kLetters = ["A", "B"] as const;

type Sides = [Side, Side];

function SidePick({ letter, side, onPick }: { letter: "A" | "B"; side: Side; onPick(side: Side): void }) {
  const meta = useLoad(() => new Dataset(side.ds).meta(), [side.ds]).data;
  const runs = (info.value?.datasets ?? []).map((each) => ({ value: each.ds, text: each.name }));
  const ranks = (meta?.ranks ?? []).map((each) => ({ value: each.rank, text: each.alias || String(each.rank) }));
  const steps = meta?.ranks.find((each) => each.rank === side.rank)?.steps ?? [];
  const stepOptions = [
    { value: "", text: t("all") },
    ...steps.map(({ step }) => ({ value: String(step), text: String(step) })),
  ];
  return (
    <div class="controls compare-side">
      <b class={`area-badge area-${letter}`}>{letter}</b>
      <Pick
        label={t("compare.run")}
        value={side.ds}
        options={runs}
        onPick={(ds) => onPick({ ...side, ds, step: null })}
      />
      <Pick label={t("rank")} value={side.rank} options={ranks} onPick={(rank) => onPick({ ...side, rank })} />
      <Pick
        label={t("step")}
        value={side.step === null ? "" : String(side.step)}
        options={stepOptions}
        onPick={(step) => onPick({ ...side, step: step === "" ? null : Number(step) })}
      />
    </div>
  );
}

/** Says which side has no data for a comparison, instead of calling that an improvement. */
function MissingSides({ parts }: { parts: readonly PartTimes[] }) {
  return (
    <>
      {missingSides(parts).map((side) => (
        <p key={side} class="warn">
          {t("compare.missing_side", { side: kLetters[side] })}
        </p>
      ))}
    </>
  );
}

/** The parts of a step of both sides: mean over the chosen steps. */
function Headline({ reply }: { reply: MetricReply }) {
  const rows = rowsOf(reply, "parts");
  const parts = partTimes(rows);
  const write = oneUnit(parts.flatMap((part) => [part.a, part.b]).map((us) => (us ?? 0) * 1000));
  // One step a side says nothing about noise: once below the table, not in every row.
  const knowsNoise = rows.some((row) => asText(row["verdict"]) !== "few_steps");
  return (
    <Card title={t("compare.headline")} definition="overview.step_parts">
      <table class="plain wide step-parts">
        <thead>
          <tr>
            <th>{t("overview.category")}</th>
            <th class="num"><b class="area-badge area-A">A</b></th>
            <th class="num"><b class="area-badge area-B">B</b></th>
            <th class="num">B − A</th>
            <th class="num">%</th>
            {knowsNoise && <th>{t("compare.steps")}</th>}
          </tr>
        </thead>
        <tbody>
          {parts.map((part, at) => (
            <tr key={part.part}>
              <td>{partTitle(part.part)}</td>
              {[part.a, part.b].map((us, side) => (
                <td key={side} class="num">
                  {us === null ? <span class="muted">{t("compare.missing")}</span> : write(us * 1000)}
                </td>
              ))}
              <td class="num">{part.a === null || part.b === null ? "–" : signedDuration((part.b - part.a) * 1000, write)}</td>
              <td class="num">{part.a !== null && part.b !== null && part.a > 0 ? formatPercent((part.b - part.a) / part.a) : "–"}</td>
              {knowsNoise && <td class="muted">{part.a === null || part.b === null ? "" : t(`compare.${asText(rows[at]?.["verdict"] ?? null)}`)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <MissingSides parts={parts} />
      {!knowsNoise && <p class="muted">{t("compare.no_noise")}</p>}
    </Card>
  );
}

/** The name of a bar: computing by kind of work, exposed communication by group, free time by cause. */
function barTitle(kind: string, name: string): string {
  const key = kind === "free" ? `compare.cause.${name.replace(/^gap\./, "")}` : `compare.class.${name}`;
  return t(`compare.account.${kind}`, { what: hasMessage(key) ? t(key) : name });
}

/** What the difference is made of, as the report of `steplens compare` has it: the bars add up to B − A. */
function Waterfall({ reply }: { reply: MetricReply }) {
  const isMissing = useMemo(() => missingSides(partTimes(rowsOf(reply, "parts"))).length > 0, [reply]);
  const items = useMemo(
    () =>
      rowsOf(reply, "waterfall")
        .filter((row) => asText(row["kind"]) !== "step")
        .map((row) => ({ name: barTitle(asText(row["kind"]), asText(row["name"])), value: asNumber(row["delta_us"]) }))
        .filter((item) => item.value !== 0),
    [reply, locale.value],
  );
  return (
    <Card title={t("compare.changed")} definition={reply.definition}>
      {isMissing ? <p class="muted">{t("compare.one_side")}</p> : items.length > 0 ? <DeltaBars title={t("compare.changed")} items={items} /> : <p class="muted">{t("compare.nothing")}</p>}
    </Card>
  );
}

/** B under A, from the first kernel of each. */
function Timelines({ reply, sides }: { reply: MetricReply; sides: Sides }) {
  const matched = useMemo(() => matchedBlocks(rowsOf(reply, "matched")), [reply]);
  const hasComm = matched.blocks.some((block) => block.row > 1);
  const begins = rowsOf(reply, "sides").map((row) => asNumber(row["begin_ns"]));
  const pick = (at: number) => {
    const [block, side] = [matched.blocks[at], matched.sides[at]];
    if (!block || side === undefined) return;
    const [from, to] = [block.begin, block.end].map((ns) => ns + (begins[side] ?? 0)) as [number, number];
    const room = (to - from) * 2;
    navigate("timeline", {
      ds: sides[side].ds,
      ranks: String(sides[side].rank),
      t: `${Math.round(from - room)},${Math.round(to + room)}`,
      sel: null,
      v: null,
      filter: "",
    });
  };
  return (
    <Card title={t("compare.timelines")} extra={<span class="muted">{t("compare.timelines_text")}</span>}>
      <Warnings reply={reply} />
      {matched.blocks.length === 0 ? (
        <EmptyState title={t("compare.no_kernels")} />
      ) : (
        <BlockLanes
          title={t("compare.timelines")}
          rows={["A", "B", ...(hasComm ? [`A ${t("compare.comm")}`, `B ${t("compare.comm")}`] : [])]}
          blocks={matched.blocks}
          arrows={matched.arrows}
          table={tableOf(reply, "matched")}
          onPick={(block) => pick(matched.blocks.indexOf(block))}
        />
      )}
    </Card>
  );
}

/** The memory of both sides over each other. */
function Memory({ sides }: { sides: Sides }) {
  const load = (side: Side, signal: AbortSignal) =>
    new Dataset(side.ds).metric("memory_curve", { rank: side.rank, group_by: "Overall", width: 800 }, signal);
  const loaded = useLoad(
    (signal) => Promise.all([load(sides[0], signal), load(sides[1], signal)]),
    sides.map((side) => `${side.ds},${side.rank}`),
  );
  const curves = useMemo(() => named(curvesOf(loaded.data ?? [], ["A ", "B "])), [loaded.data, locale.value]);
  if (curves.x.length === 0) return null;
  return (
    <Card title={t("compare.memory")} definition="insight.memory_curve">
      <LineChart title={t("compare.memory")} x={curves.x} xUnit="ms" unit="MB" series={curves.series.map((series) => ({ ...series, color: sideColors[series.name.startsWith("B") ? 1 : 0] }))} height={260} />
    </Card>
  );
}

/** How long the calls of the chosen operator take on both sides. */
function Durations({ reply, name }: { reply: MetricReply; name: string }) {
  const rows = rowsOf(reply, "histogram");
  const x = rows.map((row) => asNumber(row["from_us"]));
  const series = ["count_a", "count_b"].map((column, side) => ({
    name: kLetters[side]!,
    color: sideColors[side]!,
    values: rows.map((row) => asNumber(row[column])),
    stepped: true,
  }));
  if (rows.length === 0) return null;
  return (
    <Card title={t("compare.durations", { name })}>
      <LineChart title={t("compare.durations", { name })} x={x} xUnit="us" unit="" series={series} height={220} />
    </Card>
  );
}

interface Chosen {
  name: string;
  core: string;
}

function Operators(props: {
  reply: MetricReply;
  grouping: string;
  onGrouping(name: string): void;
  onChoose(chosen: Chosen): void;
}) {
  const { reply, grouping } = props;
  const rows = rowsOf(reply, "operators");
  const source = useMemo(() => {
    const table = tableOf(reply, "operators");
    const change = table.columns.findIndex((column) => column.name === "Change");
    const translated = table.rows.map((row) => row.map((cell, at) => (at === change ? t(`compare.${String(cell)}`) : cell)));
    return localSource(`compare/${JSON.stringify(table.rows[0] ?? "")}/${t("compare.added")}`, table.columns, translated);
  }, [reply, t("compare.added")]);
  const top = useMemo(
    () =>
      rowsOf(reply, "operators")
        .filter((row) => asText(row["Change"]) !== "same")
        .slice(0, 12)
        .map((row) => ({ name: asText(row["Name"]), value: asNumber(row["B - A(us)"]) })),
    [reply],
  );
  const choose = (name: string, core: string) => props.onChoose({ name, core });
  return (
    <Card
      title={t("compare.operators")}
      definition="insight.operator_groups"
      extra={
        <Pick
          label={t("operators.group_by")}
          value={grouping}
          options={kGroupings.map((name) => ({ value: name, text: t(`operators.${name}`) }))}
          onPick={props.onGrouping}
        />
      }
    >
      {top.length > 0 && (
        <DeltaBars
          title={t("compare.operators")}
          items={top}
          onPick={(at) => choose(top[at]?.name ?? "", asText(rows.find((row) => row["Name"] === top[at]?.name)?.["Accelerator Core"]))}
        />
      )}
      <DataTable
        name="compare_operators"
        source={source}
        height={380}
        columns={{ Change: { title: t("compare.change") } }}
        onSelect={(row) => choose(asText(row.get("Name")), asText(row.get("Accelerator Core")))}
        onJump={(row) => openSearch(asText(row.get("Name")))}
      />
    </Card>
  );
}

/** What the server says of two sides; with `chosen`, also how its durations compare. */
function useCompare(sides: Sides, grouping: string, chosen: Chosen | null): Loaded<MetricReply> {
  const side = ({ ds, rank, step }: Side) => ({ ds, rank, ...(step === null ? {} : { step }) });
  const key = chosen ? { key: chosen.name.split(" ")[0]!, core: chosen.core } : {};
  return useLoad(
    (signal) =>
      new Dataset(sides[0].ds).compare({ a: side(sides[0]), b: side(sides[1]), group_by: grouping, ...key }, signal),
    [...sides.map(formatSide), grouping, chosen?.name, chosen?.core],
  );
}

function firstChoice(meta: DatasetMeta): Sides {
  const { baseline } = scope.value;
  // Of the scope bar: the baseline, and what is in scope beside it.
  const first = baseline ? [baseline, scopeSide.value] : (runsAsSides(info.value?.datasets ?? [], scopeRank.value) ?? firstSides(meta.ds, meta.ranks));
  const { params } = route.value;
  return [parseSide(params.get("a")) ?? first[0]!, parseSide(params.get("b")) ?? first[1]!];
}

export default function ComparePage({ meta }: PageProps) {
  const sides = firstChoice(meta);
  const [grouping, setGrouping] = useState(kGroupings[0]!);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const set = (at: 0 | 1) => (side: Side) => noteState({ [at === 0 ? "a" : "b"]: formatSide(side) });
  const swap = () => noteState({ a: formatSide(sides[1]), b: formatSide(sides[0]) });
  const loaded = useCompare(sides, grouping, chosen);
  const reply = loaded.data;
  return (
    <div class="page-body">
      <div class="controls">
        {kLetters.map((letter, at) => (
          <SidePick key={letter} letter={letter} side={sides[at]!} onPick={set(at as 0 | 1)} />
        ))}
        <button onClick={swap}>{t("tl.diff.swap")}</button>
      </div>
      <p class="muted">{t("compare.text")}</p>
      {loaded.error ? (
        <ErrorState error={loaded.error} onRetry={loaded.reload} />
      ) : !reply ? (
        <Loading />
      ) : (
        <>
          <div class="grid-2">
            <Headline reply={reply} />
            <Waterfall reply={reply} />
          </div>
          <Timelines reply={reply} sides={sides} />
          <Operators reply={reply} grouping={grouping} onGrouping={setGrouping} onChoose={setChosen} />
          {chosen && <Durations reply={reply} name={chosen.name} />}
        </>
      )}
      <Memory sides={sides} />
    </div>
  );
}
