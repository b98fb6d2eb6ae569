// Calls as a table: from the outermost call down, or by self time with the callers below.
import type { FlameNode } from "./flame_layout";

/** A row that can be opened; children are made when they are asked for. */
export interface CallNode {
  /** Unique in the tree, the same whenever it is made anew. */
  key: string;
  name: string;
  total_ns: number;
  self_ns: number;
  count: number;
  children(): CallNode[];
}

interface Sums {
  total_ns: number;
  self_ns: number;
  count: number;
}

/** Nodes of one name added up. */
function byName(nodes: readonly FlameNode[], sums: (node: FlameNode) => Sums): Map < string, {
  sum: Sums;
  members: FlameNode[]
}
> {
  const found = new Map < string, {
    sum: Sums;
    members: FlameNode[]
  }
  >();
  for (const node of nodes) {
    const own = sums(node);
    const known = found.get(node.name);
    if (!known) {
      found.set(node.name, {sum: {...own}, members: [node]});
      continue;
    }
    known.members.push(node);
    known.sum.total_ns += own.total_ns;
    known.sum.self_ns += own.self_ns;
    known.sum.count += own.count;
  }
  return found;
}

const bySize = (a: CallNode, b: CallNode) =>
    b.total_ns - a.total_ns || a.name.localeCompare(b.name);

/** From the outermost calls down; siblings of one name are one row. */
export function callsDown(nodes: readonly FlameNode[]): CallNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const inside = new Map<number, FlameNode[]>();
  const tops: FlameNode[] = [];
  for (const node of nodes) {
    if (!byId.has(node.parent) || node.parent === node.id)
      tops.push(node);
    else
      inside.set(node.parent, [...(inside.get(node.parent) ?? []), node]);
  }
  const rows = (list: readonly FlameNode[], above: string):
      CallNode[] => [...byName(list, (node) => node)]
                        .map(
                            ([name, {sum, members}]):
                                CallNode => {
                                  const key = `${above}/${name}`;
                                  return {
                                    key,
                                    name,
                                    ...sum,
                                    children: () => rows(
                                        members.flatMap((node) => inside.get(node.id) ?? []), key)
                                  };
                                })
                        .sort(bySize);
  return rows(tops, "");
}

/** By self time; below each name its callers, with how much of that time came through them. */
export function callsUp(nodes: readonly FlameNode[]): CallNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** A call, and where one is on the way up from it. */
  interface Walk {
    call: FlameNode;
    at: FlameNode;
  }
  const rows = (walks: readonly Walk[], above: string): CallNode[] => {
    const found = new Map<string, Walk[]>();
    for (const walk of walks) found.set(walk.at.name, [...(found.get(walk.at.name) ?? []), walk]);
    return [...found]
        .map(
            ([name, members]):
                CallNode => {
                  const key = `${above}/${name}`;
                  const self_ns = members.reduce((sum, {call}) => sum + call.self_ns, 0);
                  const callers = () => members.flatMap(
                      ({call, at}) =>
                          (at.parent !== at.id && byId.has(at.parent) ?
                               [{call, at: byId.get(at.parent)!}] :
                               []));
                  return {
                    key,
                    name,
                    total_ns: self_ns,
                    self_ns,
                    count: members.reduce((sum, {call}) => sum + call.count, 0),
                    children: () => rows(callers(), key)
                  };
                })
        .sort(bySize);
  };
  return rows(nodes.filter((node) => node.self_ns > 0).map((node) => ({call: node, at: node})), "");
}

/** Rows as they are shown: what is open, and how deep each row is. */
export function openRows(tops: readonly CallNode[], open: ReadonlySet<string>):
    {node: CallNode; depth: number; inner: number}[] {
  const out: {node: CallNode; depth: number; inner: number}[] = [];
  const visit = (list: readonly CallNode[], depth: number) => {
    for (const node of list) {
      const children = node.children();
      out.push({node, depth, inner: children.length});
      if (open.has(node.key)) visit(children, depth + 1);
    }
  };
  visit(tops, 0);
  return out;
}
