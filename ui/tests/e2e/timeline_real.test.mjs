// The timeline on a real capture: select, area, explain, search, flows, panels, links, languages and themes.
import { readFileSync } from "node:fs";
import { addressNoted, assert, eventually, openPage, settled, shot, slicePlace, timelineReady } from "./browser.mjs";

export const name = "timeline on a real capture";
export const needsProgram = true;
export const needsData = true;

async function selectSlice(page) {
  const place = await slicePlace(page, "r0/py/thread");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  return page.locator(".sel-name").innerText();
}

async function dragArea(page, from, to) {
  const box = await page.locator(".tl-overlay").boundingBox();
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(".totals");
  await settled(page);
}

async function everyTab(page) {
  const broken = [];
  for (const tab of ["Flame", "Histogram", "Events", "Search results", "System view", "Explain", "Area", "Slice"]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    await settled(page);
    if ((await page.locator(".tl-tab .state[role=alert]").count()) > 0) broken.push(tab);
    await shot(page, `real-tab-${tab.toLowerCase().replace(" ", "-")}`);
  }
  return broken;
}

async function explain(page) {
  const name = await selectSlice(page);
  await page.keyboard.press("e");
  await page.waitForSelector(".explain h2");
  assert.ok((await page.locator(".explain h2").innerText()).startsWith(`${name} took `), "the card is about the slice");
  assert.ok((await page.locator(".explain li button").count()) > 0, "evidence can be gone to");
  await shot(page, "real-explain");
}

async function searchFor(page) {
  await page.keyboard.press("/");
  await page.keyboard.type("matmul");
  await page.waitForFunction(() => /\d/.test(document.querySelector(".tl-count")?.textContent ?? ""));
  await page.keyboard.press("Enter");
  await eventually(async () => {
    assert.match(await page.locator(".tl-count").innerText(), /^1\/|\d+\/\d+/);
    assert.match(await page.locator(".sel-name").innerText(), /matmul/i);
    assert.ok((await page.locator(".lane-hits").count()) > 0, "lane headers show hits");
  });
  await settled(page);
  await shot(page, "real-search");
  await page.keyboard.press("Escape");
}

async function linkReload(page) {
  await addressNoted(page);
  const before = await page.evaluate(() => location.hash);
  const chosen = await page.locator(".sel-name").innerText();
  await page.reload();
  await timelineReady(page);
  await page.waitForSelector(".sel-name");
  assert.equal(await page.locator(".sel-name").innerText(), chosen);
  await addressNoted(page);
  assert.equal(await page.evaluate(() => location.hash), before, "a reload keeps the address");
}

async function fromMenu(page, menu, entry) {
  await page.getByRole("button", { name: menu, exact: true }).click();
  await page.locator(".menu").getByText(entry, { exact: true }).click();
}

const fromMore = (page, entry) => fromMenu(page, "More", entry);
const color = (page, entry) => fromMenu(page, "Colour ▾", entry);

/** Slices can be coloured by how long they took among their like; the address says so. */
async function colours(page) {
  await color(page, "Colour by duration among slices with the same name");
  await page.waitForSelector(".tl-legend:has-text('shorter than other slices of this name')");
  await timelineReady(page);
  await addressNoted(page);
  assert.match(await page.evaluate(() => location.hash), /color=percentile/);
  await page.reload();
  await timelineReady(page);
  await page.waitForSelector(".tl-legend");
  const place = await slicePlace(page, "r0/py/thread");
  await page.mouse.move(place.x, place.y);
  await page.waitForSelector(".tl-tip");
  await shot(page, "real-colour-percentile");
  await color(page, "Colour by module");
  await page.waitForSelector(".tl-legend:has-text('Conv2d')");
  await timelineReady(page);
  await shot(page, "real-colour-module");
  await color(page, "Colour by kind of work");
  await eventually(async () => assert.equal(await page.locator(".tl-legend").count(), 0));
}

/** The screen and the flame graph as SVG: their words are text. */
async function pictures(page) {
  await page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.setScroll(0));
  await timelineReady(page);
  const [screen] = await Promise.all([page.waitForEvent("download"), fromMore(page, "Save as SVG")]);
  const svg = readFileSync(await screen.path(), "utf8");
  assert.match(svg, /^<svg .*<text[^>]*>rank 0<\/text>/s);
  assert.ok((svg.match(/<image /g) ?? []).length > 5, "each lane is an image");
  assert.ok(svg.length < 3e6, `${svg.length} bytes`);
  await page.getByRole("tab", { name: "Flame", exact: true }).click();
  await page.waitForSelector(".flame canvas");
  await page.locator(".flame-save").click();
  const [flame] = await Promise.all([page.waitForEvent("download"), page.locator(".menu").getByText("Save as SVG", { exact: true }).click()]);
  assert.match(readFileSync(await flame.path(), "utf8"), /<text[^>]*>ProfilerStep#\d+<\/text>/);
}

/** A collective on all ranks: who came last, and the way there. */
async function peers(page) {
  await page.getByRole("tab", { name: "Slice", exact: true }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("hcom_allReduce__");
  await page.waitForFunction(() => /\d/.test(document.querySelector(".tl-count")?.textContent ?? ""));
  await page.keyboard.press("Enter");
  await eventually(async () => assert.match(await page.locator(".sel-name").innerText(), /hcom_allReduce/));
  await page.getByRole("button", { name: "On all ranks" }).click();
  await eventually(async () => assert.equal(await page.locator("table.peers tr").count(), 2));
  await shot(page, "real-peers");
  const other = await page.locator("table.peers tr:not(.on) th button").innerText();
  await page.locator("table.peers tr:not(.on) th button").click();
  await eventually(async () => assert.equal(await page.locator("table.peers tr.on th button").innerText(), other));
  await page.keyboard.press("Escape");
}

async function looks(browser, url) {
  for (const dark of [false, true]) {
    for (const locale of ["en-US", "zh-CN"]) {
      for (const [width, height] of [
        [1280, 800],
        [2560, 1440],
      ]) {
        const { page, done } = await openPage(browser, url, { width, height, dark, locale });
        await timelineReady(page);
        await selectSlice(page);
        await settled(page);
        await shot(page, `real-${dark ? "dark" : "light"}-${locale.slice(0, 2)}-${width}`);
        await done();
      }
    }
  }
}

export async function run({ browser, program }) {
  const server = await program("ascend_pt/text/level1");
  const { page, done } = await openPage(browser, server.url);
  await timelineReady(page);
  await selectSlice(page);
  await dragArea(page, [0.3, 0.2], [0.6, 0.6]);
  await shot(page, "real-area");
  const broken = await everyTab(page);
  await pictures(page);
  await explain(page);
  await searchFor(page);
  await linkReload(page);
  await peers(page);
  await colours(page);
  if (broken.length === 0) await done();
  await looks(browser, server.url);
  assert.deepEqual(broken, [], "tabs that show an error");
}
