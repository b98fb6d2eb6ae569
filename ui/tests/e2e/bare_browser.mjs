// A browser that is only told what to run: playwright keeps the body of every answer in the page's process, which would be measured with it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Opens `url` in a window of that size. `evaluate` runs an expression and awaits it; `renderers` are process ids. */
export async function openBare(url, width, height) {
  const profile = mkdtempSync(join(tmpdir(), "steplens_bare_"));
  const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"];
  const child = spawn(
    program,
    [...flags, `--user-data-dir=${profile}`, `--window-size=${width},${height}`, "about:blank"],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    },
  );
  const waiting = new Map();
  let last = 0;
  let text = "";
  child.stdio[4].on("data", (part) => {
    const messages = (text + part).split("\0");
    text = messages.pop();
    for (const { id, result, error } of messages.map((each) => JSON.parse(each))) {
      const { resolve, reject } = waiting.get(id) ?? {};
      if (error) reject?.(new Error(error.message));
      else resolve?.(result);
      waiting.delete(id);
    }
  });
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  const { targetId } = await send("Target.createTarget", { url });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  return {
    async evaluate(expression) {
      const params = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send("Runtime.evaluate", params, sessionId);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async renderers() {
      const { processInfo } = await send("SystemInfo.getProcessInfo");
      return processInfo.filter((each) => each.type === "renderer").map((each) => each.id);
    },
    async close() {
      const gone = new Promise((resolve) => child.on("exit", resolve));
      await send("Browser.close").catch(() => undefined);
      await gone;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
