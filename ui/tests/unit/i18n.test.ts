import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const src = join(process.cwd(), "src");

function read(locale: string): Record<string, string> {
  const folder = join(src, "i18n", locale);
  const shared = join(process.cwd(), `../src/analysis/text/${locale}.json`);
  const all: Record<string, string> = {};
  for (const path of [...readdirSync(folder).map((name) => join(folder, name)), shared]) {
    const catalogue = JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
    for (const [key, text] of Object.entries(catalogue)) {
      assert.ok(!(key in all), `${key} is in two catalogues of ${locale}`);
      all[key] = text;
    }
  }
  return all;
}

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    return /\.tsx?$/.test(name) ? [readFileSync(path, "utf8")] : [];
  });
}

const en = read("en");
const zh = read("zh");
const code = sources(src).join("\n");

test("both languages have the same keys", () => {
  assert.deepEqual(
    Object.keys(en).filter((key) => !(key in zh)),
    [],
    "missing in zh",
  );
  assert.deepEqual(
    Object.keys(zh).filter((key) => !(key in en)),
    [],
    "missing in en",
  );
});

test("both languages use the same placeholders", () => {
  const names = (text: string) =>
    new Set([...text.matchAll(/\{(\w+)/g)].map((match) => match[1]).filter((name) => !/^(one|other)$/.test(name!)));
  for (const key of Object.keys(en)) {
    const wanted = names(en[key]!.replace(/\{#[^}]*\}|\{[^{},]* [^{},]*\}/g, ""));
    const found = names(zh[key] ?? "");
    for (const name of found) assert.ok(wanted.has(name), `${key}: {${name}} only in zh`);
  }
});

test("every key in the code is in the catalogues", () => {
  const used = new Set([...code.matchAll(/\bt\(\s*"([^"]+)"/g)].map((match) => match[1]!));
  for (const match of code.matchAll(/title: "((?:cmd|page|tl|help)\.[^"]+)"/g)) used.add(match[1]!);
  assert.ok(used.size > 100);
  assert.deepEqual(
    [...used].filter((key) => !(key in en)),
    [],
  );
});

test("keys made of a prefix and a name exist for every prefix", () => {
  for (const match of code.matchAll(/\bt\(`([^`$]+)\$\{/g)) {
    assert.ok(
      Object.keys(en).some((key) => key.startsWith(match[1]!)),
      `no key begins with ${match[1]}`,
    );
  }
  for (const match of code.matchAll(/command\("(\w+)"/g)) assert.ok(`tl.cmd.${match[1]}` in en, match[1]);
});

test("no text is empty", () => {
  for (const [key, text] of [...Object.entries(en), ...Object.entries(zh)]) assert.ok(text.trim() !== "", key);
});

test("every problem that readers count has words in both languages", () => {
  const header = readFileSync(join(process.cwd(), "../src/store/issues.h"), "utf8");
  const kinds = [...header.matchAll(/X\(k(\w+), k\w+,[\s\\]*"([^"]*)"\)/g)];
  assert.ok(kinds.length > 20);
  for (const [, kind, text] of kinds) {
    assert.equal(en[`issue.${kind}`], text);
    assert.ok(`issue.${kind}` in zh, kind);
  }
});
