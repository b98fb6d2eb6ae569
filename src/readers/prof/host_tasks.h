#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "readers/prof/api_tree.h"
#include "readers/prof/dictionary.h"
#include "readers/prof/host_records.h"
#include "readers/prof/task_key.h"

// What the host says about each task: which call launched it, which operator it is, and whether it
// belongs to a collective.
namespace steplens::readers::prof {

inline constexpr uint32_t kNoRow = store::kNoId;
inline constexpr uint32_t kNoModel = ~uint32_t{0};

// An operator that runs on the device.
struct ComputeOp {
  uint64_t name = 0;  // hash
  uint64_t type = 0;
  uint32_t task_type = 0;
  uint32_t tensors = TensorSets::kEmpty;
  uint64_t attributes = 0;  // hash; 0 = none
  uint16_t blocks = 0;
  uint16_t mix_blocks = 0;
  bool has_type = false;  // type, state and HF32 are known
  bool has_task_type = false;
  bool is_static = false;
  bool is_hf32 = false;
};

// A task, or one sub-task of it.
struct HostTask {
  TaskKey key = 0;
  uint64_t time = 0;
  uint64_t kernel = 0;
  uint32_t thread = 0;
  uint32_t type = 0;        // of the runtime
  uint32_t connection = 0;  // of the call; 0 if there was none
  uint32_t model = kNoModel;
  uint32_t op = kNoRow;  // ComputeOp
  uint16_t device = 0;
};

// A task of a collective.
struct SmallOp {
  TaskKey key = 0;
  uint64_t time = 0;
  uint32_t thread = 0;
  uint32_t info = kNoRow;  // HostRecords::comm_tasks
  uint32_t big = kNoRow;   // BigOp
  uint16_t device = 0;
  bool is_master = false;
};

// A collective as the host started it.
struct BigOp {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t name = 0;
  uint64_t type = 0;
  bool has_type = false;
  uint32_t info = kNoRow;  // HostRecords::comm_ops
  uint32_t thread = 0;
  uint32_t model = kNoModel;
  uint32_t connection = 0;
  uint32_t kernel_connection = 0;  // of the call that launches its AI CPU kernel; 0 if none does
};

// What a copy moves.
struct CopySize {
  uint64_t bytes = 0;
  uint16_t direction = 0;
};

struct HostTasks {
  std::vector<HostTask> tasks;
  std::vector<ComputeOp> ops;
  std::vector<SmallOp> small_ops;                 // by thread, then by time
  std::vector<BigOp> big_ops;                     // by thread, then by begin
  std::unordered_map<uint32_t, CopySize> copies;  // by row of tasks; MEMCPY_ASYNC only
};

// Sorts the records by thread as it goes.
HostTasks AssembleHostTasks(const ApiTree& tree, HostRecords& records, Dictionary& names,
                            store::IssueLog& issues);

}  // namespace steplens::readers::prof
