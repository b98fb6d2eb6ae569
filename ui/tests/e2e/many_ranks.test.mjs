// A job of 40 ranks: strips of memory, ranks in groups, a communication group pinned on all of its ranks.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { addressNoted, assert, eventually, openPage, shot, timelineReady } from "./browser.mjs";

export const name = "the timeline of many ranks";
export const needsProgram = true;

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const kRanks = 40;

/** Ranks hold the more memory the higher their number. */
function addMemory(folder) {
  for (const each of readdirSync(folder)) {
    const rank = Number(/_1000(\d\d)_/.exec(each)[1]);
    const output = join(folder, each, "ASCEND_PROFILER_OUTPUT");
    const trace = readFileSync(join(output, "trace_view.json"), "utf8");
    const begin = Math.min(...[...trace.matchAll(/"ts":\s*"?([\d.]+)/g)].slice(0, 50).map(([, ts]) => Number(ts)));
    const rows = [0, 1000, 2000].map((us, at) => `PTA,${begin + us},${(rank + 1) * 10 * (at + 1)},${(rank + 1) * 40},${(rank + 1) * 10 * (at + 1)},,NPU:0`);
    writeFileSync(join(output, "memory_record.csv"), ["Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type", ...rows].join("\n") + "\n");
  }
}

const model = (page, what) => page.evaluate(`(${what})(document.querySelector(".tl-overlay").timeline.model)`);

async function fromRanks(page, entry) {
  await page.getByRole("button", { name: "Ranks ▾", exact: true }).click();
  await page.locator(".menu").getByText(entry, { exact: true }).click();
}

const headers = (page) => model(page, "(m) => m.layout.lanes.filter((lane) => lane.track.id < 0).map((lane) => lane.track.name)");
const order = (page) => model(page, "(m) => m.layout.lanes.filter((lane) => lane.track.kind === 'rank').map((lane) => lane.track.rank)");

async function memoryStrips(page) {
  await fromRanks(page, "Rank strips: memory");
  await eventually(async () => assert.equal(await model(page, "(m) => m.stripHigh"), kRanks * 30, "the most that any rank holds"));
  await timelineReady(page);
  const shown = await model(page, "(m) => m.layout.lanes.every((lane) => m.stripTrack(lane.track).kind === 'counter')");
  assert.ok(shown, "every strip is a curve of memory");
  await fromRanks(page, "Sort ranks by memory");
  await eventually(async () => assert.deepEqual((await order(page)).slice(0, 3), [39, 38, 37], "who holds most comes first"));
  await shot(page, "many-memory-strips");
  await fromRanks(page, "Sort ranks by number");
}

async function groups(page) {
  await fromRanks(page, "Group ranks by host");
  await eventually(async () => assert.equal((await headers(page)).length, 5, "8 ranks a host"));
  await fromRanks(page, "Group ranks by pipeline stage (pp)");
  await eventually(async () => assert.deepEqual(await headers(page), ["pp0 · 20", "pp1 · 20"]));
  await fromRanks(page, "Group ranks by tensor parallel group (tp)");
  await eventually(async () => assert.equal((await headers(page)).length, 10, "4 ranks each"));
  await timelineReady(page);
  await shot(page, "many-tp-groups");
  const before = (await order(page)).length;
  await page.locator(".lane.kind-group .lane-open").first().click();
  await eventually(async () => assert.equal((await order(page)).length, before - 4, "a closed group hides its ranks"));
  await addressNoted(page);
  assert.match(await page.evaluate(() => location.hash), /strip=Memory.*group=tp/);
  await page.reload();
  await timelineReady(page);
  await eventually(async () => assert.equal((await headers(page)).length, 10, "a link keeps the groups"));
  await fromRanks(page, "Do not group ranks");
  await eventually(async () => assert.equal((await headers(page)).length, 0));
}

/** Of several communication groups that a rank is in, only one is pinned, on the ranks that are in it. */
async function pinGroup(page) {
  // Its tensor parallel group has most to do.
  const path = await model(page, "(m) => m.tree.all.filter((track) => track.rank === 0 && track.kind === 'slices' && (track.flags & 4) !== 0).sort((a, b) => b.n - a.n)[0].path");
  await addressNoted(page);
  await page.evaluate((lane) => (location.hash += `&lane=${encodeURIComponent(lane)}`), path);
  const header = page.locator(`.lane[title*="${path} "]`).first();
  await header.waitFor();
  await header.click({ button: "right" });
  await page.getByRole("menuitem", { name: /^Pin this communication group/ }).click();
  await eventually(async () => assert.ok((await model(page, "(m) => m.lanes.value.pinned.length")) > 1, "several lanes"));
  const pinned = await model(page, "(m) => m.lanes.value.pinned.map((path) => m.tree.byPath.get(path).rank)");
  assert.deepEqual(pinned.sort((a, b) => a - b), [0, 1, 2, 3], "one lane on each rank of the group");
  await timelineReady(page);
  await shot(page, "many-pinned-group");
}

export async function run({ browser, view }) {
  const folder = mkdtempSync(join(tmpdir(), "steplens_e2e_"));
  try {
    const words = ["--ranks", String(kRanks), "--tp", "4", "--pp", "2", "--steps", "1", "--layers", "1", "--hosts-of", "8", "--timeline", "--force"];
    const made = spawnSync("/usr/bin/python3", [join(root, "tools/synth_cluster.py"), ...words, folder], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    addMemory(folder);
    const server = await view(folder);
    const { page, done } = await openPage(browser, server.url);
    await timelineReady(page);
    await memoryStrips(page);
    await groups(page);
    await pinGroup(page);
    await done();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
