// The one-line filter language: name~"matmul" dur>50us rank=0,3-7 lane:hardware step=12, bare words match names.
// The server understands it in full; here it is read to filter lanes and to know which names a search means.
import { parseDuration } from "../format";
import { safeRegex } from "../table/source";

export type FilterOperator = "=" | "!=" | "~" | "!~" | "=~" | "<" | "<=" | ">" | ">=" | ":";

export interface Term {
  field: string;
  op: FilterOperator;
  value: string;
}

const kTerm = /([a-z_.]+)\s*(!=|!~|=~|<=|>=|=|~|<|>|:)\s*("(?:[^"\\]|\\.)*"|\S+)|"((?:[^"\\]|\\.)*)"|(\S+)/gi;
const kFields = new Set(["name", "dur", "rank", "lane", "step", "arg", "self", "cat"]);

function unquote(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1
    ? text.slice(1, -1).replace(/\\(.)/g, "$1")
    : text;
}

/** The terms of a filter; all of them must hold. Never fails: what is no term is a word to look for. */
export function parseFilter(text: string): Term[] {
  const terms: Term[] = [];
  for (const match of text.matchAll(kTerm)) {
    const [whole, field, op, value, quoted, word] = match;
    if (field && kFields.has(field.toLowerCase().split(".")[0] ?? "")) {
      terms.push({ field: field.toLowerCase(), op: op as FilterOperator, value: unquote(value ?? "") });
    } else {
      terms.push({ field: "", op: "~", value: quoted?.replace(/\\(.)/g, "$1") ?? word ?? whole });
    }
  }
  return terms;
}

/** "0,3-7" as a test. */
export function rankTest(text: string): (rank: number) => boolean {
  const parts = text.split(",").map((part) => part.split("-").map(Number));
  return (rank) => parts.some(([low = NaN, high = low]) => rank >= low && rank <= high);
}

function textTest(term: Term): (text: string) => boolean {
  const wanted = term.value.toLowerCase();
  switch (term.op) {
    case "=":
      return (text) => text.toLowerCase() === wanted;
    case "!=":
      return (text) => text.toLowerCase() !== wanted;
    case "!~":
      return (text) => !text.toLowerCase().includes(wanted);
    case "=~": {
      const regex = safeRegex(term.value);
      return (text) => regex?.test(text) ?? false;
    }
    default:
      return (text) => text.toLowerCase().includes(wanted);
  }
}

/** What a lane filter looks at. */
export interface LaneFacts {
  name: string;
  label: string;
  path: string;
  rank: number;
}

/** A test for lanes; null if the text asks for nothing. Bare words and /regex/ match the lane's label or path. */
export function laneFilter(text: string): ((lane: LaneFacts) => boolean) | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const regex = /^\/(.+)\/$/.exec(trimmed);
  if (regex) {
    const test = safeRegex(regex[1] ?? "");
    return (lane) => (test ? test.test(lane.label) || test.test(lane.path) : true);
  }
  const tests = parseFilter(trimmed).map((term): ((lane: LaneFacts) => boolean) => {
    if (term.field === "rank") {
      const test = rankTest(term.value);
      return (lane) => test(lane.rank) !== (term.op === "!=");
    }
    const test = textTest(term);
    return (lane) =>
      term.op.startsWith("!") ? test(lane.label) && test(lane.path) : test(lane.label) || test(lane.path);
  });
  return (lane) => tests.every((test) => test(lane));
}

export type NameMode = "contains" | "case" | "whole" | "exact" | "regex";

function modeTest(text: string, mode: NameMode): (name: string) => boolean {
  const lower = text.toLowerCase();
  switch (mode) {
    case "contains":
      return (name) => name.toLowerCase().includes(lower);
    case "case":
      return (name) => name.includes(text);
    case "whole":
      return (name) => name.toLowerCase() === lower;
    case "exact":
      return (name) => name === text;
    case "regex": {
      const regex = safeRegex(text);
      return (name) => regex?.test(name) ?? false;
    }
  }
}

/** Which names a search means; null if it says nothing about names (only durations, ranks, ...). */
export function nameTest(text: string, mode: NameMode): ((name: string) => boolean) | null {
  // What these mean for a single name only the server can say.
  if (/(^|[\s)])(or|not)(?=[\s(])|[()]/i.test(text) && /[a-z]\s*(=|~|<|>|:|!|\bin\b)/i.test(text)) return null;
  const terms = parseFilter(text);
  if (terms.every((term) => term.field === "")) return text.trim() === "" ? null : modeTest(text.trim(), mode);
  const tests = terms.filter((term) => term.field === "name" || term.field === "").map(textTest);
  return tests.length > 0 ? (name) => tests.every((test) => test(name)) : null;
}

/** The least duration a filter asks for in ns; 0 if it does not. */
export function leastDuration(text: string): number {
  const bounds = parseFilter(text).filter((term) => term.field === "dur" && term.op.startsWith(">"));
  return Math.max(0, ...bounds.map((term) => parseDuration(term.value) ?? 0));
}
