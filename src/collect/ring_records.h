#pragma once

#include <cstdint>

#include "collect/ring.h"

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

// Followed by shape_words x int64_t and field_count x OpField.
struct OpRecord {
  RecordHead head;  // name
  uint64_t start;
  uint64_t end;
  int64_t sequence;
  uint64_t start_thread;  // 0: the ring's
  uint64_t end_thread;    // 0: the ring's
  uint64_t forward_thread;
  uint32_t dtypes;
  uint32_t call_stack;
  uint32_t modules;
  uint32_t shape_words;
  uint32_t field_count;
  uint8_t scope;
  uint8_t is_async;
  uint16_t reserved;
};

struct OpField {
  uint32_t tag;
  uint32_t text;
};

struct MemoryRecord {
  RecordHead head;
  uint64_t time;
  int64_t address;
  int64_t size;
  int64_t total_allocated;
  int64_t total_reserved;
  int64_t total_active;
  int64_t stream;
  int8_t device_type;
  int8_t device_index;
  uint8_t component;
  uint8_t kind;
  uint8_t allocator;
  uint8_t reserved[3];
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
