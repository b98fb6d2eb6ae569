// Places the nodes of a flame graph. x and w are shares of the width.
import type { MetricTable } from "../api_types";

export interface FlameNode {
  id: number;
  parent: number;
  name: string;
  total_ns: number;
  self_ns: number;
  count: number;
  /** When its first slice began and its last ended, and on which track. */
  begin_ns: number;
  end_ns: number;
  track: number;
  depth: number;
  x: number;
  w: number;
}

export function readNodes(table: MetricTable): FlameNode[] {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const [id, parent, name, total, self, count] = ["id", "parent", "name", "total_ns", "self_ns", "count"].map(at);
  const [begin, end, track] = ["begin_ns", "end_ns", "track"].map(at);
  return table.rows.map((row) => ({
    id: Number(row[id ?? -1]),
    parent: Number(row[parent ?? -1] ?? -1),
    name: String(row[name ?? -1] ?? ""),
    total_ns: Number(row[total ?? -1] ?? 0),
    self_ns: Number(row[self ?? -1] ?? 0),
    count: Number(row[count ?? -1] ?? 0),
    begin_ns: Number(row[begin ?? -1] ?? 0),
    end_ns: Number(row[end ?? -1] ?? 0),
    track: Number(row[track ?? -1] ?? 0),
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

/** The nodes where they are in [t0, t1], children below their parent, one track below the other. Parents come before their children. */
export function layoutInTime(nodes: FlameNode[], t0: number, t1: number): FlameNode[] {
  const depths = new Map<number, number>();
  const tracks = new Map<number, number>();
  for (const node of nodes) {
    const depth = (depths.get(node.parent) ?? -1) + 1;
    depths.set(node.id, depth);
    tracks.set(node.track, Math.max(tracks.get(node.track) ?? 0, depth + 1));
  }
  let top = 0;
  const tops = new Map([...tracks].map(([track, rows]) => [track, (top += rows) - rows]));
  const span = Math.max(1, t1 - t0);
  return nodes.map((node) => ({ ...node, depth: (tops.get(node.track) ?? 0) + (depths.get(node.id) ?? 0), x: (node.begin_ns - t0) / span, w: (node.end_ns - node.begin_ns) / span }));
}

/**
 * A name from both sides: what calls it, as a flame graph from the name outwards, and what it calls. A name inside itself
 * counts once. The first node of each list is the name itself.
 */
export function sandwich(nodes: FlameNode[], name: string): { callers: FlameNode[]; callees: FlameNode[] } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const children = new Map<number, FlameNode[]>();
  for (const node of nodes) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const above = (node: FlameNode): FlameNode[] => {
    const chain: FlameNode[] = [];
    for (let at = byId.get(node.parent); at && chain.length < nodes.length; at = byId.get(at.parent)) chain.push(at);
    return chain;
  };
  const own = nodes.filter((node) => node.name === name && !above(node).some((each) => each.name === name));
  return {
    callers: mergePaths(own.map((node) => ({ path: [name, ...above(node).map((each) => each.name)], node }))),
    callees: mergePaths(own.flatMap((node) => pathsBelow(node, children, []))),
  };
}

interface PathOf {
  path: string[];
  node: FlameNode;
}

function pathsBelow(node: FlameNode, children: ReadonlyMap<number, FlameNode[]>, path: string[]): PathOf[] {
  const own = [...path, node.name];
  const below = (children.get(node.id) ?? []).flatMap((child) => (child.id === node.id ? [] : pathsBelow(child, children, own)));
  return [{ path: own, node: { ...node, total_ns: node.self_ns } }, ...below];
}

/** Nodes of equal paths as one; each adds its time to every node on its path. */
function mergePaths(paths: PathOf[]): FlameNode[] {
  const merged = new Map<string, FlameNode>();
  for (const { path, node } of paths) {
    path.forEach((name, depth) => {
      const key = path.slice(0, depth + 1).join("\0");
      const parent = depth === 0 ? -1 : (merged.get(path.slice(0, depth).join("\0"))?.id ?? -1);
      const at = merged.get(key) ?? { id: merged.size, parent, name, total_ns: 0, self_ns: 0, count: 0, begin_ns: 0, end_ns: 0, track: 0, depth: 0, x: 0, w: 0 };
      const last = depth === path.length - 1;
      merged.set(key, { ...at, total_ns: at.total_ns + node.total_ns, self_ns: at.self_ns + (last ? node.self_ns : 0), count: at.count + (last ? node.count : 0) });
    });
  }
  return [...merged.values()];
}
