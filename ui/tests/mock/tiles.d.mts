import type { Dataset, MockSlice } from "./dataset.mjs";
export interface MockRun {
  x0: number;
  x1: number;
  name: number;
  ord: number;
  cnt: number;
  cov: number;
  fl: number;
}
export function rowRuns(slices: MockSlice[], begin: number, width: number): MockRun[];
export function encodeTile(dataset: Dataset, key: [number, number, number]): Uint8Array;
export function encodeTiles(dataset: Dataset, keys: [number, number, number][]): Uint8Array;
