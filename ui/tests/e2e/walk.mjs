// What a user does with any capture, in any language and theme: open, zoom, select, search, follow a link again, go from a table's row to the
// timeline and back, filter, export, ask SQL; and the same without a mouse. Nothing here depends on words of the page.
import { readFileSync } from "node:fs";
import { addressNoted, assert, eventually, openPage, settled, shot, slicePlace, timelineReady } from "./browser.mjs";

export async function goto(page, id) {
  await page.evaluate((target) => {
    const query = location.hash.split("?")[1] ?? "";
    location.hash = `#/${target}${query ? `?${query}` : ""}`;
  }, id);
  await page.waitForSelector(`.page[data-page="${id}"]`);
  await settled(page);
}

const span = (page) => page.evaluate(() => ((view) => view.t1 - view.t0)(document.querySelector(".tl-overlay").timeline.model.view));
const selected = async (page) => (await page.waitForSelector(".sel-name"), page.locator(".sel-name").innerText());

async function timeline(page, { lane, word }) {
  const whole = await span(page);
  await page.mouse.move(700, 300);
  for (let k = 0; k < 3; k++) await page.keyboard.press("w");
  await eventually(async () => assert.ok((await span(page)) < whole / 2, "zoomed in"));
  await page.keyboard.press("Control+0");
  await timelineReady(page);
  const place = await slicePlace(page, lane);
  await page.mouse.click(place.x, place.y);
  await selected(page);
  await page.keyboard.press("/");
  await page.keyboard.type(word);
  await page.waitForFunction(() => /\d/.test(document.querySelector(".tl-count")?.textContent ?? ""));
  await page.keyboard.press("Enter");
  await eventually(async () => assert.ok((await selected(page)).toLowerCase().includes(word), "the first hit is selected"));
  await page.keyboard.press("Escape");
}

async function linkAgain(page) {
  const chosen = await selected(page);
  await addressNoted(page);
  const before = await page.evaluate(() => location.hash);
  await page.reload();
  await timelineReady(page);
  assert.equal(await selected(page), chosen, "the same slice");
  await addressNoted(page);
  assert.equal(await page.evaluate(() => location.hash), before, "the same address");
}

/** The longest operators: filtered by some of the values of a column, saved, and a row gone to and come back from. */
async function table(page) {
  await goto(page, "operators");
  await page.locator(".data-table .tr .td").first().waitFor();
  await page.locator(".data-table").first().locator(".tr").first().click();
  const details = page.locator(".data-table").nth(1);
  await details.locator(".tr .td").first().waitFor();
  const count = async () => Number(await details.locator(".tgrid").getAttribute("aria-rowcount"));
  const all = await count();
  await details.locator(".th-filter").first().click();
  await page.locator(".popover select").selectOption("in");
  const value = page.locator(".value-list label").first();
  const [, times] = /(\d[\d,]*)$/.exec((await value.innerText()).trim());
  await value.locator("input").check();
  await page.locator(".popover .primary").click();
  await eventually(async () => assert.equal(await count(), Number(times.replaceAll(",", "")), "as many rows as the list said"));
  assert.ok((await count()) <= all);
  const [file] = await Promise.all([page.waitForEvent("download"), details.locator(".tfoot button.link").last().click()]);
  assert.equal(readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).length, (await count()) + 1, "the rows that are left, and a header");
  await details.locator(".tr").first().dblclick();
  await timelineReady(page);
  await selected(page);
  await page.goBack();
  await page.waitForSelector('.page[data-page="operators"] .data-table .tr .td');
}

async function sql(page) {
  await goto(page, "sql");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("SELECT count(*) AS n FROM slices");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".data-table .tr .td");
  assert.ok(Number(await page.locator(".data-table .tr .td").first().innerText()) > 10);
}

/** The next table, its first row. */
async function tabToRows(page) {
  for (let n = 0; n < 100; n++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.classList.contains("tbody"))) break;
  }
  await eventually(async () => {
    await page.keyboard.press("Home");
    assert.ok(await page.evaluate(() => document.activeElement?.querySelector(".tr.cursor")), "a row has the cursor");
  });
}

/** Pages, rows, slices, the list of keys: by keys alone. */
async function withoutMouse(page) {
  await page.keyboard.press("Alt+2");
  await timelineReady(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press(".");
  await selected(page);
  await page.keyboard.press("f");
  await timelineReady(page);
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open] .keys kbd");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Alt+3");
  await page.waitForSelector('.page[data-page="operators"] .tr .td');
  await tabToRows(page);
  await settled(page);
  await tabToRows(page);
  await page.keyboard.press("Enter");
  await timelineReady(page);
  await selected(page);
}

/** `lane`: part of the path of a lane with wide slices; `word`: something to search for. */
export async function walk(browser, url, tag, options, facts) {
  const { page, done } = await openPage(browser, url, options);
  await timelineReady(page);
  await timeline(page, facts);
  await linkAgain(page);
  await table(page);
  await sql(page);
  await withoutMouse(page);
  await shot(page, `walk-${tag}`);
  await done();
}

/** English on light and Chinese on dark ground. */
export async function walkBoth(browser, url, tag, facts) {
  await walk(browser, url, `${tag}-en`, {}, facts);
  await walk(browser, url, `${tag}-zh`, { dark: true, locale: "zh-CN" }, facts);
}
