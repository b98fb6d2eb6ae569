// The event table and the exports on a real capture.
import { readFileSync } from "node:fs";
import { assert, eventually, openPage, shot, slicePlace, timelineReady } from "./browser.mjs";

export const name = "tables and exports on a real capture";
export const needsProgram = true;
export const needsData = true;

const cells = (page, column) => page.locator(`.tr .td:nth-child(${column})`).allInnerTexts();

async function download(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

async function sortAndFilter(page) {
  const all = await page.locator(".tfoot span").first().innerText();
  await page.locator(".th-name", { hasText: "Duration" }).click();
  await eventually(async () => {
    const durations = (await cells(page, 3)).map(Number);
    const sorted = [...durations].sort((a, b) => b - a);
    assert.ok(durations.length > 5 && durations[0] > durations.at(-1), "rows of different length");
    assert.deepEqual(durations, sorted, "longest first");
  });
  await page.locator(".th-filter").first().click();
  await page.locator(".popover input").fill("aten::");
  await page.keyboard.press("Enter");
  await eventually(async () => {
    const names = await cells(page, 1);
    assert.ok(names.length > 0 && names.every((text) => text.includes("aten::")));
    assert.notEqual(await page.locator(".tfoot span").first().innerText(), all, "fewer rows");
  });
  await shot(page, "real-table");
}

/** Columns are hidden and grouped by; a group is looked into; the table is saved in other forms. */
async function columnMenu(page) {
  const menu = async (column, entry) => {
    await page.locator(".th", { hasText: column }).click({ button: "right" });
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await menu("Category", "Hide this column");
  await eventually(async () => assert.equal(await page.locator(".th", { hasText: "Category" }).count(), 0));
  await menu("Name", "Group by this column");
  await page.locator(".tfoot", { hasText: "grouped by" }).waitFor();
  await eventually(async () => {
    const counts = (await cells(page, 2)).map(Number);
    assert.ok(counts.length > 5 && counts.every((count) => count >= 1), "how many there are of each");
  });
  const group = page.locator(".tr", { hasText: "aten::" }).first();
  const name = await group.locator(".td").first().innerText();
  const count = Number(await group.locator(".td").nth(1).innerText());
  await group.dblclick();
  await eventually(async () => {
    const names = await cells(page, 1);
    assert.ok(names.length > 0 && names.every((text) => text === name), "the rows of the group");
    assert.match(await page.locator(".tfoot span").first().innerText(), new RegExp(`^${count} of`));
  });
  const tsv = await download(page, async () => {
    await page.locator(".tr").first().click({ button: "right" });
    await page.getByRole("menuitem", { name: "Save the table as TSV" }).click();
  });
  assert.equal(tsv.bytes.toString("utf8").trim().split("\n").length, count + 1, "the rows that are left, and a header");
  assert.ok(tsv.bytes.toString("utf8").includes("\t"));
}

async function tableKeys(page) {
  await page.locator(".tbody").focus();
  await page.keyboard.press("End");
  await eventually(async () => assert.equal(await page.locator(".tr.cursor").count(), 1, "End shows the last row"));
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".sel-name");
  assert.match(await page.locator(".sel-name").innerText(), /aten::/, "Enter jumps to the timeline");
}

export async function run({ browser, program }) {
  const server = await program("ascend_pt/text/level1");
  const { page, done } = await openPage(browser, server.url);
  await timelineReady(page);
  const place = await slicePlace(page, "r0/py/thread");
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector(".sel-name");
  await page.getByRole("tab", { name: "Events", exact: true }).click();
  await page.waitForSelector(".tr");
  await sortAndFilter(page);
  const csv = await download(page, () => page.getByRole("button", { name: "Save as CSV" }).click());
  assert.match(csv.name, /\.csv$/);
  const lines = csv.bytes.toString("utf8").trim().split(/\r?\n/);
  assert.ok(
    lines.length > 100 && lines.slice(1).every((line) => line.includes("aten::")),
    "the csv has the filtered rows",
  );
  await columnMenu(page);
  await tableKeys(page);
  const more = async (label) => {
    await page.locator('[aria-label="More"]').click();
    await page.getByRole("menuitem", { name: label }).click();
  };
  const picture = await download(page, () => more("Save as picture"));
  assert.deepEqual([...picture.bytes.subarray(1, 4)], [0x50, 0x4e, 0x47], "a png");
  const viewFile = await download(page, () => more("Save view file"));
  assert.equal(JSON.parse(viewFile.bytes.toString("utf8")).steplens, "view");
  const snapshot = await download(page, () => more("Save as HTML snapshot"));
  assert.match(snapshot.bytes.toString("utf8").slice(0, 100), /<!doctype html>/i);
  await done();
}
