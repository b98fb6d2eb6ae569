#pragma once

#include <cstdint>

#include "format/prof/host_records.h"

// aicpu.data.<n>: additional records (256 bytes, level 6000) that the AI CPU writes. The type of
// the head says what the payload is; times are values of the device's counter.
namespace steplens::format::prof {

enum AicpuType : uint32_t {
  kAicpuNode = 0,
  kAicpuDataQueue = 1,
  kAicpuQueueWait = 3,
  kAicpuCommTurn = 4,
  kAicpuComputeTurn = 5,
  kAicpuHcclOp = 10,
  kAicpuFlip = 11,
  kAicpuMainStream = 12,
  kAicpuHcclTasks = 13,
};

#pragma pack(push, 1)

// kAicpuNode: a kernel that ran.
struct AicpuNode {
  uint16_t stream;        // 0
  uint16_t task;          // 2
  uint32_t unused;        // 4
  uint64_t run_start_us;  // 8
  uint64_t run_start;     // 16
  uint64_t compute_us;    // 24
  uint64_t copy_us;       // 32
  uint64_t copy_end_us;   // 40
  uint64_t run_end_us;    // 48
  uint64_t run_end;       // 56
  uint32_t thread;        // 64
  uint32_t device;        // 68
  uint64_t submit;        // 72
  uint64_t schedule;      // 80
  uint64_t before_run;    // 88
  uint64_t after_run;     // 96
  uint32_t kernel_type;   // 104
  uint32_t dispatch_us;   // 108
  uint32_t total_us;      // 112
  uint16_t ffts_thread;   // 116
  uint8_t version;        // 118
};
static_assert(sizeof(AicpuNode) == 119);

// DATA_PREPROCESS.AICPU.<n>, 128 bytes: what earlier runtimes write instead of kAicpuNode.
struct AicpuNodeOld {
  uint16_t magic;         // 0
  uint16_t tag;           // 2: kAicpuNodeTag
  uint16_t stream;        // 4
  uint16_t task;          // 6
  uint64_t run_start_us;  // 8
  uint64_t run_start;     // 16
  uint64_t compute_us;    // 24
  uint64_t copy_us;       // 32
  uint64_t copy_end_us;   // 40
  uint64_t run_end_us;    // 48
  uint64_t run_end;       // 56
  uint32_t thread;        // 64
  uint32_t device;        // 68
  uint64_t submit;        // 72
  uint64_t schedule;      // 80
  uint64_t before_run;    // 88
  uint64_t after_run;     // 96
  uint32_t kernel_type;   // 104
  uint32_t dispatch_us;   // 108
  uint32_t total_us;      // 112
  uint16_t ffts_thread;   // 116
  uint8_t version;        // 118
  uint8_t rest[9];        // 119
};
static_assert(sizeof(AicpuNodeOld) == 128);
inline constexpr uint16_t kAicpuNodeTag = 60;

// kAicpuHcclOp: the collective that a kernel carries out.
struct AicpuHcclOp {
  uint8_t flags;       // 0: bit 0 relay, bit 1 retry
  uint8_t data_type;   // 1
  uint64_t algorithm;  // 2
  uint64_t count;      // 10
  uint64_t group;      // 18
  uint32_t rank_size;  // 26
  uint16_t stream;     // 30
  uint32_t task;       // 32
};
static_assert(sizeof(AicpuHcclOp) == 36);

// kAicpuCommTurn: one turn of a collective that is fused with an operator; 0 where it was not
// reached.
struct AicpuCommTurn {
  uint64_t times[7];  // 0: start, wait for the request, orchestrate, launch, launched, done, end
  uint64_t bytes;     // 56
  uint32_t device;    // 64
  uint16_t stream;    // 68
  uint16_t task;      // 70
  uint8_t version;    // 72
  uint8_t turns;      // 73
  uint8_t turn;       // 74
};
static_assert(sizeof(AicpuCommTurn) == 75);

// kAicpuComputeTurn: the computing of such a turn.
struct AicpuComputeTurn {
  uint64_t times[3];  // 0: wait, start, end
  uint64_t bytes;     // 24
  uint32_t device;    // 32
  uint16_t stream;    // 36
  uint16_t task;      // 38
  uint8_t version;    // 40
  uint8_t turns;      // 41
  uint8_t turn;       // 42
};
static_assert(sizeof(AicpuComputeTurn) == 43);

// kAicpuFlip: task ids of a stream began again.
struct AicpuFlip {
  uint16_t stream;  // 0
  uint16_t task;    // 2
  uint32_t number;  // 4
};
static_assert(sizeof(AicpuFlip) == 8);

// kAicpuMainStream: the first or the last task of a collective on its main stream.
struct AicpuMainStream {
  uint16_t kernel_stream;  // 0
  uint16_t kernel_task;    // 2
  uint16_t stream;         // 4
  uint16_t task;           // 6
  uint16_t type;           // 8: 0 first, 1 last
};
static_assert(sizeof(AicpuMainStream) == 10);

// kAicpuHcclTasks: two of these; the second is unused if its group is 0.
struct AicpuHcclTask {
  uint64_t item;         // 0
  uint64_t tag;          // 8
  uint64_t group;        // 16
  uint32_t local_rank;   // 24
  uint32_t remote_rank;  // 28
  uint32_t rank_size;    // 32
  uint32_t stage;        // 36
  uint64_t notify;       // 40
  uint64_t time;         // 48
  double estimated_us;   // 56
  uint64_t source;       // 64
  uint64_t destination;  // 72
  uint64_t size;         // 80
  uint32_t task;         // 88
  uint32_t unused;       // 92
  uint16_t stream;       // 96
  uint16_t plane;        // 98
  uint8_t op_type;       // 100
  uint8_t data_type;     // 101
  uint8_t link;          // 102
  uint8_t transport;     // 103
  uint8_t rdma;          // 104
  uint8_t role;          // 105
  uint8_t workflow;      // 106
  uint8_t rest[9];       // 107
};
static_assert(sizeof(AicpuHcclTask) == 116);

#pragma pack(pop)

}  // namespace steplens::format::prof
