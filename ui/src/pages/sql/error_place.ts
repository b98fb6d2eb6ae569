// Where in a query the mistake is that a message of the server speaks of.

export interface Place {
  from: number;
  to: number;
}

/** Characters before byte `bytes` of the text as UTF-8. */
function charsBefore(text: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).length;
}

function wordAt(text: string, from: number): Place {
  const word = /^(?:"[^"]*"|'[^']*'|[\w$.]+|\S)/.exec(text.slice(from))?.[0] ?? "";
  return { from, to: Math.max(from + word.length, Math.min(text.length, from + 1)) };
}

/** The place, or null if the message does not tell. Places count UTF-16 units, as editors do. */
export function errorPlace(message: string, query: string): Place | null {
  const byte = /\(at byte (\d+) of the query\)/.exec(message)?.[1];
  if (byte !== undefined) return wordAt(query, Math.min(query.length, charsBefore(query, Number(byte))));
  const name = /^no such (?:column|table|function): (?:\w+\.)?([^\s\n;]+)/.exec(message)?.[1];
  if (name === undefined) return null;
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`(?<![\\w$])${escaped}(?![\\w$])`, "i").exec(query);
  return found ? { from: found.index, to: found.index + name.length } : null;
}
