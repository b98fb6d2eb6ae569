// Runs the end-to-end tests, or with --bench the measurements:  node tests/e2e/run.mjs [--bench] [part of a name]
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, shot, startMock, startProgram } from "./browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const suffix = words.includes("--bench") ? ".bench.mjs" : ".test.mjs";
const wanted = words.find((word) => !word.startsWith("-")) ?? "";
const program = process.env.STEPLENS ?? "";
const data = process.env.DATA ?? join(here, "../../../../shared/data");
const browser = await launch();
let failed = 0;
for (const file of readdirSync(here)
  .filter((each) => each.endsWith(suffix) && each.includes(wanted))
  .sort()) {
  const test = await import(join(here, file));
  const servers = [];
  const kept = async (starting) => (servers.push(await starting), servers.at(-1));
  const context = {
    browser,
    mock: (shape) => kept(startMock(shape)),
    program: (path) => kept(startProgram(program, join(data, path))),
    steplens: program,
    view: (path) => kept(startProgram(program, path)),
    viewRoot: (path) => kept(startProgram(program, "--root", path)),
  };
  const missing = test.needsProgram && !program ? "STEPLENS is not set" : test.needsData && !existsSync(data) ? `${data} is not on this machine` : "";
  if (missing) {
    console.log(`skip ${test.name}: ${missing}`);
    continue;
  }
  try {
    await test.run(context);
    console.log(`ok   ${test.name}`);
  } catch (error) {
    failed++;
    const pages = browser.contexts().flatMap((open) => open.pages());
    for (const page of pages) await shot(page, `failed-${file}`);
    console.log(`FAIL ${test.name} (see shots/failed-${file}.png)\n${error.stack}`);
  }
  for (const server of servers) server.close();
  for (const context of browser.contexts()) await context.close();
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
