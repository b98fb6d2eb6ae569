// Arranging lanes and comparing areas on the generated job: each can be undone and is part of the address.
import { addressNoted, assert, eventually, openPage, shot, slicePlace, timelineReady } from "./browser.mjs";

export const name = "lanes are merged, named and hidden, areas compared";

const lanes = (page) =>
  page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.layout.lanes.map((lane) => lane.track.path));
const model = (page, read) => page.evaluate(`(${read})(document.querySelector(".tl-overlay").timeline.model)`);
const header = (page, label) => page.locator(".lane", { hasText: label }).first();
const headerCount = (page, label, n, why) =>
  eventually(async () => assert.equal(await header(page, label).count(), n, why));

async function menuOf(page, lane, entry, role = "menuitem") {
  await lane.click({ button: "right" });
  await page.getByRole(role, { name: entry }).click();
}

async function merging(page) {
  await menuOf(page, header(page, "Stream 3"), /^Merge 3 lanes/);
  await page.waitForFunction(() => location.hash.includes("merge="));
  assert.ok((await lanes(page)).includes("r0/hw/stream2+stream3+stream4"), "one lane stands for three");
  assert.ok(!(await lanes(page)).includes("r0/hw/stream3"));
  await timelineReady(page);
  const place = await slicePlace(page, "r0/hw/stream2+stream3");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  await shot(page, "mock-merged");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Backspace");
  assert.ok((await lanes(page)).includes("r0/hw/stream3"), "Backspace splits it again");
  await page.keyboard.press("Shift+Backspace");
  assert.ok(!(await lanes(page)).includes("r0/hw/stream3"), "Shift+Backspace merges it again");
}

async function naming(page) {
  await menuOf(page, header(page, "Stream 2 + Stream 3"), /^Rename/);
  await page.locator("dialog input").fill("all streams | a=b");
  await page.keyboard.press("Enter");
  await headerCount(page, "all streams | a=b", 1);
  await page.keyboard.press("Backspace");
  await headerCount(page, "all streams", 0, "undone");
  await page.keyboard.press("Shift+Backspace");
  await headerCount(page, "all streams | a=b", 1);
}

async function comparing(page) {
  const box = await page.locator(".tl-overlay").boundingBox();
  const drag = async (from, to) => {
    await page.mouse.move(box.x + box.width * from, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, box.y + box.height - 10, { steps: 4 });
    await page.mouse.up();
  };
  await drag(0.1, 0.3);
  await page.waitForSelector(".totals");
  await page.keyboard.down("Shift");
  await drag(0.5, 0.9);
  await page.keyboard.up("Shift");
  await page.waitForSelector(".area-compare .tr");
  await page.waitForFunction(() => location.hash.includes("area2="));
  await shot(page, "mock-compare-areas");
  const ranges = () => page.locator(".area-compare .totals").innerText();
  const before = await ranges();
  await page.getByRole("button", { name: "Swap A and B" }).click();
  await page.waitForFunction((text) => document.querySelector(".area-compare .totals")?.innerText !== text, before);
}

/** Everything above is in the address. */
async function reloading(page) {
  const [paths, area] = [await lanes(page), await model(page, "(m) => m.areaB.value")];
  await addressNoted(page);
  await page.reload();
  await timelineReady(page);
  await page.waitForSelector(".area-compare .tr");
  assert.deepEqual(await lanes(page), paths);
  assert.deepEqual(await model(page, "(m) => m.areaB.value"), area);
  await headerCount(page, "all streams | a=b", 1);
  await page.keyboard.press("Escape");
}

async function hiding(page) {
  const all = (await lanes(page)).length;
  await page.locator(".tl-search input").fill("allReduce");
  await page.waitForFunction(() => document.querySelector(".tl-count")?.textContent?.match(/\d/));
  await page.getByRole("button", { name: "Search options" }).click();
  await page.getByRole("menuitemcheckbox", { name: /^Hide other/ }).click();
  await page.waitForFunction((n) => document.querySelector(".tl-overlay").timeline.model.layout.lanes.length < n, all);
  const found = ["r0", "r0/comm", "r0/comm/tp", "r1", "r1/comm", "r1/comm/tp"];
  await eventually(async () => assert.deepEqual(await lanes(page), found));
  await timelineReady(page);
  await shot(page, "mock-hide-others");
  await page.locator(".tl-search input").fill("");
  await page.waitForFunction(
    (n) => document.querySelector(".tl-overlay").timeline.model.layout.lanes.length === n,
    all,
  );
}

async function statistics(page) {
  await page.waitForSelector(".lane-stat");
  assert.match(await page.locator(".lane-stat").first().innerText(), /%/);
  await page.locator(".tl-toolbar").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitemcheckbox", { name: /^Lane statistics/ }).click();
  await page.waitForFunction(() => document.querySelector(".lane-stat") === null);
}

async function betweenRanks(page) {
  await page.getByRole("button", { name: /^Flows/ }).click();
  await page.getByRole("menuitemcheckbox", { name: /Collectives between ranks/ }).click();
  await page.waitForFunction(() => document.querySelector(".tl-overlay").timeline.model.flows.value?.flows.length > 0);
  await page.waitForFunction(() => location.hash.includes("flows=collective"));
  await shot(page, "mock-flows-between-ranks");
}

async function otherKeys(page) {
  await page.locator(".tl-toolbar").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitemcheckbox", { name: /^Keys as in Perfetto/ }).click();
  await page.mouse.move(2, 2);
  await page.keyboard.press(".");
  await page.waitForSelector(".sel-name");
  await page.keyboard.press("m");
  assert.equal(await model(page, "(m) => m.markers.list.value.length"), 1, "M marks");
  await page.keyboard.press("r");
  await page.waitForSelector(".totals");
  const lanesBefore = await lanes(page);
  await page.keyboard.press("Shift+x");
  assert.notDeepEqual(await lanes(page), lanesBefore);
  await page.keyboard.press("Alt+ArrowLeft");
  assert.deepEqual(await lanes(page), lanesBefore, "Alt+left goes back");
}

async function heights(page) {
  const heightOf = () => page.evaluate(() => {
    const { layout } = document.querySelector(".tl-overlay").timeline.model;
    return layout.lanes.find((lane) => lane.track.path === "r0/python/30965").height;
  });
  const before = await heightOf();
  await menuOf(page, page.locator('.lane[title*="r0/python/30965"]'), /^Height: one row/, "menuitemcheckbox");
  await eventually(async () => assert.ok((await heightOf()) < before, "one row is less"));
  await addressNoted(page);
  assert.ok((await page.evaluate(() => location.hash)).includes("heights="));
  await page.keyboard.press("Backspace");
  await eventually(async () => assert.equal(await heightOf(), before, "undone"));
}

async function ownPreset(page) {
  const more = async (entry) => {
    await page.locator(".tl-toolbar").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: entry, exact: typeof entry === "string" }).click();
  };
  const before = await lanes(page);
  await menuOf(page, page.locator('.lane[title*="r0/cann"]').first(), /^Hide/);
  await eventually(async () => assert.notDeepEqual(await lanes(page), before));
  await more(/^Save lanes as a preset/);
  await page.locator("dialog input").fill("without CANN");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  const kept = await lanes(page);
  await more("Lanes: default");
  await eventually(async () => assert.notDeepEqual(await lanes(page), kept));
  await more("without CANN");
  await eventually(async () => {
    const now = await lanes(page);
    assert.ok(!now.some((path) => path.includes("/cann")), "the group is hidden on every rank");
  });
  await more(/^Delete preset/);
  await more("Lanes: default");
}

/** A lane is dragged to the place of its neighbour, back with the menu, and stays there after a reload. */
async function movedLane(page) {
  const streams = async () => (await lanes(page)).filter((path) => path.startsWith("r0/hw/"));
  const before = await streams();
  const header = (path) => page.locator(`.lane[title*="${path} "]`);
  await header(before[2]).dragTo(header(before[0]));
  const wanted = [before[2], before[0], before[1]];
  await eventually(async () => assert.deepEqual(await streams(), wanted));
  await addressNoted(page);
  await page.reload();
  await timelineReady(page);
  assert.deepEqual(await streams(), wanted, "after a reload");
  await header(before[2]).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Move down" }).click();
  await eventually(async () => assert.deepEqual(await streams(), [before[0], before[2], before[1]]));
  await page.keyboard.press("Backspace");
  await eventually(async () => assert.deepEqual(await streams(), wanted, "and is taken back"));
}

/** Alt and a drag on a rank's header move the rank; the link has its offset. */
async function draggedRank(page) {
  const header = page.locator(".lane.kind-rank").first();
  const box = await header.boundingBox();
  await page.keyboard.down("Alt");
  await page.mouse.move(box.x + 60, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 100, box.y + 8, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Alt");
  await page.waitForFunction(() => /offsets=[^&]*0%3A-\d+/.test(location.hash));
  await page.waitForSelector(".lane-offset");
  const offset = await header.locator(".lane-offset").innerText();
  await timelineReady(page);
  await addressNoted(page);
  await page.reload();
  await timelineReady(page);
  await eventually(async () => assert.equal(await header.locator(".lane-offset").innerText(), offset, "after a reload"));
}

export async function run({ browser, mock }) {
  const server = await mock({ ranks: 2, kernels: 60, streams: 3 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(page);
  await merging(page);
  await naming(page);
  await comparing(page);
  await reloading(page);
  await hiding(page);
  await betweenRanks(page);
  await statistics(page);
  await heights(page);
  await ownPreset(page);
  await draggedRank(page);
  await otherKeys(page);
  await done();
  const plain = await openPage(browser, `${server.url}#/timeline`);
  await timelineReady(plain.page);
  await movedLane(plain.page);
  await plain.done();
}
