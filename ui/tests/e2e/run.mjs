// Runs the end-to-end tests, or with --bench the measurements:  node tests/e2e/run.mjs [--bench] [part of a name]
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, startMock, startProgram } from "./browser.mjs";

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
  };
  const missing = test.needsProgram && !program ? "STEPLENS is not set" : test.needsData && !existsSync(data) ? `${data} is not on this machine` : "";
  if (missing) {
    console.log(`skip ${test.name}: ${missing}`);
    continue;
  }
  // A browser on a busy machine may lose an event: a test that fails is tried once more, and says so.
  for (let attempt = 1; attempt <= 2; attempt++) {
    try {
      await test.run(context);
      console.log(`ok   ${test.name}${attempt > 1 ? " (second try)" : ""}`);
      break;
    } catch (error) {
      if (attempt === 2) failed++;
      console.log(`${attempt === 2 ? "FAIL" : "again"} ${test.name}\n${error.stack}`);
      for (const open of browser.contexts()) await open.close();
    }
  }
  for (const server of servers) server.close();
  for (const context of browser.contexts()) await context.close();
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
