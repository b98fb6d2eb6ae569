// What a kernel moves and computes, from the shapes and types of its tensors.
import type { Scalar } from "./api_types";

const kTypeBytes: [RegExp, number][] = [
  [/64|DOUBLE/, 8],
  [/16|HALF|BF16/, 2],
  [/INT8|UINT8|BOOL|FP8|FLOAT8/, 1],
];

const product = (dims: readonly number[]) => dims.reduce((all, dim) => all * dim, 1);

/** "32,3,224,224;64" -> the dimensions of each tensor. */
const dimsOf = (shapes: string) => shapes.split(";").map((shape) => shape.split(",").filter((dim) => dim.trim() !== "").map(Number));

/** "32,3,224,224;64" of "FLOAT;FLOAT" -> bytes of the tensors; NaN if the shapes are not known. */
export function tensorBytes(shapes: string, types: string): number {
  if (shapes === "") return NaN;
  const names = types.toUpperCase().split(";");
  const sizes = dimsOf(shapes).map((dims, at) => {
    const type = names[at] ?? names[0] ?? "";
    const bytes = kTypeBytes.find(([pattern]) => pattern.test(type))?.[1] ?? 4;
    return dims.length === 0 ? 0 : bytes * product(dims);
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Multiplications and additions of a matrix product, whichever of its inputs is transposed: of b products of m x k and k x n the sizes of inputs and
 * output say b, m n and k. NaN for other kernels, and for layouts whose shapes are padded.
 */
export function matmulFlops(type: string, inputs: string, formats: string, outputs: string): number {
  if (!/matmul|gemm/i.test(type) || /FRACTAL|_NZ|NC1HWC0/i.test(formats)) return NaN;
  const [left, right] = dimsOf(inputs);
  const out = dimsOf(outputs)[0];
  if (!left || !right || !out || out.length < 2 || left.length < 2 || right.length < 2) return NaN;
  const batch = product(out.slice(0, -2));
  const rightBatch = product(right.slice(0, -2));
  // A right side that all batches share counts once.
  const k = Math.sqrt((product(left) * product(right)) / (product(out) * rightBatch));
  const sound = Number.isInteger(k) && (rightBatch === batch || rightBatch === 1) && left.includes(k) && right.includes(k);
  return sound ? 2 * product(out) * k : NaN;
}

/** What a kernel's row says of its work; NaN where it does not. */
export function kernelWork(kernel: Readonly<Record<string, Scalar>>): { bytes: number; flops: number } {
  const text = (name: string) => String(kernel[name] ?? "");
  const bytes = tensorBytes(text("input_shapes"), text("input_types")) + tensorBytes(text("output_shapes"), text("output_types"));
  return { bytes, flops: matmulFlops(text("type"), text("input_shapes"), text("input_formats"), text("output_shapes")) };
}
