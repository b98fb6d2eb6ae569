// Pictures of every page of captures, to be looked at after a change of layout:
//   STEPLENS=build/steplens node tests/e2e/sheets.mjs [--pages=overview,timeline] [--only=zh] NAME=PATH ...
// Each capture is shown at 1280x800 and 1920x1080, light and dark, in English and Chinese. The pictures go to shots/sheets/, with one
// contact sheet per capture, size and language; texts that are cut, keys without a text and console errors are listed on stdout.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { launch, openPage, settled, shots, startProgram, timelineReady } from "./browser.mjs";
import { goto } from "./walk.mjs";

const kPages = ["overview", "timeline", "selection", "operators", "memory", "communication", "cluster", "pipeline", "rl", "findings", "compare", "sql", "data"];
const kSizes = [
  [1280, 800],
  [1920, 1080],
];
const kLooks = [
  { tag: "en", locale: "en-US", dark: false },
  { tag: "en-dark", locale: "en-US", dark: true },
  { tag: "zh", locale: "zh-CN", dark: false },
  { tag: "zh-dark", locale: "zh-CN", dark: true },
];
const folder = join(shots, "sheets");

const words = process.argv.slice(2);
const option = (name) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const wantedPages = option("pages")?.split(",") ?? kPages;
const wantedLooks = option("only")?.split(",") ?? kLooks.map((look) => look.tag);
const captures = words.filter((word) => !word.startsWith("--")).map((word) => word.split("="));

/** Words that stick out of their box without an ellipsis, and controls that lie on each other. */
async function blemishes(page) {
  return page.evaluate(() => {
    const found = [];
    const shown = (box) => box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight;
    for (const each of document.querySelectorAll("main *, header *, nav *, footer *")) {
      const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
      const box = each.getBoundingClientRect();
      if (!own || !shown(box)) continue;
      const style = getComputedStyle(each);
      const hides = style.overflowX === "hidden" || style.overflowX === "clip";
      if (hides && style.textOverflow !== "ellipsis" && each.scrollWidth > each.clientWidth + 1) found.push(`cut: ${each.textContent.slice(0, 60)}`);
      const scrolls = each.closest(".tgrid, .data-table, .popover, [hidden]") !== null;
      if (!scrolls && style.visibility !== "hidden" && box.right > innerWidth + 1) found.push(`outside: ${each.textContent.slice(0, 60)}`);
    }
    if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`page is ${document.documentElement.scrollWidth} px wide`);
    return [...new Set(found)].slice(0, 8);
  });
}

async function open(page, id) {
  if (id !== "selection") {
    await goto(page, id);
    if (id === "timeline" && (await page.locator(".tl-overlay").count()) > 0) await timelineReady(page);
    return true;
  }
  if ((await page.locator(".tl-overlay").count()) === 0) return false;
  await page.locator(".tl-overlay").focus();
  await page.keyboard.press(".");
  await page.waitForSelector(".sel-name", { timeout: 5000 });
  await settled(page);
  return true;
}

async function pictures(browser, url, tag, look, [width, height]) {
  const { page, done } = await openPage(browser, url, { width, height, dark: look.dark, locale: look.locale, asPrinted: true });
  page.setDefaultTimeout(20_000);
  const taken = [];
  for (const id of wantedPages) {
    try {
      if (!(await open(page, id))) continue;
      await page.mouse.move(width - 4, height - 4);
      const file = `${tag}-${width}-${look.tag}-${id}.png`;
      await page.screenshot({ path: join(folder, file) });
      taken.push({ id, file });
      for (const blemish of await blemishes(page)) console.log(`${tag} ${width} ${look.tag} ${id}: ${blemish}`);
    } catch (error) {
      console.log(`${tag} ${width} ${look.tag} ${id}: ${String(error).split("\n")[0]}`);
    }
  }
  await done().catch((error) => console.log(`${tag} ${width} ${look.tag}: ${error.message}`));
  return taken;
}

/** One picture of many: two columns, so that words can still be read. */
async function sheet(browser, name, taken) {
  const cell = ({ id, file }) =>
    `<figure><figcaption>${id}</figcaption><img src="data:image/png;base64,${readFileSync(join(folder, file)).toString("base64")}"></figure>`;
  const html = `<style>body{margin:8px;background:#777;display:grid;grid-template-columns:1fr 1fr 1fr;gap:8px;font:14px sans-serif}
    figure{margin:0}img{width:100%}</style>${taken.map(cell).join("")}`;
  const page = await browser.newPage({ viewport: { width: 2400, height: 800 } });
  await page.setContent(html);
  await page.screenshot({ path: join(folder, `sheet-${name}.png`), fullPage: true });
  await page.close();
}

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [tag, path] of captures) {
  const server = await startProgram(process.env.STEPLENS, path);
  for (const size of kSizes)
    for (const look of kLooks.filter((each) => wantedLooks.includes(each.tag)))
      await sheet(browser, `${tag}-${size[0]}-${look.tag}`, await pictures(browser, server.url, tag, look, size));
  server.close();
}
await browser.close();
