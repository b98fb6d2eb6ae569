// Main-thread time of a frame while panning and zooming: 40 lanes, 1600 px, no GPU.
// Three measures: the time our drawing takes in a frame; from a trace of the browser, what its main thread does in a frame altogether (median, wall and
// CPU); and CPU time over all tasks divided by frames, which has in it what happens between frames. The gate is on the first and on the CPU of the
// second, the best of some tries: other programs may want the cores.
import { assert, openPage, timelineReady } from "./browser.mjs";
import { frameTimes } from "./main_thread.mjs";

export const name = "frames stay below 8 ms";

const kGate_ms = 8;
const kTries = 5;

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Runs `act` twice and says what its frames cost: with counters alone, then traced, which costs something itself. */
async function measure(browser, page, cdp, act) {
  const cpu = async () =>
    (await cdp.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value * 1000;
  await page.evaluate(() => (document.querySelector(".tl-overlay").timeline.frame_ms.length = 0));
  const before = await cpu();
  await act();
  const spent = (await cpu()) - before;
  const drawn = await page.evaluate(() => document.querySelector(".tl-overlay").timeline.frame_ms.slice());
  const traced = await frameTimes(browser, act);
  return {
    frames: drawn.length,
    drawing_ms: median(drawn),
    all_ms: spent / drawn.length,
    wall_ms: median(traced.map((frame) => frame.wall_ms)),
    cpu_ms: median(traced.map((frame) => frame.cpu_ms)),
  };
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
    for (let k = 0; k < kTries && (tries.at(-1)?.cpu_ms ?? 99) > kGate_ms; k++)
      tries.push(await measure(browser, page, cdp, act));
    return tries.sort((a, b) => a.cpu_ms - b.cpu_ms)[0];
  };
  const results = [["panning, whole trace", await best(pan)]];
  results.push(["zooming", await best(zoom)]);
  for (let k = 0; k < 4; k++) await page.keyboard.press("w");
  await timelineReady(page);
  results.push(["panning, zoomed in", await best(pan)]);
  const slow = [];
  for (const [what, { frames, drawing_ms, all_ms, wall_ms, cpu_ms }] of results) {
    const [drawing, all, wall, cpu] = [drawing_ms, all_ms, wall_ms, cpu_ms].map((ms) => ms.toFixed(1));
    console.log(
      `    ${what}: ${lanes} lanes, ${rows} rows x ${Math.round(box.width)} px, ${frames} frames, drawing ${drawing} ms (median), ` +
        `main thread by the trace ${cpu} ms CPU, ${wall} ms wall (median), all tasks ${all} ms CPU a frame`,
    );
    assert.ok(frames > 15, "frames were drawn");
    assert.ok(cpu_ms > 0, "the trace has tasks");
    if (drawing_ms > kGate_ms) slow.push(`${what}: drawing takes ${drawing} ms a frame`);
    if (cpu_ms > kGate_ms) slow.push(`${what}: the main thread takes ${cpu} ms a frame`);
  }
  assert.deepEqual(slow, []);
  await done();
}
