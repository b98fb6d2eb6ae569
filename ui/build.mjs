// Builds the web app into dist/: hashed file names, and beside each text file a gzip copy the server can send as it is.
//   node build.mjs [--watch]     rebuilds on change, without gzip
import { build, context } from "esbuild";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
const watch = process.argv.includes("--watch");

const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: !watch,
  sourcemap: watch,
  outdir: "dist/assets",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  metafile: true,
  logLevel: "warning",
};

/** The worker is built first: the app has to know its name. */
async function buildWorker() {
  const { metafile } = await build({ ...common, entryPoints: { paint: "src/timeline/paint_worker.ts" } });
  return basename(Object.keys(metafile.outputs).find((path) => path.endsWith(".js")));
}

function options(worker) {
  return {
    ...common,
    entryPoints: { app: "src/main.tsx" },
    splitting: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { PAINT_WORKER: JSON.stringify(`./${worker}`) },
  };
}

function walk(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });
}

/** Bytes of what the browser fetches before the first page shows: the entry, its static imports and its css. */
function firstLoad(outputs, entry) {
  const seen = new Set();
  const queue = [entry];
  while (queue.length > 0) {
    const path = queue.pop();
    if (seen.has(path)) continue;
    seen.add(path);
    const output = outputs[path];
    if (output?.cssBundle) queue.push(output.cssBundle);
    for (const used of output?.imports ?? []) if (used.kind === "import-statement") queue.push(used.path);
  }
  return [...seen].reduce((sum, path) => sum + gzipSync(readFileSync(join(root, path))).length, 0);
}

/** The sample capture as one file: texts by path. */
function sample() {
  const folder = join(root, "../examples/sample");
  return JSON.stringify(Object.fromEntries(walk(folder).sort().map((path) => [relative(folder, path), readFileSync(path, "utf8")])));
}

function finish(result) {
  const outputs = result.metafile.outputs;
  const [entry, output] = Object.entries(outputs).find(([, out]) => out.entryPoint === "src/main.tsx");
  const html = readFileSync(join(root, "index.html"), "utf8")
    .replace("@CSS@", `./${relative("dist", output.cssBundle)}`)
    .replace("@JS@", `./${relative("dist", entry)}`);
  mkdirSync(join(dist, "assets"), { recursive: true });
  writeFileSync(join(dist, "index.html"), html);
  cpSync(join(root, "public"), join(dist, "assets"), { recursive: true });
  writeFileSync(join(dist, "assets/sample.json"), sample());
  if (watch) return;
  for (const path of walk(dist)) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  console.log(`first load ${(firstLoad(outputs, entry) / 1024).toFixed(1)} KB gzip`);
}

rmSync(dist, { recursive: true, force: true });
const settings = options(await buildWorker());
if (watch) {
  const plugin = { name: "finish", setup: (b) => b.onEnd((result) => result.metafile && finish(result)) };
  await (await context({ ...settings, plugins: [plugin] })).watch();
} else {
  finish(await build(settings));
}
