// Main-thread time of a frame while panning and zooming: 40 lanes, 1600 px.
import { assert, openPage, timelineReady } from "./browser.mjs";

export const name = "frames stay below 8 ms";

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

export async function run({ browser, mock }) {
  const server = await mock({ ranks: 4, kernels: 1500 });
  const { page, done } = await openPage(browser, `${server.url}#/timeline`, { width: 2010, height: 2400 });
  await timelineReady(page);
  await page.keyboard.press("q");
  await page.waitForTimeout(600);
  const box = await page.locator(".tl-overlay").boundingBox();
  const { lanes, rows } = await page.evaluate(() => {
    const view = document.querySelector(".tl-overlay").timeline;
    view.frame_ms.length = 0;
    const { model } = view;
    const shown = model.layout.lanes.filter((lane) => lane.y < model.scrollY + model.height);
    return {
      lanes: shown.length,
      rows: shown.reduce((sum, lane) => sum + (lane.form === "header" ? 0 : lane.rows), 0),
    };
  });
  assert.ok(lanes >= 40, `${lanes} lanes`);
  const zoomIn = async () => {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let k = 0; k < 4; k++) await page.keyboard.press("w");
    await timelineReady(page);
  };
  const pan = async () => {
    const from = box.x + box.width / 2;
    await page.mouse.move(from, box.y + 300);
    await page.mouse.down({ button: "middle" });
    await page.evaluate(() => (document.querySelector(".tl-overlay").timeline.frame_ms.length = 0));
    for (let k = 0; k < 60; k++) {
      await page.mouse.move(from - 6 * k, box.y + 300);
      await page.waitForTimeout(8);
    }
    await page.mouse.up({ button: "middle" });
    return page.evaluate(() => document.querySelector(".tl-overlay").timeline.frame_ms.slice());
  };
  const zoom = async () => {
    await page.mouse.move(box.x + box.width / 2, box.y + 300);
    await page.evaluate(() => (document.querySelector(".tl-overlay").timeline.frame_ms.length = 0));
    await page.keyboard.down("Control");
    for (let k = 0; k < 40; k++) {
      await page.mouse.wheel(0, k < 20 ? -40 : 40);
      await page.waitForTimeout(8);
    }
    await page.keyboard.up("Control");
    return page.evaluate(() => document.querySelector(".tl-overlay").timeline.frame_ms.slice());
  };
  const whole = await pan();
  const zooming = await zoom();
  await zoomIn();
  const near = await pan();
  for (const [what, times] of [
    ["whole trace", whole],
    ["zooming", zooming],
    ["zoomed in", near],
  ]) {
    const sorted = [...times].sort((a, b) => a - b);
    console.log(
      `    ${what}: ${lanes} lanes, ${rows} rows x ${Math.round(box.width)} px, ${times.length} frames, median ${median(times).toFixed(2)} ms, p95 ${sorted[Math.floor(times.length * 0.95)].toFixed(2)} ms`,
    );
    assert.ok(times.length > 20, "frames were drawn");
    assert.ok(median(times) <= 8, `${what}: median ${median(times)} ms`);
  }
  await done();
}
