// Queries whose rows are lanes of the timeline. They are part of its address, so that a link shows them again.
import { signal } from "@preact/signals";

export interface LaneQuery {
  /** Names the lanes, and slices without a name. */
  name: string;
  query: string;
}

export const laneQueries = signal<readonly LaneQuery[]>([]);

const same = (a: LaneQuery, b: LaneQuery): boolean => a.name === b.name && a.query === b.query;

export function withQuery(list: readonly LaneQuery[], added: LaneQuery): readonly LaneQuery[] {
  return list.some((each) => same(each, added)) ? list : [...list, added];
}

export function withoutQuery(list: readonly LaneQuery[], gone: LaneQuery): readonly LaneQuery[] {
  return list.filter((each) => !same(each, gone));
}

/** "name=query|name=query", both percent-encoded. */
export function queriesText(list: readonly LaneQuery[]): string {
  return list.map(({ name, query }) => `${encodeURIComponent(name)}=${encodeURIComponent(query)}`).join("|");
}

/** What is no pair of texts is left out. */
export function parseQueries(text: string): LaneQuery[] {
  return text.split("|").flatMap((pair) => {
    const [name = "", query = ""] = pair.split("=");
    try {
      return query === "" ? [] : [{ name: decodeURIComponent(name), query: decodeURIComponent(query) }];
    } catch {
      return [];
    }
  });
}
