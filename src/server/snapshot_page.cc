#include "server/snapshot_page.h"

namespace steplens::server {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; font: 13px system-ui, sans-serif; }
body { margin: 0; display: flex; flex-direction: column; height: 100vh; }
header { padding: 6px 10px; display: flex; gap: 16px; flex-wrap: wrap; border-bottom: 1px solid #8884; }
h1 { font-size: 14px; margin: 0; }
main { flex: 1; overflow-y: auto; position: relative; }
canvas { display: block; width: 100%; touch-action: none; }
#tip { position: fixed; pointer-events: none; background: Canvas; color: CanvasText; border: 1px solid #8888; border-radius: 4px;
  padding: 4px 8px; display: none; max-width: 60ch; overflow-wrap: anywhere; }
</style></head><body>
<header><h1 id="title"></h1><span id="range"></span><span>wheel: zoom, drag: move, double click: all</span></header>
<main><canvas id="view" tabindex="0" aria-label="timeline"></canvas></main><div id="tip" role="status"></div>
<script type="application/json" id="data">)";

constexpr std::string_view kScript = R"(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("view"), tip = document.getElementById("tip");
const context = canvas.getContext("2d"), rowHeight = 18, laneGap = 6, labelWidth = 220;
let from = data.t0, to = data.t1, drag = null;
document.getElementById("title").textContent = data.title;
document.title = data.title;
const hues = data.names.map((name) => {
  let hash = 0;
  for (const c of name.replace(/\d+$/, "")) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
  return `hsl(${hash % 360} 55% ${45 + (hash >> 9) % 20}%)`;
});
const time = (ns) => ns >= 1e9 ? (ns / 1e9).toFixed(6) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(3) + " us";
function layout() {
  let y = 24;
  for (const lane of data.lanes) { lane.y = y; y += lane.rows.length * rowHeight + laneGap; }
  return y;
}
const height = layout();
const x = (t) => labelWidth + (t - from) / (to - from) * (canvas.clientWidth - labelWidth);
function draw() {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const text = getComputedStyle(document.body).color;
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillStyle = text;
  for (let i = 0; i <= 8; i++) {
    const t = from + (to - from) * i / 8;
    context.fillText(time(t), Math.min(x(t) + 2, canvas.clientWidth - 90), 11);
  }
  for (const lane of data.lanes) {
    context.fillStyle = text;
    context.fillText(lane.name, 8, lane.y + rowHeight / 2, labelWidth - 16);
    context.save();
    context.beginPath();
    context.rect(labelWidth, lane.y, canvas.clientWidth - labelWidth, lane.rows.length * rowHeight);
    context.clip();
    lane.rows.forEach((row, r) => {
      for (const [begin, dur, name] of row) {
        if (begin + dur < from || begin > to) continue;
        const left = x(begin), width = Math.max(x(begin + dur) - left, 1);
        context.fillStyle = hues[name];
        context.fillRect(left, lane.y + r * rowHeight, width, rowHeight - 2);
        if (width > 40) {
          context.fillStyle = "#fff";
          context.fillText(data.names[name], Math.max(left, labelWidth) + 3, lane.y + r * rowHeight + 8, width - 6);
        }
      }
    });
    context.restore();
  }
  document.getElementById("range").textContent = `${time(from)} to ${time(to)} (${time(to - from)})`;
}
function at(event) {
  const box = canvas.getBoundingClientRect();
  return { t: from + (event.clientX - box.left - labelWidth) / (canvas.clientWidth - labelWidth) * (to - from), y: event.clientY - box.top };
}
canvas.addEventListener("wheel", (event) => {
  if (event.shiftKey) return;
  event.preventDefault();
  const { t } = at(event), zoom = Math.exp(event.deltaY / 400);
  from = t - (t - from) * zoom;
  to = t + (to - t) * zoom;
  draw();
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from, to }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("dblclick", () => { from = data.t0; to = data.t1; draw(); });
canvas.addEventListener("pointermove", (event) => {
  if (drag) {
    const shift = (event.clientX - drag.x) / (canvas.clientWidth - labelWidth) * (drag.to - drag.from);
    from = drag.from - shift;
    to = drag.to - shift;
    draw();
    return;
  }
  const { t, y } = at(event);
  const lane = data.lanes.find((one) => y >= one.y && y < one.y + one.rows.length * rowHeight);
  const row = lane?.rows[Math.floor((y - lane.y) / rowHeight)] ?? [];
  const slack = (to - from) / canvas.clientWidth;
  const hit = row.find(([begin, dur]) => t >= begin - slack && t <= begin + dur + slack);
  tip.style.display = hit ? "block" : "none";
  if (!hit) return;
  tip.textContent = `${data.names[hit[2]]}: ${time(hit[1])} at ${time(hit[0])}` + (hit[3] > 1 ? `, longest of ${hit[3]} slices here` : "");
  tip.style.left = Math.min(event.clientX + 12, window.innerWidth - 320) + "px";
  tip.style.top = event.clientY + 14 + "px";
});
window.addEventListener("resize", draw);
draw();
</script></body></html>
)";

// JSON inside a script element: nothing in it may end the element.
void AppendEscaped(std::string& out, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string SnapshotPage(std::string_view json) {
  std::string out(kHead);
  out.reserve(out.size() + json.size() + kScript.size());
  AppendEscaped(out, json);
  out += kScript;
  return out;
}

}  // namespace steplens::server
