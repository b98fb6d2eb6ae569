// Memory of the page after a long walk through a large job: `JOB=/path/to/job` names one (bench/viewer.py --keep makes 10 M slices on 64 ranks).
// Measured is the renderer's process: its share of what is mapped by several and all that it alone has (PSS).
import { readFileSync } from "node:fs";
import { openBare } from "./bare_browser.mjs";
import { assert } from "./browser.mjs";

export const name = "the page needs less than 350 MB";
export const needsProgram = true;

const kBudget_MB = 350;
const kWalks = 4;

function processMemory(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const MB = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)[1]) / 1024;
  return { pss: MB("Pss"), anonymous: MB("Anonymous") };
}

/** Of all renderers the largest: the page's. */
async function measure(page) {
  const all = (await page.renderers()).map(processMemory);
  const tiles = await page.evaluate('document.querySelector(".tl-overlay").timeline.model.cache.size_bytes');
  return { ...all.sort((a, b) => b.pss - a.pss)[0], tiles: tiles / 2 ** 20 };
}

// These two run in the page.
async function ready() {
  const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const isRead = () => document.querySelector(".tl-overlay")?.timeline?.model.meta.ready;
  for (let k = 0; k < 600 && !isRead(); k++) await rest(200);
  const { model } = document.querySelector(".tl-overlay").timeline;
  model.changeLanes({ opened: new Set(model.tree.all.map((track) => track.path)), closed: new Set() });
  await rest(1500);
}

/** Zooms in and out at ten places of the tree, moving about as it goes. */
async function walk() {
  const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const { model } = document.querySelector(".tl-overlay").timeline;
  const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, code: `Key${key.toUpperCase()}` }));
  for (let round = 0; round < 10; round++) {
    model.setScroll((model.layout.height * round) / 10);
    for (const key of "wwwwddwwdwwawwdd") {
      press(key);
      await rest(60);
    }
    dispatchEvent(new KeyboardEvent("keydown", { key: "Home", code: "Home" }));
    await rest(150);
  }
}

export async function run({ view }) {
  const job = process.env.JOB;
  if (!job) return console.log("    JOB is not set: nothing measured");
  const server = await view(job);
  const page = await openBare(server.url, 2026, 1400);
  const seen = [];
  try {
    // The address with the token leads to another one.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await page.evaluate(`(${ready})()`);
    seen.push(await measure(page));
    for (let k = 0; k < kWalks; k++) {
      await page.evaluate(`(${walk})()`);
      seen.push(await measure(page));
    }
  } finally {
    await page.close();
  }
  const text = seen.map(
    ({ pss, anonymous, tiles }) => `${pss.toFixed(0)} (own ${anonymous.toFixed(0)}, tiles ${tiles.toFixed(0)})`,
  );
  console.log(`    MB at first and after each of ${kWalks} walks: ${text.join(", ")}`);
  assert.ok(Math.max(...seen.map((each) => each.tiles)) > 20, "the walks loaded tiles");
  assert.ok(Math.max(...seen.map((each) => each.pss)) < kBudget_MB, "above the budget");
}
