// Compiles the unit tests with esbuild and runs them with node --test.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, ".test");
const files = readdirSync(join(root, "tests/unit")).filter((name) => name.endsWith(".test.ts"));
rmSync(out, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: files.map((name) => join("tests/unit", name)),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  loader: { ".css": "empty" },
  define: { PAINT_WORKER: '""' },
  logLevel: "warning",
});
const result = spawnSync(process.execPath, ["--test", out], { stdio: "inherit", cwd: root });
process.exit(result.status ?? 1);
