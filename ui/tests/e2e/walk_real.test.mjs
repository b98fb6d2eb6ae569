// Everything a user does first, on real captures of both kinds, in both languages and themes.
import { walkBoth } from "./walk.mjs";

export const name = "a user's way through real captures";
export const needsProgram = true;
export const needsData = true;

export async function run({ browser, program }) {
  await walkBoth(browser, (await program("ascend_pt/text/level1")).url, "text", { lane: "r0/py/thread", word: "matmul" });
  await walkBoth(browser, (await program("kineto/tb_plugin/resnet50_num_workers_0")).url, "kineto", { lane: "/stream", word: "conv" });
}
