// What users set for themselves on a real capture: a baseline, keys, rules of colours, colours of cells, numbers of ranks; and a query that takes too long.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressNoted, assert, eventually, openPage, settled, shot, timelineReady } from "./browser.mjs";
import { goto } from "./walk.mjs";

export const name = "choices of the user on a real capture";
export const needsProgram = true;
export const needsData = true;

const menu = (page, entry) => page.locator(".menu").getByText(entry, { exact: true }).click();

/** Rank 1 against rank 0: on the Overview, on the curve of memory, as the sides of Compare. */
async function baseline(page) {
  await goto(page, "overview");
  await page.getByRole("button", { name: "all ranks ▾" }).click();
  await menu(page, "rank 1");
  await page.getByRole("button", { name: "no baseline ▾" }).click();
  await menu(page, "rank 0");
  const card = page.locator(".card", { hasText: "Compared with the baseline: rank 0" });
  await card.locator("li", { hasText: "computing" }).waitFor();
  await shot(page, "choice-baseline");
  await goto(page, "memory");
  await page.waitForSelector("text=Baseline: Operators Reserved");
  await shot(page, "choice-baseline-memory");
  await goto(page, "overview");
  await card.getByRole("button", { name: "Compare" }).click();
  await page.waitForSelector('.page[data-page="compare"] .data-table .tr .td');
  const ranks = await page.locator(".compare-side").evaluateAll((sides) => sides.map((side) => side.querySelectorAll("select")[1].value));
  assert.deepEqual(ranks, ["0", "1"], "A is the baseline, B what is in scope");
  await goto(page, "sql");
  assert.match(await page.getByRole("button", { name: /^Baseline rank 0/ }).getAttribute("class"), /unused/, "the page says that it does not use it");
  await page.getByRole("button", { name: /^Baseline rank 0/ }).click();
  await menu(page, "no baseline");
  await page.getByRole("button", { name: "rank 1 ▾" }).click();
  await menu(page, "all ranks");
}

async function ownKeys(page) {
  await goto(page, "timeline");
  await timelineReady(page);
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Change the key of Show or hide the panel" }).click();
  await page.keyboard.press("y");
  await eventually(async () => assert.match(await page.locator("dialog .keys tr", { hasText: "Show or hide the panel" }).innerText(), /Y/));
  await shot(page, "choice-keys");
  await page.keyboard.press("Escape");
  const isOpen = () => page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.panelOpen.value);
  const before = await isOpen();
  await page.keyboard.press("q");
  assert.equal(await isOpen(), before, "the key it had does nothing any more");
  await page.keyboard.press("y");
  assert.equal(await isOpen(), !before);
  await page.keyboard.press("y");
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Reset all keys" }).click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("q");
  assert.equal(await isOpen(), !before);
  await page.keyboard.press("q");
}

async function rules(page) {
  await page.getByRole("button", { name: "Colour ▾" }).click();
  await menu(page, "Colour rules…");
  await page.getByRole("textbox", { name: "Filter of rule 1" }).fill('lane:thread dur>1ms');
  await page.locator("dialog .primary").click();
  await page.waitForSelector(".tl-legend:has-text('lane:thread dur>1ms')");
  await timelineReady(page);
  await shot(page, "choice-rules");
  const shaded = () => page.evaluate(() => {
    const { model } = document.querySelector(".tl-overlay").timeline;
    const lane = model.tree.all.find((track) => track.path.startsWith("r0/py/thread"));
    const { level, t0 } = model.scale();
    const tile = model.cache.get(lane.id, level, Math.floor(t0 / (1024 * 2 ** level)));
    return tile?.kind === "slices" ? new Set(tile.rows.flatMap((row) => [...row.shade])).size : 0;
  });
  await eventually(async () => assert.equal(await shaded(), 2, "some slices are coloured, some are not"));
  await addressNoted(page);
  assert.match(await page.evaluate(() => decodeURIComponent(location.hash)), /color=rules.*rules=.*dur>1ms/);
  await page.getByRole("button", { name: "Colour ▾" }).click();
  await menu(page, "Colour by kind of work");
}

/** What is wrong with a rule is said beside it. The server's refusal is an error of the console, which is not looked at here. */
async function wrongRule(browser, url) {
  const { page } = await openPage(browser, url);
  await timelineReady(page);
  await page.getByRole("button", { name: "Colour ▾" }).click();
  await menu(page, "Colour rules…");
  await page.getByRole("textbox", { name: "Filter of rule 1" }).fill("dur>soon");
  await page.locator("dialog .primary").click();
  await eventually(async () => assert.match(await page.locator("dialog .rules .row").first().innerText(), /soon/));
  await page.context().close();
}

async function cellColours(page) {
  await goto(page, "operators");
  const table = page.locator(".data-table").first();
  await table.locator(".tr .td").first().waitFor();
  await table.locator(".th", { hasText: "Total Time" }).click({ button: "right" });
  await menu(page, "Colour by percentile");
  await table.locator(".td.tenth-9, .td.tenth-8").first().waitFor();
  await shot(page, "choice-percentiles");
  await table.locator(".th", { hasText: "Total Time" }).click({ button: "right" });
  await menu(page, "Colour by percentile");
  await eventually(async () => assert.equal(await page.locator("[class*=tenth-]").count(), 0));
}

/** A group's mean instead of its sum. */
async function aggregates(page) {
  await goto(page, "memory");
  const table = page.locator(".data-table").last();
  await table.locator(".tr .td").first().waitFor();
  await table.locator(".th", { hasText: "Name" }).click({ button: "right" });
  await menu(page, "Group by this column");
  await table.locator("text=Σ Size").waitFor();
  await table.locator("select").selectOption("max");
  await table.locator("text=max Size").waitFor();
  await settled(page);
}

/** After a second there is a way out; what was given up can be asked for again. */
async function cancelled(page) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/metric", async (route) => {
    await held;
    await route.continue().catch(() => undefined); // It may be gone by now.
  });
  await page.evaluate(() => (location.hash = location.hash.replace(/^#\/\w+/, "#/findings")));
  await page.locator(".scope-bar").getByRole("button", { name: "Cancel" }).click();
  await page.waitForSelector(".page h2:has-text('Cancelled')");
  release();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector('.page[data-page="findings"] .card');
  await page.unroute("**/metric");
}

/** A capture that does not say which rank it is gets a number. */
async function renumber(browser, view) {
  const folder = mkdtempSync(join(tmpdir(), "steplens_e2e_"));
  try {
    const events = Array.from({ length: 50 }, (_, at) => ({ ph: "X", cat: "cpu_op", name: "aten::add", pid: 1, tid: 1, ts: 10 * at, dur: 5 }));
    writeFileSync(join(folder, "trace.json"), JSON.stringify({ schemaVersion: 1, traceEvents: events }));
    const { page, done } = await openPage(browser, (await view(folder)).url);
    await timelineReady(page);
    await page.locator(".lane .guessed").click();
    await page.locator("dialog input").fill("12");
    await page.keyboard.press("Enter");
    await page.locator('.lane[title*="r12"]').first().waitFor();
    await timelineReady(page);
    assert.equal(await page.locator(".lane .guessed").count(), 0, "it is no guess any more");
    await done();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run({ browser, program, view }) {
  const server = await program("ascend_pt/text/level1");
  const { page, done } = await openPage(browser, server.url);
  await timelineReady(page);
  await baseline(page);
  await ownKeys(page);
  await rules(page);
  await cellColours(page);
  await aggregates(page);
  await cancelled(page);
  await done();
  await wrongRule(browser, server.url);
  await renumber(browser, view);
}
