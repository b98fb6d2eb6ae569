// Paths that were looked at, newest first, kept in the browser.
const kKey = "steplens.recent";
const kMost = 8;

/** Paths of a stored text; what is none is left out. */
export function readRecent(text: string | null): string[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return (Array.isArray(found) ? found : []).filter((path): path is string => typeof path === "string" && path !== "").slice(0, kMost);
  } catch {
    return [];
  }
}

export const recentPaths = (): string[] => readRecent(localStorage.getItem(kKey));

/** The path comes first, once. */
export const withRecent = (paths: readonly string[], path: string): string[] => [path, ...paths.filter((each) => each !== path)].slice(0, kMost);

/** Files that the page brought along are gone with the server. */
const kBrought = "/steplens_page_";

export function noteRecent(path: string): void {
  if (path !== "" && !path.includes(kBrought)) localStorage.setItem(kKey, JSON.stringify(withRecent(recentPaths(), path)));
}
