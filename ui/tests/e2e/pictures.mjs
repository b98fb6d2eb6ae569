// Takes the pictures of the README from a recording:  STEPLENS=build/steplens node tests/e2e/pictures.mjs RECORDING FOLDER
import { join } from "node:path";
import { launch, openPage, slicePlace, startProgram, timelineReady } from "./browser.mjs";

const [recording, folder] = process.argv.slice(2);
const browser = await launch();
const server = await startProgram(process.env.STEPLENS, recording);
const { page, done } = await openPage(browser, server.url, { width: 1360, height: 820 });

async function picture(id) {
  await page.mouse.move(700, 815);
  await page.waitForTimeout(1500);
  await page.waitForFunction(() => !document.querySelector(".toast"));
  await page.screenshot({ path: join(folder, `${id}.png`) });
}

await timelineReady(page);
for (const id of ["overview", "operators", "memory", "communication"]) {
  await page.evaluate((target) => (location.hash = location.hash.replace(/^#\/\w*/, `#/${target}`)), id);
  await page.waitForFunction(() => !document.querySelector(".page .spinner"));
  await picture(id);
}
await page.evaluate(() => (location.hash = location.hash.replace(/^#\/\w*/, "#/timeline")));
await timelineReady(page);
for (let k = 0; k < 2; k++) {
  await page.keyboard.press("n");
  await timelineReady(page);
}
const place = await slicePlace(page, "r0/hw/");
await page.mouse.click(place.x, place.y);
await page.waitForSelector(".sel-name");
await picture("timeline");
await done();
server.close();
await browser.close();
