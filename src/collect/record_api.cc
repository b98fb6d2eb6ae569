// The calls of collect.h that record something. None of them waits, allocates in the usual case, or
// throws.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "collect/auto.h"
#include "collect/clock.h"
#include "collect/library.h"
#include "collect/marks.h"
#include "collect/thread_state.h"
#include "steplens/collect.h"

namespace steplens::collect {
namespace {

constexpr uint32_t kFirstRanges = 64;
constexpr uint32_t kMaxInputWords = 16 * 1024;
constexpr uint32_t kMaxFields = 64;

// The thread's state while there is a capture, also a paused one: ranges must nest over a pause.
inline ThreadState* RangeThread() {
  const uint32_t generation = hot_state.current_generation.load(std::memory_order_relaxed);
  if (generation == 0) return nullptr;
  ThreadState* state = this_thread;
  if (__builtin_expect(state == nullptr || state->generation != generation, 0)) {
    state = PrepareThread(generation);
  }
  return state;
}

// Room for one more open range; false if it is too deep or there is no memory.
__attribute__((noinline)) bool GrowRanges(ThreadState* state) {
  if (state->depth >= kMaxDepth || state->busy != 0) return false;
  const uint32_t wanted = std::min(std::max(state->range_capacity * 2, kFirstRanges), kMaxDepth);
  state->busy = 1;  // realloc is not for signal handlers
  void* memory = std::realloc(state->ranges, wanted * sizeof(OpenRange));
  state->busy = 0;
  if (memory == nullptr) return false;
  state->ranges = static_cast<OpenRange*>(memory);
  state->range_capacity = wanted;
  return true;
}

inline void BeginRange(sl_string name) {
  ThreadState* state = RangeThread();
  if (__builtin_expect(state == nullptr, 0)) return;
  if (__builtin_expect(state->depth == state->range_capacity, 0) && !GrowRanges(state)) {
    ++state->too_deep;
    return CountDrop(state);
  }
  // The place is taken before it is filled: a signal handler that comes in between uses the next
  // one.
  OpenRange* range = &state->ranges[state->depth++];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  range->name = name;
  range->kept = IsRecording() ? 1 : 0;
  range->start = Now();
}

inline void RecordRange(ThreadState* state, const OpenRange& range, uint64_t end) {
  if (range.kept == 0 || !IsRecording()) return;
  RangeRecord record;
  record.start = range.start;
  record.end = end;
  EmitRecord(state, kRingRange, range.name, record);
}

inline void EndRange() {
  const uint32_t generation = hot_state.current_generation.load(std::memory_order_relaxed);
  ThreadState* state = this_thread;
  if (generation == 0 || state == nullptr || state->generation != generation) return;
  const uint64_t end = Now();
  if (__builtin_expect(state->too_deep != 0, 0)) {
    --state->too_deep;
    return;
  }
  if (state->depth == 0) return;
  const OpenRange range = state->ranges[state->depth - 1];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --state->depth;
  RecordRange(state, range, end);
}

// A step is not a range among ranges: a loop that ends it inside a range of its own must not end
// that range with it.
void BeginStep(sl_string name) {
  ThreadState* state = RangeThread();
  if (state == nullptr) return;
  const uint64_t now = Now();
  if (state->has_step) RecordRange(state, state->step, now);  // nobody ended it
  state->step = {now, name, IsRecording() ? 1u : 0u};
  state->has_step = true;
}

void EndStep() {
  const uint32_t generation = hot_state.current_generation.load(std::memory_order_relaxed);
  ThreadState* state = this_thread;
  if (generation == 0 || state == nullptr || state->generation != generation) return;
  if (!state->has_step) return;
  state->has_step = false;
  RecordRange(state, state->step, Now());
}

bool IsInBounds(const sl_op& op) {
  const auto is_fine = [](const void* from, uint32_t count, uint32_t most) {
    return count == 0 || (from != nullptr && count <= most);
  };
  return is_fine(op.shapes, op.shape_words, kMaxInputWords) &&
         is_fine(op.inputs, op.input_words, kMaxInputWords) &&
         is_fine(op.fields, op.field_count, kMaxFields);
}

// What is asked for beyond the bounds is left out.
sl_op Bounded(const sl_op& op) {
  sl_op out = op;
  out.shape_words = op.shapes != nullptr ? std::min(op.shape_words, kMaxInputWords) : 0;
  out.input_words = op.inputs != nullptr ? std::min(op.input_words, kMaxInputWords) : 0;
  out.field_count = op.fields != nullptr ? std::min(op.field_count, kMaxFields) : 0;
  return out;
}

static_assert(sizeof(sl_field) == 8 && kMaxInputWords <= 0xFFFF && kMaxFields <= 0xFF);

// Copies words; most operators have few, for which a call of memcpy would cost more.
inline uint64_t* AppendWords(const void* from, uint32_t count, uint64_t* place) {
  const auto* words = static_cast<const uint64_t*>(from);
  for (uint32_t i = 0; i < count; ++i) place[i] = words[i];
  return place + count;
}

// The record of an operator, written to `place`; its parts follow each other.
inline void FillOp(const sl_op& op, bool has_threads, size_t bytes, uint8_t* place) {
  auto* record = reinterpret_cast<OpRecord*>(place);
  record->head = RecordHead::Of(kRingOp, bytes, op.name);
  record->start = op.start;
  record->end = op.end;
  record->sequence = op.sequence;
  record->forward_thread = op.forward_thread;
  record->call_stack = op.call_stack;
  record->modules = op.modules;
  record->dtypes = op.dtypes;
  record->shape_words = static_cast<uint16_t>(op.shape_words);
  record->input_words = static_cast<uint16_t>(op.input_words);
  record->field_count = static_cast<uint8_t>(op.field_count);
  record->scope = op.scope;
  record->has_threads = has_threads ? 1 : 0;
  record->is_async = op.is_async;
  record->with_tensors = op.with_tensors;
  auto* words = reinterpret_cast<uint64_t*>(record + 1);
  if (has_threads) {
    words[0] = op.start_thread;
    words[1] = op.end_thread;
    words += 2;
  }
  words = AppendWords(op.shapes, op.shape_words, words);
  words = AppendWords(op.inputs, op.input_words, words);
  AppendWords(op.fields, op.field_count, words);
}

inline void EmitOp(ThreadState* state, const sl_op& op) {
  const bool has_threads = (op.start_thread | op.end_thread) != 0;
  const size_t words =
      op.shape_words + op.input_words + op.field_count + (has_threads ? size_t{2} : 0);
  const size_t bytes = sizeof(OpRecord) + words * 8;
  Emit(state, bytes,
       [&op, has_threads, bytes](uint8_t* place) { FillOp(op, has_threads, bytes, place); });
}

// Calls with_fill(bytes, fill) for TryEmit or Emit.
template <typename WithFill>
inline __attribute__((always_inline)) auto FillPlainOp(const sl_plain_op& op, uint64_t end,
                                                       const uint64_t* inputs, WithFill with_fill) {
  const uint32_t words = __builtin_expect(op.input_words <= kMaxInputWords, 1) ? op.input_words : 0;
  const size_t bytes = sizeof(PlainOpRecord) + words * sizeof(uint64_t);
  return with_fill(bytes, [&op, inputs, end, words, bytes](uint8_t* place) {
    auto* record = reinterpret_cast<PlainOpRecord*>(place);
    record->head = RecordHead::Of(kRingPlainOp, bytes, op.name);
    record->op = op;
    record->op.end = end;
    record->op.input_words = words;
    AppendWords(inputs, words, reinterpret_cast<uint64_t*>(record + 1));
  });
}

// On a thread that is not prepared yet, or has no room: apart, so that what is done for every
// operator needs no more code than that.
__attribute__((noinline)) void EmitPlainOpSlowly(const sl_plain_op* op, uint64_t end,
                                                 const uint64_t* inputs) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  FillPlainOp(*op, end, inputs, [state](size_t bytes, auto fill) { Emit(state, bytes, fill); });
}

inline void EmitPlainOp(const sl_plain_op* op, uint64_t end, const uint64_t* inputs) {
  if (op == nullptr || (op->input_words != 0 && inputs == nullptr)) return;
  const uint32_t generation = RecordedGeneration();
  ThreadState* state = this_thread;
  if (__builtin_expect(generation == 0 || state == nullptr || state->generation != generation, 0) ||
      __builtin_expect(
          !FillPlainOp(*op, end, inputs,
                       [state](size_t bytes, auto fill) { return TryEmit(state, bytes, fill); }),
          0)) {
    EmitPlainOpSlowly(op, end, inputs);
  }
}

sl_string Intern(std::string_view text) {
  try {
    return TheLibrary().strings.Intern(text);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

void RecordOpenRanges() {
  ThreadState* state = this_thread;
  if (state == nullptr || state->generation != RecordedGeneration() || !IsRecording()) return;
  const uint64_t now = Now();
  for (uint32_t at = state->depth; at-- > 0;) {  // inner ones first, as they would have ended
    RecordRange(state, state->ranges[at], now);
    state->ranges[at].kept = 0;  // it ends later, without a second record
  }
}

}  // namespace steplens::collect

using namespace steplens::collect;

extern "C" {

sl_string sl_intern(const char* text, size_t length) {
  return text != nullptr ? Intern({text, length}) : 0;
}

sl_ticks sl_now(void) { return Now(); }
int sl_now_is_counter(void) { return hot_state.clock_is_counter ? 1 : 0; }

uint64_t sl_thread(void) {
  const ThreadState* state = StateOfThisThread();
  return state != nullptr ? state->thread_id : 0;
}

void sl_range_begin(sl_string name) { BeginRange(name); }
void sl_range_end(void) { EndRange(); }

void sl_range_begin_text(const char* name, size_t length) {
  if (hot_state.current_generation.load(std::memory_order_relaxed) == 0) return;
  BeginRange(sl_intern(name, length));
}

void sl_step_begin(int64_t step) {
  AutoStepBegin();
  if (hot_state.current_generation.load(std::memory_order_relaxed) == 0) return;
  char name[48];
  const int length =
      std::snprintf(name, sizeof(name), "ProfilerStep#%lld", static_cast<long long>(step));
  BeginStep(Intern({name, static_cast<size_t>(length)}));
}

void sl_step_end(void) {
  EndStep();
  AutoStepEnd();
}

void sl_record_op(const sl_op* op) {
  if (op == nullptr) return;
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  if (__builtin_expect(!IsInBounds(*op), 0)) {
    const sl_op bounded = Bounded(*op);
    return EmitOp(state, bounded);
  }
  EmitOp(state, *op);
}

void sl_record_plain_op(const sl_plain_op* op, const uint64_t* inputs) {
  if (op != nullptr) EmitPlainOp(op, op->end != 0 ? op->end : Now(), inputs);
}

void sl_record_plain_op_until(const sl_plain_op* op, sl_ticks end, const uint64_t* inputs) {
  EmitPlainOp(op, end, inputs);
}

void sl_record_memory(const sl_memory* event) {
  if (event == nullptr) return;
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  MemoryRecord record;
  record.event = *event;
  if (event->time == 0) record.event.time = Now();
  EmitRecord(state, kRingMemory, 0, record);
}

void sl_record_block(int64_t address, int64_t size, int8_t device_type, int8_t device_index) {
  ThreadState* state = RecordingThread();
  if (state == nullptr || size < 0) return;
  BlockRecord record;
  record.time = Now();
  record.address = address;
  record.size = size;
  EmitRecord(state, kRingBlock, BlockRecord::DeviceText(device_type, device_index), record);
}

void sl_record_op_mark(const sl_op_mark* mark) {
  if (mark == nullptr) return;
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  OpMarkRecord record = {};
  record.time = mark->time != 0 ? mark->time : Now();
  record.category = mark->category;
  record.correlation_id = mark->correlation_id;
  EmitRecord(state, kRingOpMark, mark->name, record);
}

void sl_record_python(sl_ticks time, uint64_t key, uint8_t tag) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  PythonRecord record;
  record.time = time;
  record.key = key;
  EmitRecord(state, kRingPython, tag, record);
}

void sl_record_python_now(uint64_t key, uint8_t tag) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  PythonRecord record;
  record.time = Now();
  record.key = key;
  EmitRecord(state, kRingPython, tag, record);
}

void sl_python_name(uint64_t key, const char* text, size_t length) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  PythonNameRecord record;
  record.key = key;
  EmitRecord(state, kRingPythonName, sl_intern(text, length), record);
}

void sl_param_info(uint64_t key, uint16_t tag, const char* text, size_t length) {
  sl_param_tensors(key, tag, text, length, nullptr, 0);
}

void sl_param_tensors(uint64_t key, uint16_t tag, const char* text, size_t length,
                      const uint64_t* words, size_t word_count) {
  if (text == nullptr || RecordingThread() == nullptr) return;
  try {
    SideQueue::Item item;
    item.key = key;
    item.tag = tag;
    item.text.assign(text, length);
    if (words != nullptr) item.words.assign(words, words + word_count);
    TheLibrary().side.Add(std::move(item));
  } catch (const std::bad_alloc&) {
  }
}

void sl_record_gc(sl_ticks start, sl_ticks end) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  GcRecord record;
  record.start = start;
  record.end = end;
  EmitRecord(state, kRingGc, 0, record);
}

void sl_counter(sl_string series, double value) {
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  CounterRecord record;
  record.time = Now();
  record.value = value;
  EmitRecord(state, kRingCounter, series, record);
}

void sl_mark(sl_string message, sl_string domain) { Mark(message, domain, nullptr); }
uint64_t sl_mark_start(sl_string message, sl_string domain) {
  return StartMark(message, domain, nullptr);
}
void sl_mark_on_stream(sl_string message, sl_string domain, void* stream) {
  Mark(message, domain, stream);
}
uint64_t sl_mark_start_on_stream(sl_string message, sl_string domain, void* stream) {
  return StartMark(message, domain, stream);
}
void sl_mark_end(uint64_t id) { EndMark(id); }
void sl_mark_end_in(uint64_t id, sl_string domain) { EndMarkInDomain(id, domain); }

}  // extern "C"
