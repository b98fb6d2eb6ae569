// Main-thread time of a frame while panning and zooming: 40 lanes, 1600 px, no GPU.
// Two measures: the time our drawing takes in a frame, and the CPU time of the browser's main thread per frame, which has in it what the
// browser does to bring the canvases on screen without a GPU. The gate is the first, the best of three tries: other programs may want the cores.
import { assert, openPage, timelineReady } from "./browser.mjs";

export const name = "frames stay below 8 ms";

const kGate_ms = 8;

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Runs `act` and says what its frames cost. */
async function measure(page, cdp, act) {
  const cpu = async () =>
    (await cdp.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value * 1000;
  await page.evaluate(() => (document.querySelector(".tl-overlay").timeline.frame_ms.length = 0));
  const before = await cpu();
  await act();
  const spent = (await cpu()) - before;
  const drawn = await page.evaluate(() => document.querySelector(".tl-overlay").timeline.frame_ms.slice());
  return { frames: drawn.length, drawing_ms: median(drawn), cpu_ms: spent / drawn.length };
}

export async function run({ browser, mock }) {
  const server = await mock({ ranks: 4, kernels: 1500 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`, { width: 2026, height: 1400 });
  await timelineReady(page);
  await page.keyboard.press("q");
  await page.waitForTimeout(600);
  const box = await page.locator(".tl-overlay").boundingBox();
  const { lanes, rows } = await page.evaluate(() => {
    const { model } = document.querySelector(".tl-overlay").timeline;
    const shown = model.layout.lanes.filter((lane) => lane.y < model.scrollY + model.height);
    return {
      lanes: shown.length,
      rows: shown.reduce((sum, lane) => sum + (lane.form === "header" ? 0 : lane.rows), 0),
    };
  });
  assert.ok(lanes >= 40, `${lanes} lanes`);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const middle = { x: box.x + box.width / 2, y: box.y + 300 };
  const pan = async () => {
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down({ button: "middle" });
    for (let k = 0; k < 60; k++) {
      await page.mouse.move(middle.x - 6 * k, middle.y);
      await page.waitForTimeout(8);
    }
    await page.mouse.up({ button: "middle" });
  };
  const zoom = async () => {
    await page.mouse.move(middle.x, middle.y);
    await page.keyboard.down("Control");
    for (let k = 0; k < 40; k++) {
      await page.mouse.wheel(0, k < 20 ? -40 : 40);
      await page.waitForTimeout(8);
    }
    await page.keyboard.up("Control");
  };
  const best = async (act) => {
    const tries = [];
    for (let k = 0; k < 3 && (tries.at(-1)?.drawing_ms ?? 99) > kGate_ms; k++)
      tries.push(await measure(page, cdp, act));
    return tries.sort((a, b) => a.drawing_ms - b.drawing_ms)[0];
  };
  const results = [["panning, whole trace", await best(pan)]];
  results.push(["zooming", await best(zoom)]);
  for (let k = 0; k < 4; k++) await page.keyboard.press("w");
  await timelineReady(page);
  results.push(["panning, zoomed in", await best(pan)]);
  for (const [what, { frames, drawing_ms, cpu_ms }] of results) {
    console.log(
      `    ${what}: ${lanes} lanes, ${rows} rows x ${Math.round(box.width)} px, ${frames} frames, drawing ${drawing_ms.toFixed(1)} ms (median), main thread ${cpu_ms.toFixed(1)} ms CPU a frame`,
    );
    assert.ok(frames > 15, "frames were drawn");
    assert.ok(drawing_ms <= kGate_ms, `${what}: ${drawing_ms.toFixed(1)} ms a frame`);
  }
  await done();
}
