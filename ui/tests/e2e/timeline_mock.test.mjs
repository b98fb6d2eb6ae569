// The timeline driven by keyboard and mouse on the generated job.
import { addressNoted, assert, eventually, openPage, settled, shot, slicePlace, timelineReady } from "./browser.mjs";

export const name = "timeline by keyboard and mouse";

const view = (page) => page.evaluate(() => ({ ...document.querySelector(".tl-overlay").timeline.model.view }));
const lanes = (page) =>
  page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.layout.lanes.map((lane) => lane.track.path));
const span = (v) => v.t1 - v.t0;
const pinned = async (page, n, why) =>
  eventually(async () => assert.equal(await page.locator(".pinned-clip .lane").count(), n, why));

/** The pointer over a lane, once the page knows that it is there. */
async function hoverLane(page, { x, y }, path) {
  await page.mouse.move(x, y);
  await page.waitForFunction(
    (wanted) => document.querySelector(".tl-overlay").timeline.model.hover.value?.track.path === wanted,
    path,
  );
}

async function moving(page) {
  const whole = await view(page);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  const near = await view(page);
  assert.ok(span(near) < span(whole) * 0.6, "W zooms in");
  await page.keyboard.press("d");
  assert.ok((await view(page)).t0 > near.t0, "D pans right");
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  const step = await view(page);
  await page.keyboard.press("Backspace");
  assert.notDeepEqual(await view(page), step, "Backspace goes back");
  await page.keyboard.press("Shift+Backspace");
  assert.deepEqual(await view(page), step, "Shift+Backspace goes forward again");
  await page.keyboard.press("Control+0");
  assert.ok(Math.abs(span(await view(page)) - span(whole)) < 2, "Ctrl+0 fits");
}

async function keyboardSelection(page) {
  await page.mouse.move(2, 2);
  await page.keyboard.press(".");
  await page.waitForSelector(".sel-name");
  const first = await page.locator(".sel-name").innerText();
  await page.keyboard.press(".");
  await eventually(async () => assert.notEqual(await page.locator(".sel-name").innerText(), first, "the next one is selected"));
  await eventually(async () => {
    const spoken = await page.locator(".timeline > [role=status]").innerText();
    assert.match(spoken, /us|ms|ns/, "the live region speaks");
  });
  assert.ok(first.length > 0);
  await page.keyboard.press("m");
  await page.waitForSelector(".totals");
  await page.keyboard.press("m");
  await page.keyboard.press("k");
  assert.equal(
    await page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.markers.list.value.length),
    1,
  );
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(await page.locator(".sel-name").count(), 0));
}

async function laneTools(page) {
  const place = await slicePlace(page, "r0/hw/stream2");
  await hoverLane(page, place, "r0/hw/stream2");
  await page.keyboard.press("p");
  await pinned(page, 1, "P pins");
  await shot(page, "mock-pinned");
  const box = await page.locator(".tl-overlay").boundingBox();
  await hoverLane(page, { x: place.x + 1, y: box.y + 8 }, "r0/hw/stream2");
  await page.keyboard.press("p");
  await pinned(page, 0, "P on the pinned lane unpins");
  await hoverLane(page, place, "r0/hw/stream2");
  await page.keyboard.press("o");
  assert.deepEqual(await lanes(page), ["r0", "r0/hw", "r0/hw/stream2"], "O shows only this");
  await page.keyboard.press("o");
  const all = await lanes(page);
  await page.locator(".tl-filter").fill("rank=1 stream");
  await eventually(async () => assert.deepEqual(await lanes(page), ["r1", "r1/hw", "r1/hw/stream2"], "the filter"));
  await page.locator(".tl-filter").fill("");
  await eventually(async () => assert.deepEqual(await lanes(page), all));
  await timelineReady(page);
}

async function menus(page) {
  const place = await slicePlace(page, "r0/hw/stream2");
  await page.mouse.click(place.x, place.y, { button: "right" });
  await page.waitForSelector(".menu");
  await shot(page, "mock-menu");
  await page.getByRole("menuitem", { name: /^Explain/ }).click();
  await page.waitForSelector(".explain");
  await shot(page, "mock-explain");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await shot(page, "mock-keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+p");
  await page.waitForSelector(".palette input:focus");
  await page.keyboard.type("@stream");
  await page.waitForSelector(".palette [role=option]");
  await shot(page, "mock-palette");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".palette", { state: "detached" });
  await timelineReady(page);
}

async function flows(page) {
  await page.getByRole("button", { name: /^Flows/ }).click();
  await page.getByRole("menuitemcheckbox", { name: /HostToDevice/ }).click();
  await page.waitForFunction(() => document.querySelector(".tl-overlay").timeline.model.flows.value?.cats.length > 0);
}

async function safeNames(page) {
  const place = await slicePlace(page, "r0/hw/stream2");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  assert.equal(await page.locator(".pairs b").count(), 0, "args never become markup");
  assert.ok((await page.locator(".pairs").allInnerTexts()).join().includes("<b>no markup</b>"));
}

async function words(page) {
  await page.getByRole("button", { name: "Language" }).click();
  await page.getByRole("tab", { name: "切片详情" }).waitFor();
  await page.getByRole("button", { name: /语言/ }).click();
  for (let k = 0; k < 3; k++) await page.getByRole("button", { name: "Theme" }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "contrast");
  await settled(page);
  await shot(page, "mock-contrast");
}

async function manyRanks(browser, mock) {
  const server = await mock({ ranks: 64, kernels: 40 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(page);
  await eventually(async () => assert.equal((await lanes(page)).length, 64));
  await shot(page, "mock-strips");
  await done();
}

async function panels(page) {
  await timelineReady(page); // a view that still moves would be missed by the click
  const place = await slicePlace(page, "r0/python/30965");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  await page.getByRole("tab", { name: "Flame", exact: true }).click();
  await page.waitForSelector(".flame canvas");
  await page.getByRole("button", { name: "Chronological", exact: true }).click();
  await page.waitForSelector("text=Adjacent slices with the same name share one bar");
  await page.getByRole("button", { name: "Merged", exact: true }).click();
  await settled(page);
  await shot(page, "mock-flame");
  await page.getByRole("tab", { name: "System view", exact: true }).click();
  await page.waitForSelector(".stats-body .tr");
  await shot(page, "mock-stats");
  await page.getByRole("tab", { name: "Slice", exact: true }).click();
}

/** To another page and back: the view is as it was left. */
async function thereAndBack(page) {
  await page.mouse.move(2, 2);
  await page.keyboard.press("w");
  await addressNoted(page);
  const before = await view(page);
  await page.locator("nav").getByRole("button", { name: "Data", exact: true }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/data"));
  await page.keyboard.press("Alt+2");
  await timelineReady(page);
  const after = await view(page);
  assert.ok(Math.abs(after.t0 - before.t0) < 2 && Math.abs(after.t1 - before.t1) < 2, "the view is kept");
}

/** The server goes away: a banner says so and what is seen stays. */
async function serverGone(browser, mock) {
  const server = await mock({ ranks: 1, kernels: 20 });
  const { page } = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(page);
  server.close();
  await page.waitForSelector(".banner");
  assert.ok((await page.locator(".lane").count()) > 3);
}

/** A browser has six connections to a server: no tab may keep one for itself. */
async function manyTabs(browser, mock) {
  const server = await mock({ ranks: 1, kernels: 20 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(page);
  for (let tab = 0; tab < 8; tab++) {
    const next = await page.context().newPage();
    await next.goto(`${server.url}#/timeline`);
    await next.waitForFunction(() => document.querySelector(".tl-overlay")?.timeline?.frame_ms.length > 0, undefined, { timeout: 30_000 });
  }
  await done();
}

export async function run({ browser, mock }) {
  const server = await mock({ ranks: 2, kernels: 200 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(page);
  await moving(page);
  await keyboardSelection(page);
  await laneTools(page);
  await flows(page);
  await menus(page);
  await safeNames(page);
  await panels(page);
  await thereAndBack(page);
  await words(page);
  await done();
  await manyTabs(browser, mock);
  await serverGone(browser, mock);
  await manyRanks(browser, mock);
}
