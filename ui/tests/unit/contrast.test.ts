import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const css = readFileSync(join(process.cwd(), "src/styles/base.css"), "utf8");

function themes(): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const block of css.matchAll(/:root(?:\[data-theme="(\w+)"\])?\s*\{([^}]*)\}/g)) {
    const values = new Map(
      [...block[2]!.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/gi)].map((match) => [match[1]!, match[2]!]),
    );
    found.set(block[1] ?? "light", values);
  }
  return found;
}

function luminance(hex: string): number {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test("text is readable on every ground of every theme", () => {
  const all = themes();
  assert.deepEqual([...all.keys()], ["light", "dark", "contrast"]);
  for (const [theme, colors] of all) {
    for (const text of ["ink", "muted", "accent", "error", "warn", "ok"]) {
      for (const ground of ["panel", "ground", "lane", "raised"]) {
        const ratio = contrast(colors.get(text)!, colors.get(ground)!);
        assert.ok(ratio >= 4.5, `${theme}: ${text} on ${ground} has ${ratio.toFixed(2)}`);
      }
    }
    const chosen = contrast(colors.get("on-accent")!, colors.get("accent")!);
    assert.ok(chosen >= 4.5, `${theme}: text on accent has ${chosen.toFixed(2)}`);
    const onSoft = contrast(colors.get("accent")!, colors.get("accent-soft")!);
    assert.ok(onSoft >= 4.0, `${theme}: accent on its soft ground has ${onSoft.toFixed(2)}`);
  }
});
