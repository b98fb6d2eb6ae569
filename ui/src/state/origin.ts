// When time 0 of the open dataset was, for tables that have times since the epoch. Apart from the
// session, so that tables need no server.
let origin_ns = 0;

export function setOrigin(text: string): void {
  origin_ns = Number(text) || 0;
}

/** The columns that can be a moment: their unit is at the end of their name. */
const kUnits: [RegExp, number][] = [
  [/(\(us\)|_us)$/i, 1000],
  [/(\(ns\)|_ns)$/i, 1],
];

/** 2001 and 2286: durations are never that long, and moments since the epoch never elsewhere. */
const [kEarliest_ns, kLatest_ns] = [1e18, 1e19];

/**
 * A moment since the epoch as the time since the dataset's begin, in the same unit; null for any
 * other number.
 */
export function sinceOrigin(column: string, value: number): number | null {
  const unit = kUnits.find(([pattern]) => pattern.test(column))?.[1];
  if (unit === undefined || origin_ns === 0) return null;
  const ns = value * unit;
  return ns >= kEarliest_ns && ns < kLatest_ns ? value - origin_ns / unit : null;
}
