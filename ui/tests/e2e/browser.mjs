// A browser, a server and small helpers for the end-to-end tests.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startMock } from "../mock_server.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const shots = join(root, "shots");

/** How long anything may take. Nobody waits that long; the machine may have other things to do. */
const kPatience_ms = Number(process.env.PATIENCE_MS ?? 120_000);

/** Starts `steplens view WORDS...`; resolves to {url, close}. */
export function startProgram(program, ...words) {
  const child = spawn(program, ["view", ...words, "--no-browser", "--assets", join(root, "dist")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (part) => {
      text += part;
      // Only a whole line: the address may come in pieces.
      const url = /(https?:\/\/\S+)\s/.exec(text);
      if (url) resolve({ url: url[1], close: () => child.kill("SIGTERM") });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`${program} ended with ${code}: ${text}`)));
    setTimeout(() => reject(new Error(`no address: ${text}`)), kPatience_ms).unref();
  });
}

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: kPatience_ms,
  });
}

/** Requests of a page that were not answered yet, by page. */
const unanswered = new WeakMap();

/** Never told to be over: the stream of events, and the script of a painting worker whose timeline was left before it came. */
const kNeverOver = /\/events$|\/paint-\w+\.js$/;

function countRequests(page) {
  const open = new Set();
  unanswered.set(page, open);
  page.on("request", (request) => kNeverOver.test(request.url()) || open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
}

/** Calls `check` until it does not throw; its last error is the test's if it never stops. */
export async function eventually(check) {
  const end = Date.now() + kPatience_ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Three frames of the page: what was changed is drawn. */
async function frames(page) {
  await page.evaluate(async () => {
    for (let k = 0; k < 3; k++) await new Promise((resolve) => requestAnimationFrame(resolve));
  });
}

/** Waits until the page shows what it was told: no request is on its way, nothing is loading, everything is drawn. */
export async function settled(page) {
  const idle = () => assert.equal(unanswered.get(page).size, 0, [...unanswered.get(page)].map((each) => each.url()).join(" "));
  await eventually(async () => {
    idle();
    await frames(page);
    assert.equal(await page.locator(".spinner").count(), 0, "something is loading");
    idle();
  });
}

/** Waits until the address says what the timeline shows. */
export async function addressNoted(page) {
  await page.waitForFunction(() => document.querySelector(".tl-overlay")?.timeline?.model.addressIsNoted);
}

/** Cookies by server: the token in an address serves once, and tests open many browsers. */
const logins = new Map();

/** The address with the timeline as its page, where it names none: most tests begin there. */
function atTimeline(url) {
  if (/#\/\?/.test(url)) return url.replace("#/?", "#/timeline?");
  return url.includes("#") ? url : `${url}#/timeline`;
}

/** A page whose console errors fail the test; `done()` checks them. `asPrinted` opens what the program printed, on whatever page that is. */
export async function openPage(browser, url, { width = 1280, height = 800, dark = false, locale = "en-US", asPrinted = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    locale,
    acceptDownloads: true,
  });
  const server = new URL(url).searchParams.get("token") ?? "";
  await context.addCookies(logins.get(server) ?? []);
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience_ms);
  countRequests(page);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(asPrinted ? url : atTimeline(url));
  await page.waitForSelector(".app");
  logins.set(server, await context.cookies());
  const done = async () => {
    await context.close();
    assert.deepEqual(errors, [], "console errors");
  };
  return { page, done };
}

/** Waits until the timeline has drawn lanes, no tile is on its way and the view rests. */
export async function timelineReady(page) {
  await page.waitForSelector(".tl-overlay");
  await page.waitForFunction(() => {
    const view = document.querySelector(".tl-overlay")?.timeline;
    return view && view.frame_ms.length > 0 && !view.model.loader.busy && view.model.layout.lanes.length > 0;
  });
  await settled(page);
  const view = () => page.evaluate(() => ({ ...document.querySelector(".tl-overlay").timeline.model.view }));
  await eventually(async () => {
    const before = await view();
    await frames(page);
    assert.deepEqual(await view(), before, "the view moves");
  });
}

/** Where a slice of a lane is on the page: the middle of the widest one on screen. */
export async function slicePlace(page, lanePath) {
  return page.evaluate((path) => {
    const { model } = document.querySelector(".tl-overlay").timeline;
    const lane = model.layout.lanes.find((each) => each.track.path === path || each.track.path.includes(path));
    // Lanes of the host stand below those of the device: they may have to be scrolled to.
    if (!lane.pinned && (lane.y < model.scrollY || lane.y + 40 > model.scrollY + model.scrollHeight)) model.setScroll(lane.y - 60);
    const box = document.querySelector(".tl-overlay").getBoundingClientRect();
    const scale = model.scale();
    let best = null;
    for (
      let index = Math.max(0, Math.floor(scale.t0 / (1024 * 2 ** scale.level)));
      index * 1024 * 2 ** scale.level < model.view.t1;
      index++
    ) {
      const tile = model.cache.get(lane.track.id, scale.level, index);
      const row = tile?.kind === "slices" ? tile.rows[0] : null;
      for (let k = 0; row && k < row.n; k++) {
        const begin = (index * 1024 + row.x0[k]) * 2 ** scale.level;
        const end = (index * 1024 + row.x1[k]) * 2 ** scale.level;
        const x0 = Math.max(0, model.xOf(begin));
        const x1 = Math.min(model.width, model.xOf(end));
        if (!best || x1 - x0 > best.width) best = { width: x1 - x0, x: box.left + (x0 + x1) / 2 };
      }
    }
    if (!best) return null;
    const top = lane.pinned ? lane.y : lane.y - model.scrollY + model.pinnedShown;
    return { x: best.x, y: box.top + top + 2 + lane.rowHeight / 2 };
  }, lanePath);
}

export async function shot(page, name) {
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

export { assert, startMock };
