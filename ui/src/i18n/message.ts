// Messages with placeholders, a small part of ICU: "{name}" and "{n, plural, one {# lane} other {# lanes}}".

export type MessageArgs = Record<string, string | number | boolean | null | undefined>;

/** Index of the brace that closes the one at `open`, or -1. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

function choosePlural(branches: string, n: number, locale: string): string {
  const wanted = new Intl.PluralRules(locale).select(n);
  const found = new Map<string, string>();
  for (let at = 0; at < branches.length;) {
    const open = branches.indexOf("{", at);
    if (open < 0) break;
    const close = closing(branches, open);
    if (close < 0) break;
    found.set(branches.slice(at, open).trim(), branches.slice(open + 1, close));
    at = close + 1;
  }
  const branch = found.get(`=${n}`) ?? found.get(wanted) ?? found.get("other") ?? "";
  return branch.replaceAll("#", new Intl.NumberFormat(locale).format(n));
}

/** Fills the placeholders of `text`; one without a value stays as it is, so a mistake is seen. */
export function formatMessage(text: string, args: MessageArgs, locale: string): string {
  let out = "";
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    if (open < 0) break;
    const close = closing(text, open);
    if (close < 0) break;
    out += text.slice(at, open);
    const inner = text.slice(open + 1, close);
    const [name = "", kind, ...rest] = inner.split(",");
    const value = args[name.trim()];
    if (value === undefined || value === null) out += text.slice(open, close + 1);
    else if (kind?.trim() === "plural") out += formatMessage(choosePlural(rest.join(","), Number(value), locale), args, locale);
    else out += String(value);
    at = close + 1;
  }
  return out + text.slice(at);
}
