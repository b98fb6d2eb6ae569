#pragma once

#include <array>

#include "format/tlv.h"

// Names and layouts of what MindSpore's own profiler leaves in FRAMEWORK/
// (docs/formats/framework.md): the framing of tlv.h, little endian, packed. Times are raw counter
// values unless said otherwise.
namespace steplens::format {

inline constexpr std::string_view kMindSporeOpRangeFile = "mindspore.op_range";
inline constexpr std::string_view kMindSporeMemoryFile = "mindspore.memory_usage";
inline constexpr std::string_view kMindSporeShapesFile = "mindspore.record_shapes";

enum MindSporeRecordType : uint16_t {
  kMindSporeOpRangeRecord = 0,
  kMindSporeShapesRecord = 3,
  kMindSporeMemoryRecord = 13,
};

// ---- mindspore.op_range
// ----------------------------------------------------------------------------------

// Fields, in the order in which they are written: name, full name, custom info if any,
// module_graph, event_graph.
enum MindSporeOpTag : uint16_t {
  kMindSporeName = 13,
  kMindSporeFullName = 14,
  kMindSporeModuleGraph = 15,
  kMindSporeEventGraph = 16,
  kMindSporeCustomInfo = 17,  // "k:v;k:v"
};

// Indices of the tables of names that readers have; a range is shown as "<module>::<event>::<full
// name>".
enum MindSporeModule : uint16_t { kMsModulePynative = 3, kMsModulePython = 5 };
enum MindSporeEvent : uint16_t { kMsEventDefault = 0, kMsEventRunOp = 28, kMsEventPython = 53 };
enum MindSporeStage : uint16_t { kMsStageDefault = 0, kMsStagePython = 1, kMsStageRunOp = 5 };

struct MindSporeOpRange {
  static constexpr size_t kFixedBytes = 54;
  static constexpr uint64_t kNoFlow = ~uint64_t{0};
  uint64_t thread_id = 0;
  uint64_t flow_id = kNoFlow;
  uint64_t step = 0;
  uint64_t start = 0;
  uint64_t end = 0;  // as `start`: an instant
  int32_t process_id = 0;
  uint16_t module = 0;
  uint16_t event = 0;
  uint16_t stage = 0;
  int8_t level = 0;
  bool is_graph_data = false;
  bool is_stage = false;
  bool is_stack = false;  // a Python function
};

inline void EncodeFixed(const MindSporeOpRange& op, uint8_t* out) {
  Store(out, 0, op.thread_id);
  Store(out, 8, op.flow_id);
  Store(out, 16, op.step);
  Store(out, 24, op.start);
  Store(out, 32, op.end);
  Store(out, 40, op.process_id);
  Store(out, 44, op.module);
  Store(out, 46, op.event);
  Store(out, 48, op.stage);
  Store(out, 50, op.level);
  Store(out, 51, static_cast<uint8_t>(op.is_graph_data ? 1 : 0));
  Store(out, 52, static_cast<uint8_t>(op.is_stage ? 1 : 0));
  Store(out, 53, static_cast<uint8_t>(op.is_stack ? 1 : 0));
}

inline bool Decode(Bytes in, MindSporeOpRange* op) {
  if (in.size() < MindSporeOpRange::kFixedBytes) return false;
  op->thread_id = Load<uint64_t>(in, 0);
  op->flow_id = Load<uint64_t>(in, 8);
  op->step = Load<uint64_t>(in, 16);
  op->start = Load<uint64_t>(in, 24);
  op->end = Load<uint64_t>(in, 32);
  op->process_id = Load<int32_t>(in, 40);
  op->module = Load<uint16_t>(in, 44);
  op->event = Load<uint16_t>(in, 46);
  op->stage = Load<uint16_t>(in, 48);
  op->level = Load<int8_t>(in, 50);
  op->is_graph_data = Load<uint8_t>(in, 51) != 0;
  op->is_stage = Load<uint8_t>(in, 52) != 0;
  op->is_stack = Load<uint8_t>(in, 53) != 0;
  return true;
}

// ---- mindspore.memory_usage: field 13 is the owner
// -------------------------------------------------------

inline constexpr uint16_t kMindSporeOwner = 13;

struct MindSporeMemory {
  static constexpr size_t kFixedBytes = 100;
  static constexpr uint64_t kFreed = ~uint64_t{0};  // instead of a size
  int32_t device = 0;
  // thread, process, time in ns, address, size, used, peak, allocated, used by events, eager free,
  // stream pointer
  std::array<uint64_t, 11> numbers{};
  uint32_t stream_id = 0;
  // from persistent, is persistent, run mode, kind of allocation
  std::array<uint8_t, 4> flags{};
};

enum MindSporeMemoryNumber : size_t {
  kMsThread,
  kMsProcess,
  kMsCreatedAtNs,
  kMsAddress,
  kMsSize,
  kMsUsed,
  kMsPeak,
  kMsAllocated,
};

inline void EncodeFixed(const MindSporeMemory& event, uint8_t* out) {
  Store(out, 0, event.device);
  for (size_t i = 0; i < event.numbers.size(); ++i) Store(out, 4 + 8 * i, event.numbers[i]);
  Store(out, 92, event.stream_id);
  for (size_t i = 0; i < event.flags.size(); ++i) Store(out, 96 + i, event.flags[i]);
}

inline bool Decode(Bytes in, MindSporeMemory* event) {
  if (in.size() < MindSporeMemory::kFixedBytes) return false;
  event->device = Load<int32_t>(in, 0);
  for (size_t i = 0; i < event->numbers.size(); ++i) {
    event->numbers[i] = Load<uint64_t>(in, 4 + 8 * i);
  }
  event->stream_id = Load<uint32_t>(in, 92);
  for (size_t i = 0; i < event->flags.size(); ++i) event->flags[i] = Load<uint8_t>(in, 96 + i);
  return true;
}

// ---- mindspore.record_shapes: no fixed part
// --------------------------------------------------------------

enum MindSporeShapesTag : uint16_t {
  kMindSporeShapesName = 0,
  kMindSporeInputShapes = 1,  // "2,3;4"
  kMindSporeInputTypes = 2,
};

struct MindSporeShapes {
  static constexpr size_t kFixedBytes = 0;
};

inline void EncodeFixed(const MindSporeShapes&, uint8_t*) {}
inline bool Decode(Bytes, MindSporeShapes*) { return true; }

}  // namespace steplens::format
