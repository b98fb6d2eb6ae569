// Two sides next to each other: what differs in a step, and by which operators and collectives.
import { useMemo, useState } from "preact/hooks";
import { Dataset } from "../../api";
import type { DatasetMeta, MetricReply, TableReply } from "../../api_types";
import { DeltaBars } from "../../charts/delta_bars";
import { formatDuration, formatPercent } from "../../format";
import { t } from "../../i18n";
import { openSearch } from "../../state/jump";
import { noteState, route } from "../../state/router";
import { info } from "../../state/session";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { useLoad } from "../../widgets/async";
import { ErrorState, Loading } from "../../widgets/states";
import { asText, Card, Pick, rowsOf } from "../parts";
import type { PageProps } from "../registry";
import { diffOperators, isClear, kParts, partMean } from "./diff";
import { firstSides, formatSide, parseSide, type Side } from "./sides";

const kGroupings = [
  "Computing Operator Type",
  "Computing Operator Name and Input Shape",
  "Communication Operator Type",
  "Communication Operator",
];
const kLetters = ["A", "B"] as const;

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

const signed = (us: number) => `${us > 0 ? "+" : us < 0 ? "−" : ""}${formatDuration(Math.abs(us) * 1000)}`;

function verdict(clear: boolean | null): string {
  return clear === null ? t("compare.few_steps") : clear ? t("compare.clear") : t("compare.noise");
}

/** The parts of a step of both sides: mean over the chosen steps. */
function Headline({ sides, replies }: { sides: [Side, Side]; replies: [TableReply, TableReply] }) {
  const rows = kParts.map(([column, key]) => {
    const [a, b] = sides.map((side, at) => partMean(replies[at]!, column, side.rank, side.step)) as [
      ReturnType<typeof partMean>,
      ReturnType<typeof partMean>,
    ];
    return { name: t(key), a, b };
  });
  const deltas = useMemo(
    () => rows.map(({ name, a, b }) => ({ name, value: b.mean - a.mean })),
    [replies, sides.map(formatSide).join(), t("part.free")],
  );
  return (
    <div class="grid-2">
      <Card title={t("compare.headline")} definition="overview.step_parts">
        <table class="plain wide">
          <thead>
            <tr>
              <th>{t("overview.category")}</th>
              <th class="num">A</th>
              <th class="num">B</th>
              <th class="num">B − A</th>
              <th class="num">%</th>
              <th>{t("compare.steps")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, a, b }) => (
              <tr key={name}>
                <td>{name}</td>
                <td class="num">{formatDuration(a.mean * 1000)}</td>
                <td class="num">{formatDuration(b.mean * 1000)}</td>
                <td class="num">{signed(b.mean - a.mean)}</td>
                <td class="num">{a.mean > 0 ? formatPercent((b.mean - a.mean) / a.mean) : "–"}</td>
                <td class="muted">{verdict(isClear(a, b))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
      <Card title={t("compare.changed")}>
        <DeltaBars title={t("compare.changed")} items={deltas} />
      </Card>
    </div>
  );
}

/** The operators of a side. Where kernels do not say which step they belong to, those in the step's time. */
async function groupsOf({ ds, rank, step }: Side, grouping: string, signal: AbortSignal): Promise<MetricReply> {
  const run = new Dataset(ds);
  const args = { rank, group_by: grouping, top: -1 };
  if (step === null) return run.metric("operator_groups", args, signal);
  const reply = await run.metric("operator_groups", { ...args, step }, signal);
  if (rowsOf(reply, "groups").length > 0) return reply;
  const span = (await run.meta()).ranks.find((each) => each.rank === rank)?.steps.find((each) => each.step === step);
  return span ? run.metric("operator_groups", { ...args, t0: span.begin, t1: span.end }, signal) : reply;
}

function Operators({ sides }: { sides: [Side, Side] }) {
  const [grouping, setGrouping] = useState(kGroupings[0]!);
  const load = (side: Side) => (signal: AbortSignal) => groupsOf(side, grouping, signal);
  const a = useLoad(load(sides[0]), [formatSide(sides[0]), grouping]);
  const b = useLoad(load(sides[1]), [formatSide(sides[1]), grouping]);
  const diffs = useMemo(() => {
    const key = (row: Record<string, unknown>) =>
      grouping.endsWith("Type")
        ? String(row["Type"] ?? "")
        : [row["Name"], row["Input Shape"]]
            .map((part) => String(part ?? ""))
            .filter(Boolean)
            .join(" ");
    return a.data && b.data ? diffOperators(rowsOf(a.data, "groups"), rowsOf(b.data, "groups"), key) : null;
  }, [a.data, b.data]);
  const source = useMemo(() => {
    if (!diffs) return null;
    const time = (name: string) => ({ name, type: "double" as const, decimals: 2 });
    const int = (name: string) => ({ name, type: "int" as const });
    const text = (name: string) => ({ name, type: "text" as const });
    const columns = [
      text(t("tl.area.name")),
      text("Accelerator Core"),
      text(t("compare.change")),
      time("Total A(us)"),
      time("Total B(us)"),
      time("B − A(us)"),
      { name: "B / A", type: "double" as const, decimals: 3 },
      int("Count A"),
      int("Count B"),
      time("Avg A(us)"),
      time("Avg B(us)"),
    ];
    const average = (total: number, count: number) => (count > 0 ? total / count : null);
    const rows = diffs.map(({ name, core, change, total: [x, y], count: [m, n] }) => [
      name,
      core,
      t(`compare.${change}`),
      x,
      y,
      y - x,
      x > 0 ? y / x : null,
      m,
      n,
      average(x, m),
      average(y, n),
    ]);
    return localSource(`compare/${grouping}/${sides.map(formatSide).join("/")}`, columns, rows);
  }, [diffs, t("compare.added")]);
  const top = useMemo(
    () =>
      (diffs ?? [])
        .filter((each) => each.change !== "same")
        .slice(0, 12)
        .map((each) => ({ name: each.name, value: each.total[1] - each.total[0] })),
    [diffs],
  );
  const error = a.error ?? b.error;
  return (
    <Card
      title={t("compare.operators")}
      definition="insight.operator_groups"
      extra={
        <Pick
          label={t("operators.group_by")}
          value={grouping}
          options={kGroupings.map((name) => ({ value: name, text: t(`operators.${name}`) }))}
          onPick={(name) => setGrouping(name)}
        />
      }
    >
      {error ? (
        <ErrorState error={error} />
      ) : !source ? (
        <Loading />
      ) : (
        <>
          {top.length > 0 && (
            <DeltaBars title={t("compare.operators")} items={top} onPick={(at) => openSearch(top[at]?.name ?? "")} />
          )}
          <DataTable
            name="compare_operators"
            source={source}
            height={380}
            onJump={(row) => openSearch(asText(row.cells[0] ?? null))}
          />
        </>
      )}
    </Card>
  );
}

/** The rows of `breakdown` of a dataset. */
function steps(ds: string, signal: AbortSignal): Promise<TableReply> {
  return new Dataset(ds).table({ source: "breakdown", args: {}, filter: [], sort: [], offset: 0, limit: 1000 }, signal);
}

function chosen(meta: DatasetMeta): [Side, Side] {
  const first = firstSides(meta.ds, meta.ranks);
  const { params } = route.value;
  return [parseSide(params.get("a")) ?? first[0], parseSide(params.get("b")) ?? first[1]];
}

export default function ComparePage({ meta }: PageProps) {
  const sides = chosen(meta);
  const set = (at: 0 | 1) => (side: Side) => noteState({ [at === 0 ? "a" : "b"]: formatSide(side) });
  const swap = () => noteState({ a: formatSide(sides[1]), b: formatSide(sides[0]) });
  const loaded = useLoad(
    (signal) => Promise.all([steps(sides[0].ds, signal), steps(sides[1].ds, signal)]),
    [sides[0].ds, sides[1].ds],
  );
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
      ) : !loaded.data ? (
        <Loading />
      ) : (
        <Headline sides={sides} replies={loaded.data} />
      )}
      <Operators sides={sides} />
    </div>
  );
}
