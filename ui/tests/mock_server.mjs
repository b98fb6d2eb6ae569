// Serves dist/ and a generated dataset behind the app's HTTP API.
//   node tests/mock_server.mjs [--port 8123] [--ranks 2] [--kernels 400]
import { readFileSync, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import * as answers from "./mock/answers.mjs";
import { lanes, merge } from "./mock/lanes.mjs";
import { Dataset } from "./mock/dataset.mjs";
import { encodeTiles } from "./mock/tiles.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

function route(dataset, method, path, url, body) {
  const rest = path.replace(/^\/api\/v1/, "");
  const own = rest.replace(`/ds/${dataset.ds}`, "");
  const number = (name) => Number(url.searchParams.get(name));
  switch (`${method} ${own}`) {
    case "GET /info":
      return {
        version: "mock",
        datasets: [{ ds: dataset.ds, name: "mock job", path: "/mock", ready: true }],
        roots: [],
        limits: { tiles: 256, rows: 1000 },
      };
    case "GET ":
      return answers.meta(dataset);
    case "GET /tracks":
      return answers.tracks(dataset);
    case "POST /tiles":
      return encodeTiles(dataset, body.keys);
    case "POST /strings":
      return { strings: Object.fromEntries(body.ids.map((id) => [id, dataset.strings[id]])) };
    case "GET /strings":
      return { strings: Object.fromEntries(dataset.strings.entries()) };
    case "GET /slice":
      return answers.slice(dataset, number("track"), number("i"));
    case "GET /at":
      return answers.at(dataset, number("track"), number("row"), number("t"), number("w"));
    case "POST /range":
      return answers.range(dataset, body);
    case "POST /search":
      return answers.search(dataset, body);
    case "POST /next":
      return answers.next(dataset, body);
    case "POST /hist":
      return answers.hist(dataset, body);
    case "POST /flows":
      return answers.flows(dataset, body);
    case "POST /lanes":
      return lanes(dataset, body);
    case "POST /merge":
      return merge(dataset, body);
    case "POST /table":
      return body.source === "events" ? answers.events(dataset, body) : null;
    case "POST /metric":
      return answers.metric(dataset, body);
    case "POST /align":
      return {
        align: body.mode === "reset" ? 0 : 1,
        offsets: body.mode === "manual" ? { 0: 0, 1: 0, ...body.offsets } : { 0: 0, 1: -1200 },
        residual_ns: body.mode === "manual" ? {} : { 0: 0, 1: 300 },
        failed: {},
      };
    case "POST /explain":
      return {
        title: { key: "gap.title", args: { time: "1.8 ms" }, text: "1.8 ms without a task" },
        items: [{ text: "host-bound: aten::item", share: 0.8, ns: 1440000 }],
        verdict: { text: "The host did not queue work." },
      };
    case "POST /focus":
      return {};
    default:
      return null;
  }
}

function sendFile(path, response) {
  const file = normalize(join(dist, path === "/" ? "index.html" : path));
  if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
  response.writeHead(200, {
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
    "Content-Security-Policy": "default-src 'self'",
  });
  return response.end(readFileSync(file));
}

function sendAnswer(answer, response) {
  if (answer === null) {
    response.writeHead(404, { "Content-Type": "application/json" });
    return response.end(
      JSON.stringify({ error: { code: "not_found", message: "the mock server has no answer to this", hint: "" } }),
    );
  }
  const binary = answer instanceof Uint8Array;
  response.writeHead(200, { "Content-Type": binary ? "application/octet-stream" : "application/json" });
  return response.end(binary ? answer : JSON.stringify(answer));
}

/** Starts a server; resolves to {url, close}. Port 0 takes a free one. */
export function startMock({ port = 0, ...shape } = {}) {
  const dataset = new Dataset(shape);
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (!url.pathname.startsWith("/api/")) return sendFile(url.pathname, response);
    if (url.pathname.endsWith("/events")) {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      return response.write(": hello\n\n");
    }
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () =>
      sendAnswer(route(dataset, request.method, url.pathname, url, text ? JSON.parse(text) : {}), response),
    );
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${server.address().port}/`,
        dataset,
        close: () => (server.closeAllConnections(), server.close()),
      });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(`--${name}`) + 1] || otherwise);
  const has = (name) => process.argv.includes(`--${name}`);
  const { url } = await startMock({
    port: has("port") ? option("port") : 8123,
    ranks: has("ranks") ? option("ranks") : 2,
    kernels: has("kernels") ? option("kernels") : 400,
  });
  console.log(url);
}
