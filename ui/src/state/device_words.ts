// The words of the device that was recorded. Result files of a CPU recording name an accelerator, so that every tool reads them;
// the page shows the host's words, and no columns about links that the machine does not have.
import type { DatasetMeta } from "../api_types";

let isCpu = false;
let hasAscend = true;

export function setDevice({ ranks }: Pick<DatasetMeta, "ranks">): void {
  isCpu = ranks.length > 0 && ranks.every((rank) => rank.is_cpu === true);
  hasAscend = ranks.length === 0 || ranks.some((rank) => rank.is_cpu !== true && rank.source !== "kineto" && rank.source !== "nsys");
}

const kCpuWords: [RegExp, string][] = [
  [/^AI_CORE$/, "CPU"],
  [/^SDMA$/, "gloo"],
  [/^NPU(:\d+)/, "CPU$1"],
];

/** A core, transport or device as its machine calls it. */
export function deviceWord(text: string): string {
  if (!isCpu) return text;
  const found = kCpuWords.find(([pattern]) => pattern.test(text));
  return found ? text.replace(found[0], found[1]) : text;
}

/** Whether the machine has links of a transport: gloo's traffic is listed under SDMA, all others are 0. */
export function isTransportOfDevice(transport: string): boolean {
  return !isCpu || transport === "SDMA";
}

/** Columns about the links of an Ascend device. */
const kLinkColumn = /^(SDMA|RDMA) BW\(/;

/** Whether a column means something on the machine that was recorded. */
export function isColumnOfDevice(name: string): boolean {
  return hasAscend || !kLinkColumn.test(name);
}
