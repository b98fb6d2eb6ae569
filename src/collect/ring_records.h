#pragma once

#include <cstdint>

#include "collect/ring.h"
#include "steplens/collect.h"

// The compact records that travel through the rings; private to the library. `head.text` holds what
// the comment says.
namespace steplens::collect {

enum RingRecordType : uint8_t {
  kRingThread = 1,
  kRingRange,
  kRingOp,
  kRingMemory,
  kRingPython,
  kRingPythonName,
  kRingGc,
  kRingCounter,
  kRingMark,
  kRingOpMark,
  kRingBlock,
  kRingPlainOp,
};

// Whose the records from here on are.
struct ThreadRecord {
  RecordHead head;
  uint64_t thread_id;
  char name[16];  // ends with 0
};

struct RangeRecord {
  RecordHead head;  // name
  uint64_t start;
  uint64_t end;
};

// Followed by what its counts say, in this order: two thread ids (start, end), sl_op.shapes,
// sl_op.inputs, and as many sl_field.
struct OpRecord {
  RecordHead head;  // name
  uint64_t start;
  uint64_t end;
  int64_t sequence;
  uint64_t forward_thread;
  sl_string call_stack;
  sl_string modules;
  sl_string dtypes;
  uint16_t shape_words;
  uint16_t input_words;
  uint8_t field_count;
  uint8_t scope;
  uint8_t has_threads;  // 0: both ends are on the thread of the ring
  uint8_t is_async;
  uint8_t with_tensors;
  uint8_t unused[3];
};
static_assert(sizeof(OpRecord) == 64);

// Followed by the words of its inputs.
struct PlainOpRecord {
  RecordHead head;
  sl_plain_op op;
};
static_assert(sizeof(PlainOpRecord) == 64);

struct MemoryRecord {
  RecordHead head;
  sl_memory event;
};

// A block of a device; `head.text` has the device.
struct BlockRecord {
  static uint32_t DeviceText(int8_t type, int8_t index) {
    return static_cast<uint8_t>(type) | uint32_t{static_cast<uint8_t>(index)} << 8;
  }
  int8_t device_type() const { return static_cast<int8_t>(head.text); }
  int8_t device_index() const { return static_cast<int8_t>(head.text >> 8); }

  RecordHead head;
  uint64_t time;
  int64_t address;
  int64_t size;  // 0: it is freed
};

struct PythonRecord {
  RecordHead head;  // the tag of the event instead of a text
  uint64_t time;
  uint64_t key;
};

struct PythonNameRecord {
  RecordHead head;  // the name
  uint64_t key;
};

struct GcRecord {
  RecordHead head;
  uint64_t start;
  uint64_t end;
};

struct CounterRecord {
  RecordHead head;  // the series
  uint64_t time;
  double value;
};

enum RingMarkKind : uint32_t {
  kMarkNow,
  kMarkStart,
  kMarkEnd,          // of a range of any domain
  kMarkEndInDomain,  // only if the range was started in this domain
};

struct MarkRecord {
  RecordHead head;  // message
  uint64_t time;
  uint64_t id;
  uint32_t domain;
  uint32_t kind;  // RingMarkKind
};

struct OpMarkRecord {
  RecordHead head;  // name
  uint64_t time;
  uint64_t category;
  uint64_t correlation_id;
};

}  // namespace steplens::collect
