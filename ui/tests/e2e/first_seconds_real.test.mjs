// What a new user meets first, on captures of an accelerator and of a GPU.
import { assert, eventually, openPage, settled, shot, timelineReady } from "./browser.mjs";

export const name = "the first seconds";
export const needsProgram = true;
export const needsData = true;

const menu = (page) => page.locator(".side-menu button span").allTextContents();

/** Opens on the Overview; the timeline shows the device without scrolling, and no empty panel. */
async function opening(browser, url) {
  const { page, done } = await openPage(browser, url, { asPrinted: true });
  await page.waitForSelector("main[data-page='overview'] .card");
  assert.match(page.url(), /#\/overview\?/);
  assert.ok(!(await menu(page)).includes("Pipeline"), "a pipeline without stages");
  await settled(page);
  await page.getByRole("button", { name: "Timeline", exact: true }).click();
  await timelineReady(page);
  assert.equal(await page.locator(".tl-tab").count(), 0, "the panel is open");
  const groups = await page.locator(".lane.kind-group .lane-name").allTextContents();
  assert.match(groups[0], /Hardware|streams/);
  await shot(page, "first-timeline");
  // Names of rank and group stay while lanes are scrolled.
  await page.locator(".lane-headers").hover();
  await page.mouse.wheel(0, 400);
  await page.waitForSelector(".lane-sticky");
  assert.match(await page.locator(".lane-sticky").textContent(), /^rank 0/);
  await page.mouse.wheel(0, -400);
  // A selection opens the panel; the next one leaves the zoom as it is.
  await page.keyboard.press(".");
  await page.waitForSelector(".sel-name");
  await done();
}

/** A search says which rank a hit is on and keeps the zoom. */
async function searching(browser, url) {
  const { page, done } = await openPage(browser, url);
  await timelineReady(page);
  const span = () => page.evaluate(() => ((view) => Math.round(view.t1 - view.t0))(document.querySelector(".tl-overlay").timeline.model.view));
  const before = await span();
  await page.locator(".tl-search input").fill("allReduce");
  await page.locator(".tl-search input").press("Enter");
  await page.waitForSelector(".tl-place:has-text('rank')");
  assert.equal(await span(), before, "the zoom changed");
  await done();
}

/** Kernels of a GPU have short names that differ, and one unit; calls are a table. */
async function gpu(browser, url) {
  const { page, done } = await openPage(browser, url);
  await timelineReady(page);
  await page.getByRole("tab", { name: "Call tree" }).click();
  await page.waitForSelector(".calls tbody tr");
  await page.getByRole("button", { name: "Bottom-up" }).click();
  await settled(page);
  await shot(page, "first-calls");
  await page.getByRole("button", { name: "Operators", exact: true }).click();
  await eventually(async () => {
    const names = await page.locator(".data-table").first().locator(".tr .td:first-child").allTextContents();
    assert.ok(names.length > 5 && names.every((each) => !each.includes("void ") && !each.includes("at::native")), names.join("\n"));
    assert.equal(new Set(names).size, names.length);
  });
  await shot(page, "first-gpu-operators");
  await done();
}

/** Calls of NCCL: durations, sizes and bandwidths from their arguments. */
async function collectives(browser, url) {
  const { page, done } = await openPage(browser, url.replace("#/?", "#/communication?"));
  await page.waitForSelector(".legend:has-text('not split'), .chart:has-text('not split'), main:has-text('not split')");
  await page.getByRole("tab", { name: "Bandwidth" }).click();
  await page.waitForSelector(".card:has-text('Calls by collective and group') .tr:has-text('allreduce')");
  await settled(page);
  await shot(page, "first-nccl");
  await done();
}

/** The keys are grouped; the open dialog browses. */
async function dialogs(browser, url) {
  const { page, done } = await openPage(browser, url);
  await timelineReady(page);
  await page.keyboard.press("?");
  await page.waitForSelector(".keys th:has-text('Move and zoom')");
  await page.keyboard.press("Escape");
  await page.locator("button.dataset").click();
  await page.getByText("Open another profile").click();
  await page.waitForSelector(".open-form .files li");
  await page.getByRole("button", { name: "Open as baseline" }).waitFor();
  await shot(page, "first-open");
  await done();
}

export async function run({ browser, program }) {
  const ascend = await program("ascend_pt/text/level1");
  await opening(browser, ascend.url);
  await searching(browser, ascend.url);
  await dialogs(browser, ascend.url);
  await gpu(browser, (await program("kineto/hta/ns_resolution_trace")).url);
  await collectives(browser, (await program("kineto/hta/nccl_parser_config")).url);
}
