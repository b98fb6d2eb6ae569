// What the pages work out themselves: the place of a mistake in SQL, the sides of a comparison and their differences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchedBlocks, ratioColor } from "../../src/pages/compare/matched";
import { firstSides, formatSide, parseSide } from "../../src/state/sides";
import { axisOf } from "../../src/charts/scatter";
import { bandwidthSeries } from "../../src/pages/communication/bandwidth";
import { linkCells } from "../../src/pages/communication/matrix";
import { SvgContext } from "../../src/charts/svg_context";
import { drawLines } from "../../src/charts/line_chart";
import { locale } from "../../src/i18n";
import { kernelWork, matmulFlops, tensorBytes } from "../../src/kernel_sizes";
import { curvesOf, seriesText, unusedReserve, valuesAt } from "../../src/pages/curves";
import { hasUnknownDevice, overallRows, stepRows, stepTimes, withStepTimes } from "../../src/pages/overview";
import { speedOf } from "../../src/pages/speed";
import { axisShift } from "../../src/pages/memory/index";
import { groupFilter, kernelSource, scopeFilter } from "../../src/pages/operators/kernels";
import { moved } from "../../src/pages/operators/own_grouping";
import { parseQueries, queriesText, withoutQuery, withQuery } from "../../src/state/query_lanes";
import { findingKey, gainText, words } from "../../src/pages/findings";
import { barsOf } from "../../src/pages/sql/chart";
import { readQueries } from "../../src/state/saved_queries";
import { coveredShare } from "../../src/timeline/panels/area";
import { choiceTitle } from "../../src/timeline/panels/stats";
import { sourcePlace } from "../../src/timeline/panels/selection";
import { errorPlace } from "../../src/pages/sql/error_place";

test("a mistake in SQL is found by its byte or its name", () => {
  const place = (message: string, query: string) => {
    const found = errorPlace(message, query);
    return found && query.slice(found.from, found.to);
  };
  const syntax = 'near "kernels": syntax error (at byte 18 of the query)';
  assert.equal(place(syntax, "SELECT name FORM  kernels"), "kernels");
  const letters = 'near "x": syntax error (at byte 12 of the query)';
  assert.equal(place(letters, "SELECT 'é' x y"), "x", "bytes, not letters");
  assert.equal(place("no such column: k.nme\ncolumns of k: name", "SELECT name, k.nme FROM kernels k"), "nme");
  assert.equal(place("no such column: nme; did you mean 'name'?\ncolumns: name", "SELECT name, nme FROM kernels"), "nme");
  assert.equal(place("no such table: t", "SELECT tt, t FROM t"), "t");
  assert.equal(errorPlace("no such table: t", "SELECT tt, t FROM t")?.from, 11);
  assert.equal(errorPlace("the query took too long", "SELECT 1"), null);
  assert.deepEqual(errorPlace("incomplete input (at byte 99 of the query)", "SELECT"), { from: 6, to: 6 });
});

test("a chart is drawn as SVG, and names in it stay text", () => {
  const g = new SvgContext(100, 50);
  g.fillStyle = "#123456";
  g.globalAlpha = 0.5;
  g.fillRect(10, 10, -5, 20);
  g.globalAlpha = 1;
  g.textAlign = "right";
  g.fillText('<script>alert("x")</script>\u0001', 5, 6);
  g.save();
  g.beginPath();
  g.rect(0, 0, 10, 10);
  g.clip();
  g.beginPath();
  g.arc(5, 5, 2, 0, 7);
  g.fill();
  g.restore();
  g.strokeRect(1, 2, 3, 4);
  const text = g.text();
  assert.match(text, /<rect x="5" y="10" width="5" height="20" fill="#123456" opacity="0.5"\/>/);
  assert.match(text, /text-anchor="end"[^>]*>&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt;<\/text>/);
  assert.match(text, /<g clip-path="url\(#clip1\)"><path d="M7 5A2 2 0 0 1 3 5A2 2 0 0 1 7 -?[45][^"]*" fill="#123456"\/><\/g>/, "a whole circle");
  assert.match(text, /<rect x="1" y="2" width="3" height="4" fill="none" stroke="#000000" stroke-width="1"\/>/, "what is restored is not clipped");
});

test("a drawing in device pixels has its place in a larger SVG", () => {
  const g = new SvgContext(100, 50);
  g.place(20, 10, 0.5);
  g.save();
  g.beginPath();
  g.rect(0, 0, 10, 10);
  g.clip();
  g.setTransform(2, 0, 0, 2, 0, 0);
  g.fillRect(1, 2, 3, 4);
  g.restore();
  g.fillRect(5, 6, 7, 8);
  const text = g.text();
  assert.match(text, /<clipPath id="clip1"><path d="M0 0h10v10h-10Z" transform="translate\(20 10\) scale\(0.5\)"\/>/, "the clip lies where it was made");
  assert.match(text, /<g clip-path="url\(#clip1\)"><rect x="1"[^>]* transform="translate\(20 10\) scale\(0.5\) matrix\(2 0 0 2 0 0\)"\/><\/g>/);
  assert.match(text, /\n<rect x="5"[^>]* transform="translate\(20 10\) scale\(0.5\)"\/>/, "what was set before comes back");
});

test("links between hosts are the mean of those between their ranks", () => {
  const links = [
    { src: "a", dst: "b", value: 2 },
    { src: "a", dst: "b", value: 4 },
    { src: "b", dst: "b", value: 7 },
  ];
  assert.deepEqual([...linkCells(links, ["a", "b"], "mean")], [NaN, NaN, 3, 7], "rows receive");
  assert.deepEqual([...linkCells(links, ["a", "b"], "max")], [NaN, NaN, 4, 7]);
});

test("values of curves hold until the next point", () => {
  const curves = { x: [0, 1, 2], series: [{ name: "a", values: [5, null, 7], stepped: true }, { name: "b", values: [null, null, 1], stepped: true }] };
  assert.deepEqual(valuesAt(curves, 1.5), [{ name: "a", value: 5 }]);
  assert.deepEqual(valuesAt(curves, 2).map(({ value }) => value), [7, 1]);
});

test("a matrix product says what it computes, transposed or in batches; padded layouts do not", () => {
  const nd = "FORMAT_ND;FORMAT_ND";
  assert.equal(matmulFlops("MatMulV2", "32,9216;4096,9216;4096", nd, "32,4096"), 2 * 32 * 4096 * 9216);
  assert.equal(matmulFlops("MatMulV2", "32,1000;32,4096", nd, "1000,4096"), 2 * 1000 * 4096 * 32);
  assert.equal(matmulFlops("BatchMatMul", "8,16,64;8,64,32", nd, "8,16,32"), 2 * 8 * 16 * 32 * 64);
  assert.equal(matmulFlops("MatMul", "8,16,64;64,32", nd, "8,16,32"), 2 * 8 * 16 * 32 * 64, "one right side for all");
  assert.ok(Number.isNaN(matmulFlops("MatMulV2", "32,16;16,8", "FRACTAL_NZ;ND", "32,8")));
  assert.ok(Number.isNaN(matmulFlops("Add", "32,16;16,8", nd, "32,8")));
  assert.ok(Number.isNaN(matmulFlops("MatMulV2", "", "", "")));
  const kernel = { type: "Add", input_shapes: "4,4;4,4", input_types: "FLOAT;FLOAT", output_shapes: "4,4", output_types: "FLOAT16" };
  assert.deepEqual(kernelWork(kernel), { bytes: 128 + 32, flops: NaN });
});

test("a frame of a stack says where it is as editors take it", () => {
  assert.equal(sourcePlace("/home/me/train.py(45): step"), "/home/me/train.py:45");
  assert.equal(sourcePlace("<built-in method run>(1): x"), null);
  assert.equal(sourcePlace("libtorch.so"), null);
});

test("curves are drawn as SVG in steps, with gaps left out", () => {
  const g = new SvgContext(400, 200);
  const surface = { g: g as unknown as CanvasRenderingContext2D, width: 400, height: 200, ink: "#111111", muted: "#222222", line: "#333333", ground: "#444444" };
  drawLines({ title: "t", x: [0, 1, 2], xUnit: "ms", unit: "MB", series: [{ name: "a", values: [0, null, 10], stepped: true, color: "#ff0000" }] }, surface);
  const path = /<path d="([^"]+)" fill="none" stroke="#ff0000"/.exec(g.text())?.[1] ?? "";
  assert.deepEqual(path.match(/[ML]/g), ["M", "L", "L"], path);
  const [first, second] = [...path.matchAll(/[ML](\S+) (\S+?)(?=[ML]|$)/g)].map((each) => Number(each[2]));
  assert.equal(first, second, "a value holds until the next");
});

test("series of the memory page have names in both languages", () => {
  assert.equal(seriesText("PTA Reserved"), "PTA Reserved");
  assert.equal(seriesText("Allocated of 897357296"), "Allocated of 897357296");
  locale.value = "zh";
  assert.equal(seriesText("Operators Allocated"), "算子已分配");
  assert.equal(seriesText("B App Reserved"), "B 进程已预留");
  assert.equal(seriesText("Activated of 12"), "流 12 已激活");
  assert.equal(seriesText("something else"), "something else");
  locale.value = "en";
});

test("tokens a second and MFU follow from what the user says", () => {
  const { tokens_s, mfu } = speedOf({ tokens: 4096, params_b: 7, peak_tflops: 100 }, 2_000_000, 2);
  assert.equal(tokens_s, 2048);
  assert.ok(Math.abs(mfu - (6 * 7e9 * 2048) / 2e14) < 1e-12);
  assert.deepEqual(speedOf({ tokens: 1, params_b: 0, peak_tflops: 0 }, 0, 1), { tokens_s: 0, mfu: 0 });
});

test("the last of several marked steps has no period", () => {
  const row = (rank: number, step: number | null, us: number, host = us) => ({ rank, step, us, host, device: us });
  const rows = [row(0, 1, 9), row(0, 2, 11), row(0, 3, 4), row(0, null, 10), row(1, 1, 7), row(1, null, 7)];
  assert.deepEqual(stepTimes(rows, 0), { mean: rows[3], periods: [9, 11] });
  assert.deepEqual(stepTimes(rows, 1), { mean: rows[5], periods: [7] });
  // Rows of a step table are whole steps.
  assert.deepEqual(stepTimes([row(2, 1, 9, 0), row(2, 2, 8, 0)], 2), { mean: null, periods: [9, 8] });
});

test("a device that nobody knows is told from a run without one", () => {
  const rank = (...names: string[]) => ({ issues: names.map((name) => ({ name })) });
  const meta = (...ranks: object[]) => ({ ranks }) as unknown as Parameters<typeof hasUnknownDevice>[0];
  assert.equal(hasUnknownDevice(meta(rank(), rank("TraceTruncated"))), false);
  assert.equal(hasUnknownDevice(meta(rank(), rank("DeviceUnknown"))), true);
});

test("the total of a step is its step time where that is known", () => {
  const row = { rank: 0, step: 5, computing: 1, not_overlapped: 2, overlapped: 0, memory: 0, free: 3, bubble: 0, preparing: 0, total: 6 };
  assert.equal(withStepTimes([row], [{ rank: 0, step: 5, us: 8, host: 8, device: 7 }])[0]!.total, 8);
  assert.equal(withStepTimes([row], [{ rank: 1, step: 5, us: 8, host: 8, device: 7 }])[0]!.total, 6);
});

test("without marks a run is as long as its time on the device: copies count, Preparing comes before", () => {
  const names = ["Rank", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Free", "Preparing", "Memory"];
  const reply = { columns: names.map((name) => ({ name })), rows: [[0, null, 10, 2, 1, 80, 900, 8]] } as unknown as Parameters<typeof stepRows>[0];
  assert.equal(stepRows(reply)[0]!.total, 100);
});

test("a communication group shows the parts of the model, not the reference's", () => {
  const own = { count: null, avg_us: null, min_us: null, max_us: null };
  const group = { ...own, path: "C > G", level: 2, total_us: 100, ratio: 50, wait_us: 6, transit_us: 4, idle_us: 90, source: "results", captured: 2, members: 8 };
  const other = { ...own, path: "C > H", level: 2, total_us: 20, ratio: 10, wait_us: null, transit_us: null, idle_us: null, source: "unknown", captured: 1, members: 2 };
  const plain = (path: string) => ({ ...own, path, level: 3, total_us: 100, ratio: 50, wait_us: null, transit_us: null, idle_us: null, source: "", captured: null, members: null });
  const rows = overallRows([{ ...plain("C"), level: 1 }, group, plain("C > G > Wait Time"), plain("C > G > Transmit Time"), other, plain("C > H > Transmit Time"), plain("Free Time")]);
  assert.deepEqual(rows.map((row) => [row["path"], row["total_us"], row["ratio"]]), [
    ["C", 100, 50], ["C > G", 100, 50], ["C > G > Transmit Time", 4, 2], ["C > G > Wait Time", 6, 3], ["C > G > Idle Time", 90, 45], ["C > H", 20, 10], ["Free Time", 100, 50],
  ]);
});

test("modules and lines come from the table that has them", () => {
  assert.equal(kernelSource(["type", "rank"]), "kernels");
  assert.equal(kernelSource(["type", "module"]), "metric:kernel_places");
});

test("the sides of a comparison are in the address", () => {
  const side = { ds: "00c0ffee", rank: 3, step: null };
  assert.deepEqual(parseSide(formatSide(side)), side);
  assert.deepEqual(parseSide("00c0ffee,3,12"), { ...side, step: 12 });
  for (const wrong of [undefined, "", "x,1,2", "00,1", "00,-1,"]) assert.equal(parseSide(wrong), null);
});

test("two ranks are compared first, else two steps", () => {
  const steps = [{ step: 5 }, { step: 6 }];
  assert.deepEqual(
    firstSides("aa", [
      { rank: 0, steps },
      { rank: 4, steps },
    ]).map(formatSide),
    ["aa,0,", "aa,4,"],
  );
  assert.deepEqual(firstSides("aa", [{ rank: 2, steps }]).map(formatSide), ["aa,2,5", "aa,2,6"]);
  assert.deepEqual(firstSides("aa", [{ rank: 2, steps: [{ step: 5 }] }]).map(formatSide), ["aa,2,", "aa,2,"]);
});

test("kernels of both sides are blocks, B under A, joined where they differ", () => {
  const row = (name: string, core: string, a: [number, number] | null, b: [number, number] | null) => ({
    name,
    core,
    a_start_ns: a?.[0] ?? null,
    a_dur_ns: a?.[1] ?? null,
    b_start_ns: b?.[0] ?? null,
    b_dur_ns: b?.[1] ?? null,
    ratio: a && b ? b[1] / a[1] : null,
  });
  const { blocks, sides, arrows } = matchedBlocks([
    row("MatMul", "AI_CORE", [0, 100], [0, 200]),
    row("hcom_allReduce", "HCCL", [100, 50], [200, 50]),
    row("Cast", "AIV", null, [300, 10]),
  ]);
  assert.deepEqual(
    blocks.map((block, at) => [block.row, block.begin, block.end, sides[at]]),
    [
      [0, 0, 100, 0],
      [1, 0, 200, 1],
      [2, 100, 150, 0],
      [3, 200, 250, 1],
      [1, 300, 310, 1],
    ],
  );
  assert.deepEqual(arrows, [{ fromRow: 0, from: 50, toRow: 1, to: 100 }]);
  assert.notEqual(ratioColor(2), ratioColor(0.5));
  assert.equal(ratioColor(1.001), ratioColor(0.999), "as good as equal");
});

test("curves of two sides begin together", () => {
  const reply = (begin: number) => ({
    tables: {
      points: {
        columns: ["series", "time_ms", "value_mb"].map((name) => ({ name, type: "text" as const })),
        rows: [
          ["Allocated", begin, 1],
          ["Allocated", begin + 5, 2],
        ],
      },
    },
    definition: "",
    query: "",
    warnings: [],
  });
  const { x, series } = curvesOf([reply(10), reply(70)], ["A ", "B "]);
  assert.deepEqual(x, [0, 5]);
  assert.deepEqual(
    series.map(({ name, values }) => [name, values]),
    [
      ["A Allocated", [1, 2]],
      ["B Allocated", [1, 2]],
    ],
  );
  assert.deepEqual(curvesOf([reply(10)]).x, [10, 15], "one side keeps its times");
});

test("a finding says what it would bring, in the user's language", () => {
  const row = { kind: "aicpu", subject: "32 operators", subjectZh: "32 个算子", rank: 0, gain_us: 1500, share: 12.34 };
  assert.equal(gainText(row), "−1.500 ms per step (12.3 %)");
  assert.equal(gainText({ ...row, gain_us: null }), "");
  assert.equal(gainText({ ...row, is_bound: 1 }), "at most −1.500 ms per step (12.3 %)");
  assert.equal(words(row, "subject"), "32 operators");
  assert.notEqual(findingKey("/a", row), findingKey("/b", row));
});

test("a result of SQL with names and numbers can be bars", () => {
  const columns = [
    { name: "rank", type: "int" as const },
    { name: "name", type: "text" as const },
    { name: "total_us", type: "double" as const },
  ];
  const reply = { columns, rows: [[0, "MatMul", 12.5]], truncated: false, elapsed_us: 1 };
  assert.deepEqual(barsOf(reply), { items: [{ name: "0 MatMul", value: 12.5 }], unit: "total_us" });
  assert.equal(barsOf({ ...reply, columns: columns.slice(0, 2), rows: [[0, "MatMul"]] }), null);
  assert.equal(barsOf({ ...reply, rows: [] }), null);
});

test("queries that were kept are read, whatever else is stored", () => {
  assert.deepEqual(readQueries('[{"name":"a","query":"SELECT 1"},{"name":2},null]'), [{ name: "a", query: "SELECT 1" }]);
  assert.deepEqual(readQueries("no json"), []);
});

test("the size of a kernel's inputs follows from shapes and types", () => {
  assert.equal(tensorBytes("32,3,224,224", "FLOAT"), 32 * 3 * 224 * 224 * 4);
  assert.equal(tensorBytes("8,16;16", "DT_BF16;INT64"), 8 * 16 * 2 + 16 * 8);
  assert.equal(tensorBytes("4;4", "INT8"), 8, "the first type holds for those that have none");
  assert.equal(tensorBytes("4;", "FLOAT;FLOAT"), 16, "a scalar that is not there has no size");
  assert.ok(Number.isNaN(tensorBytes("", "FLOAT")), "no shapes, no size");
});

test("kernels of a scope and of a group are chosen by filters", () => {
  assert.deepEqual(scopeFilter({ ranks: null, step: null }), []);
  assert.deepEqual(scopeFilter({ ranks: [0, 3], step: 7 }), [
    { col: "rank", op: "in", value: ["0", "3"] },
    { col: "step", op: "=", value: 7 },
  ]);
  assert.deepEqual(groupFilter(["type", "step"], { type: "MatMul", step: null }), [
    { col: "type", op: "in", value: ["MatMul"] },
    { col: "step", op: "in", value: [""] },
  ]);
});

test("a key is moved to the place of another", () => {
  assert.deepEqual(moved(["a", "b", "c"], "c", "a"), ["c", "a", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", "c"), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b"], "a", "a"), ["a", "b"]);
});

test("an axis holds its values, with powers of ten where they span many", () => {
  const plain = axisOf([3, 10], 5);
  assert.equal(plain.log, false);
  assert.ok(plain.at(0) === 0 && plain.at(10) > 0.9 && plain.at(10) < 1);
  const close = axisOf([100, 101], 5);
  assert.ok(close.at(100) > 0 && close.at(101) < 1, "no point lies on the frame");
  const wide = axisOf([0.5, 2000], 6);
  assert.equal(wide.log, true);
  assert.deepEqual(wide.ticks, [0.1, 1, 10, 100, 1000, 10000]);
  assert.equal(axisOf([], 4).at(5), 0);
});

test("reserved memory that nobody uses is the difference of two curves", () => {
  const series = [
    { name: "Operators Allocated", values: [1, null, 3], stepped: true },
    { name: "Operators Reserved", values: [null, 4, 4], stepped: true },
    { name: "App Reserved", values: [9, 9, 9], stepped: true },
  ];
  assert.deepEqual(unusedReserve({ x: [0, 1, 2], series }, "unused"), [{ name: "Operators unused", values: [null, 3, 1], stepped: true }]);
});

test("times of the memory axis and of the timeline differ by the same everywhere", () => {
  const columns = ["series", "time_ms", "value_mb", "t_ns"].map((name) => ({ name, type: "double" as const }));
  const reply = { tables: { points: { columns, rows: [["a", 12.5, 1, 2_500_000]] } }, definition: "", query: "", warnings: [] };
  assert.equal(axisShift(reply), 10);
  assert.equal(axisShift(null), 0);
});

test("transfers are drawn by transport, each beside what it should do", () => {
  const one = { operator: "allReduce", rank: 0, size_mb: 4, bandwidth: 15 };
  const series = bandwidthSeries([{ ...one, transport: "HCCS" }, { ...one, transport: "SIO", size_mb: 8 }], (name) => `${name}!`);
  assert.deepEqual(
    series.map(({ name, line, points }) => [name, line ?? false, points.map(({ x, y }) => [x, y])]),
    [
      ["HCCS", false, [[4, 15]]],
      ["SIO", false, [[8, 15]]],
      ["HCCS!", true, [[4, 18], [8, 18]]],
    ],
  );
});

test("queries that are lanes survive the address", () => {
  const list = [
    { name: "a=b|c", query: "SELECT begin_ns AS ts FROM slices WHERE name = 'x|y'" },
    { name: "", query: "SELECT 1" },
  ];
  assert.deepEqual(parseQueries(queriesText(list)), list);
  assert.deepEqual(parseQueries(""), []);
  assert.deepEqual(parseQueries("a=%E0%A4%A|nothing"), [], "what is no query is left out");
  assert.equal(withQuery(list, { ...list[0]! }), list, "once is enough");
  assert.deepEqual(withoutQuery(list, list[0]!), [list[1]]);
});

test("no more than all of a range is covered, on however many ranks", () => {
  assert.equal(coveredShare({ covered: 50, range: 100 }, 1), 0.5);
  assert.equal(coveredShare({ covered: 1900, range: 100 }, 19), 1);
  assert.equal(coveredShare({ covered: 0, range: 0 }, 0), 0);
});

test("layers of a GPU trace go by the names of its own software", () => {
  assert.equal(choiceTitle("CANN API Summary", "kineto"), "CUDA API Summary");
  assert.equal(choiceTitle("Ascend Hardware Task Summary", "nsys"), "GPU Task Summary");
  assert.equal(choiceTitle("CANN API Summary", "ascend_pt"), "CANN API Summary");
  assert.equal(choiceTitle("Overall Metrics", "kineto"), "Overall Metrics");
});
