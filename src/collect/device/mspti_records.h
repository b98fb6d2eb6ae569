#pragma once

#include <cstddef>
#include <cstdint>

// The vendor's activity records. Fields are packed, sizes rounded up to 8: offsets are not
// naturally aligned. Strings belong to the vendor's library and live as long as the process. Times
// are nanoseconds since the epoch.
namespace steplens::collect::mspti {

enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kMaxLimitReached = 3,  // also: no more records in the buffer
  kWithoutPreload = 6,
};

#pragma pack(push, 4)

struct Pair {  // device and stream, or process and thread
  uint32_t first;
  uint32_t second;
};

struct Activity {
  int32_t kind;
  uint32_t reserved;
};

struct Marker {
  int32_t kind;
  int32_t flag;
  int32_t source_kind;
  uint64_t timestamp;
  uint64_t id;
  Pair object;
  const char* name;
  const char* domain;
  uint32_t padding;
};

struct Api {
  int32_t kind;
  uint64_t start;
  uint64_t end;
  Pair process;
  uint64_t correlation_id;
  const char* name;
  uint32_t padding;
};

struct Kernel {
  int32_t kind;
  uint64_t start;
  uint64_t end;
  Pair device;
  uint64_t correlation_id;
  const char* type;
  const char* name;
  uint32_t padding;
};

struct Hccl {
  int32_t kind;
  uint64_t start;
  uint64_t end;
  Pair device;
  double bandwidth;
  const char* name;
  const char* comm_name;
  uint32_t padding;
};

struct Memory {
  int32_t kind;
  int32_t operation;
  int32_t memory_kind;
  uint64_t correlation_id;
  uint64_t start;
  uint64_t end;
  uint64_t address;
  uint64_t bytes;
  uint32_t process_id;
  uint32_t device_id;
  uint32_t stream_id;
};

struct Memset {
  int32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t stream_id;
  uint64_t correlation_id;
  uint8_t is_async;
  uint8_t padding[7];
};

struct Memcpy {
  int32_t kind;
  int32_t copy_kind;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t stream_id;
  uint64_t correlation_id;
  uint8_t is_async;
  uint8_t padding[7];
};

struct ExternalCorrelation {
  int32_t kind;
  int32_t external_kind;
  uint64_t external_id;
  uint64_t correlation_id;
};

struct Communication {
  int32_t kind;
  int32_t data_type;
  uint64_t count;
  Pair device;
  uint64_t start;
  uint64_t end;
  const char* algorithm;
  const char* name;
  const char* comm_name;
  uint64_t correlation_id;
};

#pragma pack(pop)

#define SL_AT(record, field, offset) static_assert(offsetof(record, field) == (offset))
static_assert(sizeof(Activity) == 8);
static_assert(sizeof(Marker) == 56);
SL_AT(Marker, timestamp, 12);
SL_AT(Marker, id, 20);
SL_AT(Marker, object, 28);
SL_AT(Marker, name, 36);
SL_AT(Marker, domain, 44);
static_assert(sizeof(Api) == 48);
SL_AT(Api, start, 4);
SL_AT(Api, end, 12);
SL_AT(Api, process, 20);
SL_AT(Api, correlation_id, 28);
SL_AT(Api, name, 36);
static_assert(sizeof(Kernel) == 56);
SL_AT(Kernel, device, 20);
SL_AT(Kernel, correlation_id, 28);
SL_AT(Kernel, type, 36);
SL_AT(Kernel, name, 44);
static_assert(sizeof(Hccl) == 56);
SL_AT(Hccl, bandwidth, 28);
SL_AT(Hccl, name, 36);
SL_AT(Hccl, comm_name, 44);
static_assert(sizeof(Memory) == 64);
SL_AT(Memory, correlation_id, 12);
SL_AT(Memory, start, 20);
SL_AT(Memory, address, 36);
SL_AT(Memory, bytes, 44);
SL_AT(Memory, process_id, 52);
SL_AT(Memory, stream_id, 60);
static_assert(sizeof(Memset) == 56);
SL_AT(Memset, bytes, 8);
SL_AT(Memset, device_id, 32);
SL_AT(Memset, correlation_id, 40);
SL_AT(Memset, is_async, 48);
static_assert(sizeof(Memcpy) == 56);
SL_AT(Memcpy, copy_kind, 4);
SL_AT(Memcpy, start, 16);
SL_AT(Memcpy, is_async, 48);
static_assert(sizeof(ExternalCorrelation) == 24);
SL_AT(ExternalCorrelation, external_id, 8);
SL_AT(ExternalCorrelation, correlation_id, 16);
static_assert(sizeof(Communication) == 72);
SL_AT(Communication, count, 8);
SL_AT(Communication, device, 16);
SL_AT(Communication, start, 24);
SL_AT(Communication, algorithm, 40);
SL_AT(Communication, name, 48);
SL_AT(Communication, comm_name, 56);
SL_AT(Communication, correlation_id, 64);
#undef SL_AT

}  // namespace steplens::collect::mspti
