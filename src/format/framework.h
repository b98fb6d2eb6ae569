#pragma once

#include <array>

#include "format/tlv.h"

// Names and layouts of what a recording leaves in FRAMEWORK/ (docs/formats/framework.md). Little
// endian, no file header, no padding, append only; a file exists only if something was recorded.
// Times are raw clock values; profiler_info says how to turn them into nanoseconds.
//
// For each record: a struct with its fields, the size of the fixed part, Encode (appends to a
// vector) and Decode (from the fixed part; false if it is too short). Texts are fields behind the
// fixed part, found by tag.
namespace steplens::format {

inline constexpr std::string_view kFrameworkFolder = "FRAMEWORK";

// ---- Files
// -----------------------------------------------------------------------------------------------

inline constexpr std::string_view kOpRangeFile = "torch.op_range";
inline constexpr std::string_view kOpMarkFile = "torch.op_mark";
inline constexpr std::string_view kMemoryFile = "torch.memory_usage";
inline constexpr std::string_view kPythonCallFile = "torch.python_tracer_func";
inline constexpr std::string_view kPythonNameFile = "torch.python_tracer_hash";
inline constexpr std::string_view kParamFile = "torch.param_tensor_info";
inline constexpr std::string_view kGcFile = "torch.gc_record";
// Ours; other tools select files by the prefixes above and leave these alone.
inline constexpr std::string_view kMarkFile = "steplens.mark";
inline constexpr std::string_view kCounterFile = "steplens.counter";
inline constexpr std::string_view kThreadFile = "steplens.thread";
inline constexpr std::string_view kDeviceFile = "steplens.device";

// Types of framed records. Readers of the torch.* files do not look at them; in ours they tell
// records apart.
enum RecordType : uint16_t {
  kOpRangeRecord = 1,
  kOpMarkRecord = 2,
  kMemoryRecord = 3,
  kPythonNameRecord = 4,
  kParamRecord = 5,
  kMarkRecord = 32,
  kCounterSeriesRecord = 33,
  kCounterSampleRecord = 34,
  kThreadRecord = 35,
  kDeviceRecord = 36,
};

// ---- torch.op_range
// --------------------------------------------------------------------------------------

enum OpTag : uint16_t {
  kOpName = 2,
  kOpDtypes = 3,
  kOpShapes = 4,
  kOpTensors = 5,
  kOpTensorLists = 6,
  kOpScalars = 7,
  kOpCallStack = 8,
  kOpModules = 9,
  kOpExtraArgs = 10,
  // Ours: what is known of a collective.
  kOpGroupName = 32,
  kOpTotalBytes = 33,      // decimal
  kOpElementCount = 34,    // decimal
  kOpElementType = 35,     // "float", ...
  kOpGroupRanks = 36,      // "0,1,2"
  kOpCollectiveKind = 37,  // "all_reduce", ...
  kOpPeer = 38,            // rank, decimal
};

enum OpScope : uint8_t { kScopeFunction = 0, kScopeBackward = 1, kScopeUser = 7 };

struct OpRange {
  static constexpr size_t kFixedBytes = 58;
  int64_t start = 0;
  int64_t end = 0;
  int64_t sequence = -1;  // -1: none
  uint64_t process_id = 0;
  uint64_t start_thread = 0;
  uint64_t end_thread = 0;
  uint64_t forward_thread = 0;  // 0: a forward operator
  uint8_t scope = 0;
  bool is_async = false;
};

inline void EncodeFixed(const OpRange& op, uint8_t* out) {
  Store(out, 0, op.start);
  Store(out, 8, op.end);
  Store(out, 16, op.sequence);
  Store(out, 24, op.process_id);
  Store(out, 32, op.start_thread);
  Store(out, 40, op.end_thread);
  Store(out, 48, op.forward_thread);
  Store(out, 56, op.scope);
  Store(out, 57, static_cast<uint8_t>(op.is_async ? 1 : 0));
}

inline bool Decode(Bytes in, OpRange* op) {
  if (in.size() < OpRange::kFixedBytes) return false;
  op->start = Load<int64_t>(in, 0);
  op->end = Load<int64_t>(in, 8);
  op->sequence = Load<int64_t>(in, 16);
  op->process_id = Load<uint64_t>(in, 24);
  op->start_thread = Load<uint64_t>(in, 32);
  op->end_thread = Load<uint64_t>(in, 40);
  op->forward_thread = Load<uint64_t>(in, 48);
  op->scope = Load<uint8_t>(in, 56);
  op->is_async = Load<uint8_t>(in, 57) != 0;
  return true;
}

// ---- torch.op_mark: the name is field 1
// ------------------------------------------------------------------

inline constexpr uint16_t kOpMarkName = 1;

struct OpMark {
  static constexpr size_t kFixedBytes = 40;
  int64_t time = 0;
  uint64_t category = 0;  // 0 enqueue start, 1 enqueue end, 2 dequeue start, 3 dequeue end
  uint64_t correlation_id = 0;
  uint64_t thread_id = 0;
  uint64_t process_id = 0;
};

inline void EncodeFixed(const OpMark& mark, uint8_t* out) {
  Store(out, 0, mark.time);
  Store(out, 8, mark.category);
  Store(out, 16, mark.correlation_id);
  Store(out, 24, mark.thread_id);
  Store(out, 32, mark.process_id);
}

inline bool Decode(Bytes in, OpMark* mark) {
  if (in.size() < OpMark::kFixedBytes) return false;
  mark->time = Load<int64_t>(in, 0);
  mark->category = Load<uint64_t>(in, 8);
  mark->correlation_id = Load<uint64_t>(in, 16);
  mark->thread_id = Load<uint64_t>(in, 24);
  mark->process_id = Load<uint64_t>(in, 32);
  return true;
}

// ---- torch.memory_usage: no fields
// -----------------------------------------------------------------------

struct MemoryUsage {
  static constexpr size_t kFixedBytes = 77;
  int64_t address = 0;
  int64_t time = 0;
  int64_t size = 0;  // bytes; negative when released
  int64_t total_allocated = 0;
  int64_t total_reserved = 0;
  int64_t total_active = 0;
  int64_t stream = 0;
  int8_t device_type = 0;  // 0 CPU, 20 NPU
  int8_t device_index = 0;
  uint8_t component = 0;  // 0 caching allocator, 1 workspace
  uint8_t kind = 0;       // 0 malloc, 1 free, 2 block free
  uint8_t allocator = 0;  // 0 inner, 1 external
  uint64_t thread_id = 0;
  uint64_t process_id = 0;
};

inline void EncodeFixed(const MemoryUsage& event, uint8_t* out) {
  Store(out, 0, event.address);
  Store(out, 8, event.time);
  Store(out, 16, event.size);
  Store(out, 24, event.total_allocated);
  Store(out, 32, event.total_reserved);
  Store(out, 40, event.total_active);
  Store(out, 48, event.stream);
  Store(out, 56, event.device_type);
  Store(out, 57, event.device_index);
  Store(out, 58, event.component);
  Store(out, 59, event.kind);
  Store(out, 60, event.allocator);
  Store(out, 61, event.thread_id);
  Store(out, 69, event.process_id);
}

inline bool Decode(Bytes in, MemoryUsage* event) {
  if (in.size() < MemoryUsage::kFixedBytes) return false;
  event->address = Load<int64_t>(in, 0);
  event->time = Load<int64_t>(in, 8);
  event->size = Load<int64_t>(in, 16);
  event->total_allocated = Load<int64_t>(in, 24);
  event->total_reserved = Load<int64_t>(in, 32);
  event->total_active = Load<int64_t>(in, 40);
  event->stream = Load<int64_t>(in, 48);
  event->device_type = Load<int8_t>(in, 56);
  event->device_index = Load<int8_t>(in, 57);
  event->component = Load<uint8_t>(in, 58);
  event->kind = Load<uint8_t>(in, 59);
  event->allocator = Load<uint8_t>(in, 60);
  event->thread_id = Load<uint64_t>(in, 61);
  event->process_id = Load<uint64_t>(in, 69);
  return true;
}

// ---- torch.python_tracer_func: records without framing
// ---------------------------------------------------

enum PythonTag : uint8_t {
  kPythonCall = 0,
  kPythonReturn = 1,
  kPythonCCall = 2,
  kPythonCReturn = 3
};

struct PythonCall {
  static constexpr size_t kFixedBytes = 33;
  uint64_t time = 0;
  uint64_t thread_id = 0;
  uint64_t process_id = 0;
  uint64_t key = 0;  // of torch.python_tracer_hash
  uint8_t tag = 0;
};

inline void EncodeFixed(const PythonCall& call, uint8_t* out) {
  Store(out, 0, call.time);
  Store(out, 8, call.thread_id);
  Store(out, 16, call.process_id);
  Store(out, 24, call.key);
  Store(out, 32, call.tag);
}

inline bool Decode(Bytes in, PythonCall* call) {
  if (in.size() < PythonCall::kFixedBytes) return false;
  call->time = Load<uint64_t>(in, 0);
  call->thread_id = Load<uint64_t>(in, 8);
  call->process_id = Load<uint64_t>(in, 16);
  call->key = Load<uint64_t>(in, 24);
  call->tag = Load<uint8_t>(in, 32);
  return true;
}

// ---- torch.gc_record: records without framing
// ------------------------------------------------------------

struct GcPause {
  static constexpr size_t kFixedBytes = 24;
  uint64_t process_id = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

inline void EncodeFixed(const GcPause& pause, uint8_t* out) {
  Store(out, 0, pause.process_id);
  Store(out, 8, pause.start);
  Store(out, 16, pause.end);
}

inline bool Decode(Bytes in, GcPause* pause) {
  if (in.size() < GcPause::kFixedBytes) return false;
  pause->process_id = Load<uint64_t>(in, 0);
  pause->start = Load<uint64_t>(in, 8);
  pause->end = Load<uint64_t>(in, 16);
  return true;
}

// ---- torch.python_tracer_hash (field 1: the text), torch.param_tensor_info (field 1: parameters
// of a module, field
//      2: of an optimiser), and series of steplens.counter (field 1: the name)
//      -----------------------------

inline constexpr uint16_t kKeyText = 1;
inline constexpr uint16_t kParamModule = 1;
inline constexpr uint16_t kParamOptimizer = 2;

struct Keyed {
  static constexpr size_t kFixedBytes = 8;
  uint64_t key = 0;
};

inline void EncodeFixed(const Keyed& keyed, uint8_t* out) { Store(out, 0, keyed.key); }

inline bool Decode(Bytes in, Keyed* keyed) {
  if (in.size() < Keyed::kFixedBytes) return false;
  keyed->key = Load<uint64_t>(in, 0);
  return true;
}

// ---- steplens.mark (ours): field 1 the message, field 2 the domain
// ---------------------------------------

inline constexpr uint16_t kMarkMessage = 1;
inline constexpr uint16_t kMarkDomain = 2;

enum MarkKind : uint8_t {
  kMarkInstant = 0,   // end == start
  kMarkRange = 1,     //
  kMarkOpenRange = 2  // not ended when the capture was; `end` is the end of the capture
};

struct Mark {
  static constexpr size_t kFixedBytes = 49;
  uint64_t id = 0;  // unique in the process, from 1
  int64_t start = 0;
  int64_t end = 0;
  uint64_t start_thread = 0;
  uint64_t end_thread = 0;
  uint64_t process_id = 0;
  uint8_t kind = kMarkInstant;
};

inline void EncodeFixed(const Mark& mark, uint8_t* out) {
  Store(out, 0, mark.id);
  Store(out, 8, mark.start);
  Store(out, 16, mark.end);
  Store(out, 24, mark.start_thread);
  Store(out, 32, mark.end_thread);
  Store(out, 40, mark.process_id);
  Store(out, 48, mark.kind);
}

inline bool Decode(Bytes in, Mark* mark) {
  if (in.size() < Mark::kFixedBytes) return false;
  mark->id = Load<uint64_t>(in, 0);
  mark->start = Load<int64_t>(in, 8);
  mark->end = Load<int64_t>(in, 16);
  mark->start_thread = Load<uint64_t>(in, 24);
  mark->end_thread = Load<uint64_t>(in, 32);
  mark->process_id = Load<uint64_t>(in, 40);
  mark->kind = Load<uint8_t>(in, 48);
  return true;
}

// ---- steplens.counter (ours): series (Keyed, type 33) precede their samples (type 34)
// ----------------------

struct CounterSample {
  static constexpr size_t kFixedBytes = 24;
  uint64_t series = 0;  // key of a series record earlier in the file
  int64_t time = 0;
  double value = 0;
};

inline void EncodeFixed(const CounterSample& sample, uint8_t* out) {
  Store(out, 0, sample.series);
  Store(out, 8, sample.time);
  Store(out, 16, sample.value);
}

inline bool Decode(Bytes in, CounterSample* sample) {
  if (in.size() < CounterSample::kFixedBytes) return false;
  sample->series = Load<uint64_t>(in, 0);
  sample->time = Load<int64_t>(in, 8);
  sample->value = Load<double>(in, 16);
  return true;
}

// ---- steplens.thread (ours): field 1 the name; a thread that recorded something
// ----------------------------

inline constexpr uint16_t kThreadName = 1;

struct Thread {
  static constexpr size_t kFixedBytes = 16;
  uint64_t thread_id = 0;
  uint64_t process_id = 0;
};

inline void EncodeFixed(const Thread& thread, uint8_t* out) {
  Store(out, 0, thread.thread_id);
  Store(out, 8, thread.process_id);
}

inline bool Decode(Bytes in, Thread* thread) {
  if (in.size() < Thread::kFixedBytes) return false;
  thread->thread_id = Load<uint64_t>(in, 0);
  thread->process_id = Load<uint64_t>(in, 8);
  return true;
}

// ---- Appending
// -------------------------------------------------------------------------------------------

// A framed record without its fields; add these through what it returns.
template <typename T>
TlvWriter AppendRecord(std::vector<uint8_t>& out, RecordType type, const T& record) {
  TlvWriter writer(out, type, T::kFixedBytes);
  EncodeFixed(record, writer.fixed());
  return writer;
}

// A record of a file without framing.
template <typename T>
void AppendBare(std::vector<uint8_t>& out, const T& record) {
  EncodeFixed(record, Extend(out, T::kFixedBytes));
}

// The fields of a record, given its value and the size of its fixed part.
inline TlvReader Fields(Bytes value, size_t fixed_bytes) {
  return TlvReader(value.size() < fixed_bytes ? Bytes() : value.subspan(fixed_bytes));
}

}  // namespace steplens::format
