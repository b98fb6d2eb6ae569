// Places the nodes of a flame graph. x and w are shares of the width.
import type { MetricTable } from "../api_types";

export interface FlameNode {
  id: number;
  parent: number;
  name: string;
  total_ns: number;
  self_ns: number;
  count: number;
  depth: number;
  x: number;
  w: number;
}

export function readNodes(table: MetricTable): FlameNode[] {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const [id, parent, name, total, self, count] = ["id", "parent", "name", "total_ns", "self_ns", "count"].map(at);
  return table.rows.map((row) => ({
    id: Number(row[id ?? -1]),
    parent: Number(row[parent ?? -1] ?? -1),
    name: String(row[name ?? -1] ?? ""),
    total_ns: Number(row[total ?? -1] ?? 0),
    self_ns: Number(row[self ?? -1] ?? 0),
    count: Number(row[count ?? -1] ?? 0),
    depth: 0,
    x: 0,
    w: 0,
  }));
}

/** The nodes from `root` down (null = all), children inside their parent, widest first. A node whose parent is absent is a root. */
export function layoutFlame(nodes: FlameNode[], root: number | null): FlameNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const children = new Map<number, FlameNode[]>();
  const tops: FlameNode[] = [];
  for (const node of nodes) {
    if (node.id === root || (root === null && (!byId.has(node.parent) || node.parent === node.id))) tops.push(node);
    else {
      const list = children.get(node.parent);
      if (list) list.push(node);
      else children.set(node.parent, [node]);
    }
  }
  const placed: FlameNode[] = [];
  const place = (list: FlameNode[], depth: number, x: number, scale: number) => {
    for (const node of [...list].sort((a, b) => b.total_ns - a.total_ns)) {
      placed.push({ ...node, depth, x, w: node.total_ns * scale });
      place(children.get(node.id) ?? [], depth + 1, x, scale);
      x += node.total_ns * scale;
    }
  };
  const whole = tops.reduce((sum, node) => sum + node.total_ns, 0);
  place(tops, 0, 0, whole > 0 ? 1 / whole : 0);
  return placed;
}
