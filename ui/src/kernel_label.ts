// The readable form of a kernel's name; src/base/kernel_label.cc does the same on the console, and one list of names tests both.
import { middleEllipsis } from "./format";

interface Piece {
  name: string;
  /** Template arguments, between < and >. */
  args: string;
}

const kLambda = "{lambda}";

/** The position behind the bracket that closes the one at `at`; the end if none does. */
function behind(text: string, at: number, close: string): number {
  const open = text[at];
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === open) depth++;
    else if (text[i] === close && !(close === ">" && text[i - 1] === "-") && --depth === 0) return i + 1;
  }
  return text.length;
}

/** Arguments at the commas outside of brackets. */
function splitArgs(text: string): string[] {
  const out: string[] = [];
  let [depth, begin] = [0, 0];
  for (let i = 0; i <= text.length; i++) {
    const c = text[i] ?? ",";
    if (c === "<" || c === "(" || c === "{") depth++;
    else if (c === ")" || c === "}" || (c === ">" && text[i - 1] !== "-")) depth--;
    if (i < text.length && (c !== "," || depth !== 0)) continue;
    const one = text.slice(begin, i).trim();
    if (one !== "") out.push(one);
    begin = i + 1;
  }
  return out;
}

/** The pieces of a qualified name behind its return type; parameters are left out. `suffix` collects * and &. */
function piecesOf(text: string): { pieces: Piece[]; suffix: string } {
  let pieces: Piece[] = [];
  let suffix = "";
  let now: Piece = { name: "", args: "" };
  /** Parameters were passed: nothing counts until the next scope. */
  let isClosed = false;
  const begin = () => {
    now = { name: "", args: "" };
    isClosed = false;
  };
  for (let i = 0; i < text.length;) {
    const c = text[i]!;
    if (text.startsWith("::", i)) {
      if (now.name !== "") pieces.push(now);
      begin();
      i += 2;
    } else if (c === "(") {
      isClosed = now.name !== "";
      i = behind(text, i, ")");
    } else if (c === "{") {
      now.name = kLambda;
      i = behind(text, i, "}");
    } else if (c === "<" && now.name !== "" && !isClosed) {
      const end = behind(text, i, ">");
      now.args = text.slice(i + 1, end - 1);
      i = end;
    } else {
      if (!isClosed && c === " ") {
        pieces = [];
        begin();
      } else if (!isClosed && (c === "*" || c === "&")) suffix += c;
      else if (!isClosed) now.name += c;
      i++;
    }
  }
  if (now.name !== "") pieces.push(now);
  return { pieces, suffix };
}

function labelOf(text: string): string {
  if (!/[<({]|::/.test(text)) return text;
  const { pieces, suffix } = piecesOf(text);
  let at = pieces.length - 1;
  while (at > 0 && (pieces[at]!.name === kLambda || pieces[at]!.name.startsWith("operator"))) at--;
  const piece = pieces[at];
  if (!piece) return text;
  const args = piece.args === "" ? "" : `<${splitArgs(piece.args).map(labelOf).join(",")}>`;
  const inside = at < pieces.length - 1 ? "::lambda" : "";
  return piece.name + args + inside + suffix;
}

/** Whether a text is a C++ function with a return type, template arguments or parameters. */
function isDemangled(name: string): boolean {
  if (name.startsWith("void ")) return true;
  const bracket = name.search(/[(<]/);
  if (bracket <= 0 || !/^[A-Za-z_]/.test(name) || name.includes(".py(")) return false;
  if (/^\(\d+\)$/.test(name.slice(bracket))) return false;
  const isName = /\w/.test(name[bracket - 1]!) || name.startsWith("(anonymous namespace)", bracket);
  return isName && (name.endsWith(")") || name.endsWith(">"));
}

const known = new Map<string, string>();

/**
 * "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>(float*)" is "cunn_SoftMaxForward<8,BFloat16,float>":
 * without return type, namespaces and parameters. Other names come back as they are.
 */
export function kernelLabel(name: string): string {
  let label = known.get(name);
  if (label !== undefined) return label;
  // Calls of one name are numbered where no other name is known (NCCL).
  const numbered = /^(.*\))(#\d+)$/.exec(name);
  if (numbered) return kernelLabel(numbered[1]!) + numbered[2]!;
  const plain = name.replace(/ \[clone [^\]]*\]$/, "");
  label = isDemangled(plain) ? labelOf(plain.replace(/ const\b/g, "").replace(/\bconst /g, "")) : name;
  if (known.size > 20_000) known.clear();
  known.set(name, label);
  return label;
}

/** Labels of at most `keep` characters that differ where the names do: where a cut makes two alike, each says which it is. */
export function distinctLabels(names: readonly string[], keep: number): string[] {
  const labels = names.map((name) => middleEllipsis(kernelLabel(name), keep));
  const first = new Map<string, string>();
  labels.forEach((label, at) => first.has(label) || first.set(label, names[at]!));
  const next = new Map<string, number>();
  return labels.map((label, at) => {
    if (first.get(label) === names[at]) return label;
    const number = (next.get(label) ?? 1) + 1;
    next.set(label, number);
    const mark = ` #${number}`;
    return middleEllipsis(kernelLabel(names[at]!), keep - mark.length) + mark;
  });
}
