// Captures of other kinds open, draw lanes and let a slice be selected.
import { assert, openPage, shot, timelineReady } from "./browser.mjs";

export const name = "the timeline on captures of every kind";
export const needsProgram = true;
export const needsData = true;

const captures = [
  "kineto/hta/ns_resolution_trace",
  "kineto/tb_plugin/resnet50_num_workers_0",
  "ascend_pt/db/level1",
  "ascend_small",
];

export async function run({ browser, program }) {
  for (const path of captures) {
    const server = await program(path);
    const { page, done } = await openPage(browser, server.url);
    await timelineReady(page);
    const slices = await page.evaluate(() =>
      document
        .querySelector(".tl-overlay")
        .timeline.model.tree.all.reduce((sum, track) => sum + (track.kind === "slices" ? track.n : 0), 0),
    );
    assert.ok(slices > 10, `${path}: ${slices} slices`);
    await page.keyboard.press(".");
    await page.waitForSelector(".sel-name");
    await shot(page, `capture-${path.replaceAll("/", "-")}`);
    await done();
    server.close();
  }
}
