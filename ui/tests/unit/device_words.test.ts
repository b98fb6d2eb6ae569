import assert from "node:assert/strict";
import { test } from "node:test";
import type { RankMeta } from "../../src/api_types";
import { deviceWord, isColumnOfDevice, isTransportOfDevice, setDevice } from "../../src/state/device_words";

const rank = (source: string, is_cpu: boolean) => ({ source, is_cpu }) as RankMeta;

test("a CPU recording has the host's words, others keep theirs", () => {
  setDevice({ ranks: [rank("ascend_pt", true)] });
  assert.deepEqual(["AI_CORE", "SDMA", "NPU:0", "NPU:0 PTA reserved [MB]", "HCCS", "my AI_CORE"].map(deviceWord), [
    "CPU",
    "gloo",
    "CPU:0",
    "CPU:0 PTA reserved [MB]",
    "HCCS",
    "my AI_CORE",
  ]);
  assert.deepEqual(["SDMA", "HCCS", "RDMA"].filter(isTransportOfDevice), ["SDMA"]);
  assert.ok(!isColumnOfDevice("SDMA BW(GB/s)") && isColumnOfDevice("Wait Time(ms)"));
  setDevice({ ranks: [rank("kineto", false)] });
  assert.equal(deviceWord("AI_CORE"), "AI_CORE");
  assert.ok(!isColumnOfDevice("RDMA BW(GB/s)"));
  setDevice({ ranks: [rank("ascend_pt", true), rank("ascend_pt", false)] });
  assert.equal(deviceWord("AI_CORE"), "AI_CORE");
  assert.ok(isColumnOfDevice("SDMA BW(GB/s)"));
});
