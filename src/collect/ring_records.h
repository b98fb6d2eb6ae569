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

// As it was given, but its pointers say nothing: op.shape_words and op.input_words x uint64_t and
// op.field_count x sl_field follow.
struct OpRecord {
  RecordHead head;  // name
  sl_op op;
};

struct MemoryRecord {
  RecordHead head;
  sl_memory event;
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
