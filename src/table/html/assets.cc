#include "table/html/assets.h"

namespace steplens::table::html {

const std::string_view kStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f7f8fa; --ink: #1d2129; --soft: #5b6470; --rule: #d8dce2;
  --accent: #0072b2; --hot: #d55e00; --dim: #b3bac4; --absent: #e9ebee;
  --s0: #0072b2; --s1: #e69f00; --s2: #9aa5b1; --s3: #009e73;
  --s4: #cc79a7; --s5: #56b4e9; --s6: #d55e00; --s7: #b8a800;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181d; --panel: #1d2128; --ink: #e6e9ee; --soft: #9aa4b2; --rule: #343b46;
    --accent: #56b4e9; --hot: #ff7f2a; --dim: #566070; --absent: #2a303a;
    --s0: #3d9be0; --s1: #f0b429; --s2: #6b7686; --s3: #1fbf92;
    --s4: #e094c0; --s5: #8fd0f5; --s6: #ff7f2a; --s7: #f0e442;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px 28px 64px; max-width: 1240px; background: var(--paper);
  color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans",
  "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
}
html.en .zh, html.zh .en { display: none; }
header { display: flex; align-items: flex-start; justify-content: space-between; gap: 16px; }
h1 { margin: 0; font-size: 26px; line-height: 1.3; }
h2 { margin: 40px 0 8px; padding-top: 12px; border-top: 1px solid var(--rule); font-size: 20px; }
h3 { margin: 0; font-size: 14px; overflow-wrap: anywhere; }
p { margin: 8px 0; max-width: 80ch; white-space: pre-wrap; overflow-wrap: anywhere; }
.subtitle, .rows, .note { color: var(--soft); }
.rows, .note { font-size: 13px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 16px; }
a { color: var(--accent); }
button { font: inherit; color: inherit; cursor: pointer; }
#language {
  padding: 4px 12px; border: 1px solid var(--rule); border-radius: 6px; background: var(--panel);
  white-space: nowrap;
}
figure { margin: 20px 0; overflow-x: auto; }
figcaption { font-weight: 600; margin-bottom: 4px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; margin: 4px 0; }
.legend i {
  display: inline-block; width: 12px; height: 12px; margin-right: 6px; border-radius: 2px;
  background: currentColor;
}
svg { display: block; width: 100%; min-width: 640px; height: auto; font-size: 12px; }
svg text { fill: var(--soft); }
svg text.axis { fill: var(--ink); }
svg .on-dark { fill: #ffffff; } svg .on-light { fill: #111111; }
svg text.on-dark, svg text.on-light { font-size: 11px; pointer-events: none; }
.grid { stroke: var(--rule); stroke-width: 1; }
.base { stroke: var(--soft); stroke-width: 1; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.s4 { color: var(--s4); } .s5 { color: var(--s5); } .s6 { color: var(--s6); } .s7 { color: var(--s7); }
svg rect, svg circle { fill: currentColor; }
svg rect { shape-rendering: crispEdges; }
svg g:hover > rect { opacity: .75; }
.hot rect { color: var(--hot); stroke: var(--hot); } .dim rect { color: var(--dim); } .absent { color: var(--absent); }
.more { color: var(--hot); } .less { color: var(--s3); }
.marked rect { stroke: var(--hot); stroke-width: 2; }
.box { fill-opacity: .55; stroke: currentColor; }
.whisker { stroke: var(--soft); stroke-width: 1; } .whisker.thin { stroke: var(--dim); }
.median { stroke: var(--hot); stroke-width: 2; }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.data { margin: 20px 0; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 14px; margin-bottom: 6px; }
.bar input {
  margin-left: auto; padding: 4px 10px; width: 220px; font: inherit; font-size: 13px;
  color: var(--ink); background: var(--panel); border: 1px solid var(--rule); border-radius: 6px;
}
.scroll { overflow: auto; max-height: 70vh; border: 1px solid var(--rule); border-radius: 6px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13px; }
th { position: sticky; top: 0; background: var(--panel); text-align: left; padding: 0; }
th, td { border-bottom: 1px solid var(--rule); }
th button {
  width: 100%; padding: 7px 12px; border: 0; background: none; font-weight: 600;
  text-align: inherit; white-space: nowrap;
}
th[aria-sort="ascending"] button::after { content: " ▲"; }
th[aria-sort="descending"] button::after { content: " ▼"; }
td { padding: 5px 12px; max-width: 480px; min-width: 8ch; overflow-wrap: break-word; }
th.number, td.number { text-align: right; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover td { background: var(--panel); }
@media (min-width: 1700px) { body { max-width: 1640px; } figure { max-width: 1184px; } }
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; }
  #language, nav, .bar input { display: none; }
  .scroll { max-height: none; overflow: visible; }
  figure, tr { break-inside: avoid; }
  th { position: static; }
  thead { display: table-row-group; }
  * { print-color-adjust: exact; }
}
)css";

const std::string_view kScript = R"js(
(() => {
  const root = document.documentElement;
  const setLanguage = (language) => {
    root.className = language;
    root.lang = language;
    for (const input of document.querySelectorAll('input[data-en]')) {
      input.placeholder = input.dataset[language];
      input.setAttribute('aria-label', input.dataset[language]);
    }
  };
  if (root.dataset.language === 'browser') {
    setLanguage(/^zh/i.test(navigator.language) ? 'zh' : 'en');
  } else {
    setLanguage(root.className);
  }
  document.getElementById('language').onclick = () =>
    setLanguage(root.className === 'zh' ? 'en' : 'zh');

  const compare = (a, b, isNumber) => isNumber
    ? Number(a.replaceAll(',', '')) - Number(b.replaceAll(',', ''))
    : a.localeCompare(b, undefined, {numeric: true});
  const sortBy = (header) => {
    const column = header.cellIndex;
    const isNumber = header.classList.contains('number');
    const sorted = header.getAttribute('aria-sort');
    const isDown = sorted ? sorted === 'ascending' : isNumber;
    for (const other of header.parentNode.cells) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    const body = header.closest('table').tBodies[0];
    const text = (row) => row.cells[column].textContent;
    const order = (a, b) => {  // empty cells stay at the end
      if (text(a) === '' || text(b) === '') return (text(a) === '') - (text(b) === '');
      return (isDown ? -1 : 1) * compare(text(a), text(b), isNumber);
    };
    for (const row of [...body.rows].sort(order)) body.append(row);
  };
  for (const data of document.querySelectorAll('.data')) {
    for (const button of data.querySelectorAll('th button')) {
      button.onclick = () => sortBy(button.parentNode);
    }
    const input = data.querySelector('input');
    input.oninput = () => {
      const wanted = input.value.toLowerCase();
      for (const row of data.querySelectorAll('tbody tr')) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      }
    };
  }
})();
)js";

const std::string_view kScriptHash = "E0q9jAGhVAucjogpk3kxAVcIiLZ7Q7b/UT9TH6hjork=";

}  // namespace steplens::table::html
