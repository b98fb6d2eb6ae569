// Line icons, 16 x 16, in the colour of the text.

const paths: Record<string, string> = {
  overview: "M2 8l6-5 6 5M4 7v6h8V7",
  timeline: "M2 4h7M5 8h9M3 12h6",
  operators: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
  memory: "M4 3h8v10H4zM4 6H2M4 10H2M14 6h-2M14 10h-2",
  communication: "M2 5h10l-3-3M14 11H4l3 3",
  cluster: "M6 2h4v4H6zM2 10h4v4H2zM10 10h4v4h-4zM8 6v2M4 10V8h8v2",
  pipeline: "M2 4h5v3H2zM7 9h7v3H7zM9 4h5v3H9zM2 9h3v3H2z",
  rl: "M8 2a6 6 0 106 6M14 3v5H9M8 6v2l2 2",
  findings: "M8 2l6 11H2zM8 6v4M8 11.5v.5",
  compare: "M3 3h4v10H3zM9 6h4v7H9z",
  sql: "M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0",
  data: "M3 2h7l3 3v9H3zM10 2v3h3",
  language: "M8 2a6 6 0 100 12A6 6 0 008 2zM2 8h12M8 2c-4 4-4 8 0 12M8 2c4 4 4 8 0 12",
  search: "M7 2a5 5 0 100 10A5 5 0 007 2zM11 11l3 3",
  undo: "M6 3L2 7l4 4M2 7h7a4 4 0 010 8",
  redo: "M10 3l4 4-4 4M14 7H7a4 4 0 000 8",
  fit: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M5 8h6",
  pin: "M6 2h4l-1 5 2 2H5l2-2zM8 9v5",
  eye: "M1 8c3-5 11-5 14 0-3 5-11 5-14 0zM8 6a2 2 0 100 4 2 2 0 000-4z",
  more: "M3 8h.5M8 8h.5M13 8h.5",
  prev: "M10 3L5 8l5 5",
  next: "M6 3l5 5-5 5",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="svg-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={paths[name] ?? ""}
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
