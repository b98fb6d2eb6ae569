// How the ranks of a job are divided among the kinds of parallelism, and which of them belong together.

export const SIZES = ["pp", "tp", "cp", "dp", "ep"] as const;
export type Sizes = Record<(typeof SIZES)[number], number>;

export interface Strategy extends Sizes {
  algorithm: string;
}

/** "dp0-pp1-tp0" -> {dp: 0, pp: 1, tp: 0} */
export function placeOf(name: string): Record<string, number> {
  return Object.fromEntries([...name.matchAll(/([a-z]+)(\d+)/g)].map(([, kind, index]) => [kind!, Number(index)]));
}

/** Of some elements those that share a group of a kind with one of them: they differ from it in that index alone. */
export function groupOf(names: readonly string[], one: string, kind: string): string[] {
  const own = placeOf(one);
  if (own[kind] === undefined) return [];
  return names.filter((name) => Object.entries(placeOf(name)).every(([each, index]) => each === kind || own[each] === index));
}

/** What ranks of a group have in common: of a stage "pp1"; of those that differ in `kind` alone the rest of their name, "dp0-pp1". */
export function rankGroupName(name: string, kind: string): string {
  const place = placeOf(name);
  if (kind === "pp") return `pp${place["pp"] ?? 0}`;
  const rest = Object.entries(place).filter(([each]) => each !== kind);
  return rest.map(([each, index]) => `${each}${index}`).join("-") || kind;
}
