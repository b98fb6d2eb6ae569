// Records a small training on this machine and walks through every page of it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, openPage, settled, shot, timelineReady } from "./browser.mjs";
import { tour } from "./pages_real.test.mjs";
import { goto, walkBoth } from "./walk.mjs";

export const name = "pages on a recording of our own";
export const needsProgram = true;

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Kernels by the line of the program that launched them, and memory over steps. */
async function places(browser, url) {
  const { page, done } = await openPage(browser, url);
  await timelineReady(page);
  await page.getByRole("button", { name: "Colour ▾", exact: true }).click();
  await page.locator(".menu").getByText("Colour by module", { exact: true }).click();
  await page.waitForSelector(".tl-legend:has-text('LayerNorm')");
  await timelineReady(page);
  await shot(page, "recorded-modules");
  await goto(page, "memory");
  await page.locator(".pick", { hasText: "Group by" }).locator("select").selectOption("Kind");
  await page.waitForSelector(".facts:has-text('Activations'):has-text('Temporary')");
  await shot(page, "recorded-memory-kinds");
  await goto(page, "operators");
  await page.locator(".pick", { hasText: "Group by" }).locator("select").selectOption("own");
  await page.locator("select[aria-label='+ key']").selectOption("python");
  await page.getByRole("button", { name: "Without type" }).click();
  const groups = page.locator(".data-table").first();
  await groups.locator(".tr", { hasText: /train\.py\(\d+\)/ }).first().click();
  await page.waitForSelector(".card:has-text('Operators of'):has-text('train.py(')");
  await settled(page);
  await shot(page, "recorded-python-lines");
  await goto(page, "memory");
  await page.getByRole("tab", { name: "Leak candidates" }).click();
  await page.waitForSelector("figure[aria-label='Held at the end of each step']");
  await settled(page);
  await shot(page, "recorded-memory-growth");
  await done();
}

/** The files name an accelerator, so that every tool reads them; the pages do not. */
async function wordsOfTheHost(browser, url) {
  const { page, done } = await openPage(browser, url);
  await timelineReady(page);
  const lanes = await page.evaluate(() => document.querySelector(".tl-overlay").timeline.model.tree.all.map((track) => track.path && track.name));
  assert.ok(!lanes.some((name) => /Ascend Hardware|CANN/.test(name)), lanes.join("\n"));
  for (const id of ["overview", "timeline", "operators", "memory", "communication", "cluster", "findings"]) {
    await goto(page, id);
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /Ascend Hardware|AI_CORE|torch_npu|\b(NPU:|HCCS|RDMA|SDMA)/, id);
  }
  await done();
}

export async function run({ browser, steplens, view }) {
  const folder = mkdtempSync(join(tmpdir(), "steplens_e2e_"));
  const training = ["/usr/bin/python3", join(root, "examples/train/train.py"), "--steps", "4", "--width", "32", "--length", "16"];
  const switches = ["--profile-step-start", "2", "--profile-step-end", "4", "--profile-with-stack", "--profile-with-memory", "--profile-record-shapes"];
  try {
    const done = spawnSync(steplens, ["record", ...switches, "--profile-save-path", folder, "--", ...training], { encoding: "utf8", timeout: 600_000 });
    assert.ok(done.status === 0 && readdirSync(folder).length > 0, `nothing was recorded (${done.status}): ${done.stdout}${done.stderr}`);
    const server = await view(folder);
    await tour(browser, server.url, "recorded", { access: true });
    await places(browser, server.url);
    await wordsOfTheHost(browser, server.url);
    await walkBoth(browser, server.url, "recorded", { lane: "r0/py/thread", word: "linear" });
    await tour(browser, server.url, "recorded-zh-dark", { dark: true, locale: "zh-CN" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
