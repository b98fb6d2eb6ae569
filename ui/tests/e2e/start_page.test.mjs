// The page without a capture: the sample, and files and paths that are dropped on it.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, eventually, openPage, shot, timelineReady } from "./browser.mjs";

export const name = "the page without a capture";
export const needsProgram = true;

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

const trace = JSON.stringify(Array.from({ length: 20 }, (_, at) => ({ ph: "X", name: "dropped", pid: 1, tid: 1, ts: at * 10, dur: 5 })));

/** Drops something on the page, as a browser would. */
async function drop(page, { file, text }) {
  await page.evaluate(
    ({ file, text }) => {
      const data = new DataTransfer();
      if (file) data.items.add(new File([file], "my trace.json"));
      if (text) data.setData("text/plain", text);
      document.querySelector("main.start").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    },
    { file, text },
  );
  await timelineReady(page);
}

const slices = (page) => page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.tree.all.reduce((sum, track) => sum + (track.kind === "slices" ? track.n : 0), 0));

async function dropped(browser, url, what, options, least) {
  const { page, done } = await openPage(browser, url, options);
  await page.waitForSelector("main.start form");
  await shot(page, `start-${options.locale ?? "en"}`);
  await drop(page, what);
  assert.ok((await slices(page)) >= least, "what was dropped is open");
  await done();
}

export async function run({ browser, viewRoot }) {
  await dropped(browser, (await viewRoot(root)).url, { file: trace }, {}, 20);
  await dropped(browser, (await viewRoot(root)).url, { text: join(root, "examples/sample") }, { dark: true, locale: "zh-CN" }, 100);
  const { page, done } = await openPage(browser, (await viewRoot(root)).url);
  await page.locator("main.start form button").last().click();
  await timelineReady(page);
  await eventually(async () => assert.equal(await page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.tree.roots.length), 2, "the sample has two ranks"));
  await shot(page, "start-sample");
  await done();
}
