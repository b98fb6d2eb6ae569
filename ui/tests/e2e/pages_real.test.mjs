// Every page on a real two-rank capture and on a Kineto trace: content, jumps to the timeline, filters, deep links, both languages and themes.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkAccess } from "./axe.mjs";
import { assert, eventually, openPage, settled, shot, slicePlace, timelineReady } from "./browser.mjs";
import { goto } from "./walk.mjs";

export const name = "pages on real captures";
export const needsProgram = true;
export const needsData = true;

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

const PAGES = [
  "overview",
  "timeline",
  "operators",
  "memory",
  "communication",
  "cluster",
  "pipeline",
  "rl",
  "findings",
  "compare",
  "sql",
  "data",
];

/** No text box or card is wider than the page, no chart is empty, and nothing failed. */
async function checkLayout(page, id) {
  const problems = await page.evaluate(() => {
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth + 1)
      found.push(`page is ${document.documentElement.scrollWidth} px wide`);
    for (const alert of document.querySelectorAll('.page [role="alert"]')) found.push(alert.textContent);
    const small = document.createElement("canvas");
    for (const chart of document.querySelectorAll(".page .chart canvas")) {
      const g = small.getContext("2d", { willReadFrequently: true });
      g.drawImage(chart, 0, 0, (small.width = 64), (small.height = 64));
      const pixels = new Set(new Uint32Array(g.getImageData(0, 0, 64, 64).data.buffer));
      if (pixels.size < 2) found.push(`nothing is drawn: ${chart.closest("figure").getAttribute("aria-label")}`);
    }
    for (const card of document.querySelectorAll(".page .card")) {
      if (card.getBoundingClientRect().right > innerWidth + 1)
        found.push(`a card sticks out: ${card.getAttribute("aria-label")}`);
    }
    return found;
  });
  assert.deepEqual(problems, [], id);
}

export async function tour(browser, url, tag, options, skip = []) {
  const { page, done } = await openPage(browser, url, options);
  await timelineReady(page);
  for (const id of PAGES.filter((each) => !skip.includes(each))) {
    await goto(page, id);
    if (id === "timeline") await timelineReady(page);
    if (id === "sql") await page.waitForSelector(".cm-content");
    await checkLayout(page, `${tag} ${id}`);
    if (options.access) await checkAccess(page, `${tag} ${id}`);
    await shot(page, `${tag}-${id}`);
  }
  await done();
}

async function operatorsPage(page) {
  await goto(page, "operators");
  await page.waitForSelector(".tr .td");
  const groups = page.locator(".data-table").first();
  assert.match(await groups.locator(".tr").first().innerText(), /AI_CORE|MIX|HCCL|DSA|VECTOR/);
  await groups.locator(".tr").first().click();
  await page.waitForSelector("text=Show all");
  const details = page.locator(".data-table").nth(1);
  await details.locator(".tr .td").first().waitFor();
  await details.locator(".tr").first().dblclick();
  await page.waitForSelector(".sel-name");
  assert.ok((await page.locator(".sel-name").innerText()).length > 0, "a row leads to its slice");
  await page.goBack();
  await page.waitForSelector("text=Time by operator");
}

/** A row shows how long its name takes and can be marked; a chart is saved as SVG. */
async function rowsAndCharts(page) {
  await goto(page, "operators");
  const row = page.locator(".data-table").nth(1).locator(".tr", { hasText: "Conv2D1" }).first();
  await row.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Distribution of this name's durations" }).click();
  await page.locator("dialog canvas").waitFor();
  await page.keyboard.press("Escape");
  await row.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Add a marker on the timeline" }).click();
  await page.locator("figure[aria-label='Time by operator']").getByRole("button", { name: "Chart menu" }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Save as SVG" }).click()]);
  const svg = readFileSync(await file.path(), "utf8");
  assert.match(svg, /^<svg .*<text[^>]*>ForeachAddList<\/text>/s, "the picture has its words");
  await goto(page, "memory");
  await page.locator("figure[aria-label='Memory over time']").getByRole("button", { name: "Chart menu" }).click();
  const [curve] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Save as SVG" }).click()]);
  assert.match(readFileSync(await curve.path(), "utf8"), /Operators Reserved<\/text>/);
  await page.getByRole("button", { name: "Remove marker Conv2D1" }).click();
}

/** Grouping by columns of one's own, points of a group, and the same on other ranks. */
async function ownGrouping(page) {
  await goto(page, "operators");
  await page.locator(".pick", { hasText: "Group by" }).locator("select").selectOption("own");
  const groups = page.locator(".data-table").first();
  await groups.locator(".tr .td").first().waitFor();
  assert.match(await groups.locator(".tr").first().innerText(), /hcom_allReduce_\s+HCCL\s+8/, "both ranks together");
  await page.locator("select[aria-label='+ key']").selectOption("rank");
  await eventually(async () => assert.match(await groups.locator(".tr").first().innerText(), /HCCL\s+0\s+4/, "rank by rank"));
  await page.getByRole("button", { name: "Without rank" }).click();
  await page.getByRole("button", { name: "p99" }).click();
  await groups.locator("text=p99(us)").waitFor();
  await groups.locator(".tr", { hasText: "TransData" }).click();
  await page.waitForSelector(".card:has-text('Operators of TransData')");
  await page.waitForSelector(".card:has-text('The same operator on all ranks and steps')");
  const plot = page.locator(".card:has-text('Duration against Input size') canvas");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await plot.getAttribute("aria-label"), /TransData.*Duration \(us\)/, "points can be walked");
  await shot(page, "real-operators-own");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".sel-name");
  assert.match(await page.locator(".sel-name").innerText(), /TransData/, "a point leads to its slice");
}

/** Rows of a query as lanes: shown, in the address, taken off again. */
async function sqlLanes(page) {
  await goto(page, "sql");
  await writeQuery(page, "SELECT rank, begin_ns AS ts, dur_ns AS dur, 'mine ' || name AS name, 'chosen' AS lane FROM comm_ops");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Show as lanes" }).click();
  await timelineReady(page);
  const header = page.locator(".lane-headers").getByText("chosen", { exact: true });
  await header.first().waitFor();
  await page.reload();
  await timelineReady(page);
  await header.first().waitFor();
  const place = await slicePlace(page, "r0/sql/");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  assert.match(await page.locator(".sel-name").innerText(), /^mine hcom_/);
  await shot(page, "real-sql-lanes");
  await header.first().click({ button: "right" });
  const lefts = await page.locator('.menu [role^="menuitem"]').evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ left, width }) => `${left} ${width}`));
  assert.equal(new Set(lefts).size, 1, "entries of a menu stand below each other");
  await page.getByRole("menuitem", { name: "Remove this query's lanes" }).click();
  await eventually(async () => assert.equal(await header.count(), 0, "they are gone"));
  await eventually(async () => assert.ok(!(await page.evaluate(() => location.hash)).includes("sqllanes"), "and from the address"));
}

async function sqlPage(page) {
  await goto(page, "sql");
  await writeQuery(page, "SELECT count(*) AS n FROM kernels WHERE rank = 0");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".data-table .tr .td");
  assert.equal(await page.locator(".data-table .tr .td").first().innerText(), "191");
  await page.reload();
  await page.waitForSelector(".data-table .tr .td");
  assert.equal(
    await page.locator(".data-table .tr .td").first().innerText(),
    "191",
    "a reload runs the query of the address again",
  );
  await writeQuery(page, "SELECT name, nme FROM kernels");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector('[role="alert"]');
  assert.equal(await page.locator(".cm-lintRange-error").innerText(), "nme", "the mistake is underlined");
  await page.waitForSelector(".schema details");
  await writeQuery(page, "SELECT k. FROM kernels AS k");
  for (let n = 0; n < " FROM kernels AS k".length; n++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type("dur");
  await page.waitForSelector(".cm-tooltip-autocomplete li");
  await shot(page, "real-sql-completion");
  // By mouse: the editor ignores Enter in the first moments of a list, so that nobody takes from it by accident.
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "dur_ns" }).first().click();
  await eventually(async () =>
    assert.match(await page.locator(".cm-content").innerText(), /k\.dur_ns FROM/, "columns of the table are completed"),
  );
}

async function writeQuery(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

async function comparePage(page) {
  await goto(page, "compare");
  await page.waitForSelector(".data-table .tr .td");
  const text = await page.locator(".page").innerText();
  assert.match(text, /8\.874 ms/, "Computing of rank 0");
  await page.locator(".compare-side").nth(1).locator("select").nth(1).selectOption("0");
  await page.waitForFunction(() => location.hash.includes("b="));
  await page.waitForFunction(
    () => !/slower|faster/.test(document.querySelector(".data-table .tr")?.textContent ?? "slower"),
  );
}

/** Findings name a gain, can be muted, and lead to where they were found. */
async function findingsPage(page) {
  await goto(page, "findings");
  const cards = page.locator(".page .card");
  const titles = await cards.locator("h2").allInnerTexts();
  assert.ok(titles.some((title) => title.startsWith("Exposed communication")), titles.join());
  assert.equal(await page.locator(".menu-count").innerText(), String(titles.length), "the menu says how many there are");
  await cards.first().getByRole("button", { name: "Mute", exact: true }).click();
  await eventually(async () => assert.equal(await cards.count(), titles.length - 1, "a muted one is gone"));
  await page.getByRole("button", { name: "1 muted" }).click();
  await eventually(async () => assert.equal(await cards.count(), titles.length));
  await cards.first().getByRole("button", { name: "Unmute" }).click();
  await page.getByRole("button", { name: "Show on the timeline" }).first().click();
  await timelineReady(page);
  await page.goBack();
  await page.waitForSelector('.page[data-page="findings"] .card');
}

/** B under A, an operator's durations, and the way from a block to the timeline of its side. */
async function compareMore(page) {
  await goto(page, "compare");
  await page.locator(".compare-side").nth(1).locator("select").nth(1).selectOption("1");
  await settled(page);
  await page.locator(".data-table .tr").first().click();
  await page.waitForSelector(".card:has-text('Durations of') .line-chart canvas");
  await page.waitForSelector(".card:has-text('Memory of both sides') .line-chart canvas");
  await shot(page, "real-compare-more");
  await page.locator(".card:has-text('B under A') .chart-box canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await timelineReady(page);
  assert.match(await page.evaluate(() => location.hash), /#\/timeline\?.*t=/);
}

async function explainedNumber(page) {
  await goto(page, "overview");
  await page.waitForSelector("text=E2E Time");
  await page.getByRole("button", { name: "8873.76" }).click();
  await page.waitForSelector(".number-card table");
  assert.match(await page.locator(".number-card").innerText(), /Sum of \d/);
  await shot(page, "real-number");
  await page.locator(".number-card table button").first().click();
  await timelineReady(page);
}

/** A data parallel job has no pipeline: the menu does not offer one. */
async function noPipeline(page) {
  await goto(page, "overview");
  await page.waitForSelector("text=E2E Time");
  const items = await page.locator("nav.side-menu").innerText();
  assert.match(items, /Overview/);
  assert.doesNotMatch(items, /Pipeline/);
}

async function numbersAgree(page) {
  await goto(page, "overview");
  await page.waitForSelector("text=E2E Time");
  const text = await page.locator(".page").innerText();
  assert.match(text, /8873\.76/, "Computing as the reference viewer shows it");
  assert.match(text, /101963\.20?/, "Communication(Not Overlapped)");
  assert.match(text, /136581\.01/, "E2E");
  const left = (level) => page.locator(`td.level-${level}`).first().evaluate((cell) => parseFloat(getComputedStyle(cell).paddingLeft));
  const lefts = [await left(1), await left(2), await left(3), await left(4)];
  assert.deepEqual(lefts, [...lefts].sort((a, b) => a - b), "parts stand below their whole");
  assert.ok(lefts[1] > lefts[0]);
}

async function memoryPage(page) {
  await goto(page, "memory");
  await page.waitForSelector(".line-chart canvas");
  await page.selectOption(".pick:nth-of-type(2) select", "Component");
  await page.waitForSelector("text=PTA");
  assert.ok((await page.locator(".data-table .tr").count()) > 5);
  await page.selectOption(".pick:nth-of-type(2) select", "Kind");
  await page.waitForSelector("text=Activations");
  await page.selectOption(".pick:nth-of-type(2) select", "Overall");
  const names = (tab) => page.getByRole("tab", { name: tab }).click();
  const count = (text) => eventually(async () => assert.match(await page.locator(".data-table .tfoot").innerText(), text));
  await count(/^184 rows/);
  await names("Never freed");
  await count(/^\d\d? of 184/);
  await names("By operator");
  await page.waitForSelector("text=Total size (KB)");
  await names("Components");
  await page.waitForSelector(".data-table .tr:has-text('HCCL')");
  const box = await page.locator(".u-over").boundingBox();
  await page.mouse.click(box.x + box.width * 0.6, box.y + 40);
  await page.getByRole("tab", { name: "Live at" }).waitFor();
  await count(/^\d+ rows/);
  await page.locator(".data-table .tr", { hasText: "aten::" }).first().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Allocation site" }).click();
  await page.locator("dialog .stack-lines li").first().waitFor();
  await shot(page, "real-allocation-stack");
  await page.keyboard.press("Escape");
  // A marker of the timeline is on the curve, and can be taken off there.
  await goto(page, "timeline");
  await timelineReady(page);
  await page.mouse.move(700, 300);
  await page.keyboard.press("k");
  await goto(page, "memory");
  await page.getByRole("group", { name: "Markers" }).waitFor();
  await page.getByRole("button", { name: "Remove marker M1" }).click();
  await eventually(async () => assert.equal(await page.getByRole("group", { name: "Markers" }).count(), 0));
}

async function communicationPage(page) {
  await goto(page, "communication");
  await page.waitForSelector(".data-table .tr .td");
  await page.getByRole("tab", { name: "Matrix" }).click();
  await page.waitForSelector("text=Traffic between ranks");
  const matrix = page.locator("figure[aria-label^='Traffic between ranks'] canvas");
  await matrix.focus();
  await eventually(async () => {
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"]) await page.keyboard.press(key);
    assert.match(await matrix.getAttribute("aria-label"), /^rank 0 · rank 1/, "cells can be walked");
  });
  await page.keyboard.press("Enter");
  await page.waitForSelector(".chip:has-text('rank 1 → rank 0')");
  const pair = page.locator(".card", { hasText: "Operators of rank 1 → rank 0" });
  await pair.locator(".tr .td").first().waitFor();
  await eventually(async () => assert.match(await pair.innerText(), /hcom_allReduce/i, "the operators of the pair"));
  await shot(page, "real-communication-matrix");
  await page.getByRole("tab", { name: "Bandwidth" }).click();
  await page.waitForSelector("text=HCCS: 18 GB/s expected");
  await shot(page, "real-communication-bandwidth");
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.waitForSelector("text=Communication operators of all ranks");
  await shot(page, "real-communication-lanes");
}

export async function run({ browser, program, view }) {
  const server = await program("ascend_pt/text/level1");
  await tour(browser, server.url, "en-light", { access: true });
  await tour(browser, server.url, "zh-dark", { dark: true, locale: "zh-CN", access: true });
  await tour(browser, server.url, "en-wide", { width: 2560, height: 1440 });
  const { page, done } = await openPage(browser, server.url);
  await timelineReady(page);
  await numbersAgree(page);
  await operatorsPage(page);
  await rowsAndCharts(page);
  await ownGrouping(page);
  await memoryPage(page);
  await communicationPage(page);
  await explainedNumber(page);
  await findingsPage(page);
  await comparePage(page);
  await compareMore(page);
  await noPipeline(page);
  await sqlPage(page);
  await sqlLanes(page);
  await page.context().close();
  void done;
  const kineto = await program("kineto/tb_plugin/resnet50_num_workers_0");
  await tour(browser, kineto.url, "kineto", { access: true });
  await tour(browser, kineto.url, "kineto-zh-dark-wide", { dark: true, locale: "zh-CN", width: 2560, height: 1440 });
  await tour(browser, (await program("ascend_pt/db/level1")).url, "db", {});
  await tour(browser, (await view(join(root, "examples/sample"))).url, "sample-zh", { locale: "zh-CN" });
}
