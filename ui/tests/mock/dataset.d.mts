// Types of the generated job, for the unit tests.
export interface MockSlice {
  name: number;
  begin: number;
  dur: number;
  ord: number;
  row: number;
}
export interface MockTrack {
  id: number;
  parent: number;
  kind: string;
  name: string;
  path: string;
  rank: number;
  rows: number;
  slices?: MockSlice[];
  points?: [number, number][];
}
export class Dataset {
  constructor(shape?: { ranks?: number; kernels?: number; streams?: number });
  ds: string;
  strings: string[];
  tracks: MockTrack[];
  extent: [number, number];
}
export function random(seed: number): () => number;
