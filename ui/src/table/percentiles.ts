// Colours of cells by how large their value is among all rows of the table.
import { useEffect, useState } from "preact/hooks";
import type { TableFilter } from "../api_types";
import type { RowSource } from "./source";

const kParts = 10;

/** The values at the tenths of a column, ascending; rows without a number count as the smallest. */
async function loadTenths(source: RowSource, column: string, filter: TableFilter[], rows: number, signal: AbortSignal): Promise<number[]> {
  const places = Array.from({ length: kParts - 1 }, (_, at) => Math.floor((rows * (at + 1)) / kParts));
  const replies = await Promise.all(places.map((offset) => source.load({ filter, sort: [{ col: column, desc: false }], offset, limit: 1 }, signal)));
  return replies.map((reply) => Number(reply.rows[0]?.[reply.columns.findIndex(({ name }) => name === column)] ?? NaN));
}

/** Which tenth a value is in, 0 to 9; the middle of those that equal values fill. */
export function tenthOf(value: number, tenths: readonly number[]): number {
  const below = tenths.filter((each) => each < value).length;
  const upTo = tenths.filter((each) => each <= value).length;
  return Math.round((below + upTo) / 2);
}

/** The tenths of the columns, as they arrive. */
export function useTenths(source: RowSource, columns: readonly string[], filter: TableFilter[], rows: number): ReadonlyMap<string, readonly number[]> {
  const [known, setKnown] = useState<ReadonlyMap<string, readonly number[]>>(new Map());
  useEffect(() => {
    setKnown(new Map());
    const control = new AbortController();
    if (rows < 2) return;
    for (const column of columns) {
      loadTenths(source, column, filter, rows, control.signal).then(
        (tenths) => !control.signal.aborted && setKnown((before) => new Map(before).set(column, tenths)),
        () => undefined, // Colours are a courtesy; the numbers are there without them.
      );
    }
    return () => control.abort();
  }, [source.key, columns.join("\n"), JSON.stringify(filter), rows]);
  return known;
}
