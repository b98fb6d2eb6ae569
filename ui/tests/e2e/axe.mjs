// Accessibility rules (axe-core) on what is on screen: nothing serious or critical may be found.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { assert } from "./browser.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function checkAccess(page, what) {
  // Evaluated by the debugger, so the page's content security policy stays as it is.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map((node) => node.target.join(" "))
            .join(", ")} (${nodes.length})`,
      );
  });
  assert.deepEqual(found, [], `${what}: accessibility`);
}
