#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "readers/prof/ascend_tasks.h"
#include "readers/prof/dictionary.h"
#include "readers/prof/host_records.h"
#include "readers/prof/host_tasks.h"

namespace steplens::readers::prof {

// What is known of a task of a collective, from the host or from AI CPU.
struct CommTaskFacts {
  uint64_t item = 0;  // hash
  uint64_t group = 0;
  uint64_t notify = 0;
  uint64_t size = 0;
  uint32_t local_rank = 0;
  uint32_t remote_rank = 0;
  uint32_t rank_size = 0;
  uint32_t data_type = 0;
  uint32_t link = 0;
  uint32_t transport = 0;
  uint32_t rdma = 0;
  double estimated_us = 0;
};

inline constexpr int64_t kNoPlane = -1;

// One run of a task of a collective.
struct CommRun {
  uint32_t task = kNoRow;  // AscendTask
  StringId op_name = StringId::kEmpty;
  bool has_facts = false;
  CommTaskFacts facts;
  uint64_t group = 0;
  bool has_group = false;
  bool is_aicpu = false;  // of a collective of AI CPU that the host knows as a kernel alone
  int64_t plane = kNoPlane;
  bool is_master = false;
};

// One run of a collective.
struct Collective {
  StringId name = StringId::kEmpty;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t type = 0;
  bool has_type = false;
  uint64_t group = 0;
  bool has_group = false;
  bool is_aicpu = false;  // a collective of AI CPU that the host knows as a kernel alone
  bool has_info = false;  // the three below
  uint32_t data_type = 0;
  uint64_t algorithm = 0;
  uint64_t count = 0;
  bool is_relay = false;
  bool is_retry = false;
  uint32_t rank_size = 0;  // 0: not known
  uint32_t connection = 0;
  uint32_t kernel_connection = 0;
  uint32_t model = kNoModel;
};

struct Collectives {
  std::vector<Collective> ops;  // by begin
  std::vector<CommRun> tasks;
};

// Rows of tasks by key.
class TaskIndex {
 public:
  explicit TaskIndex(const std::vector<AscendTask>& tasks);
  // Runs of the key, by begin.
  std::span<const uint32_t> Find(TaskKey key) const;

 private:
  std::vector<TaskKey> keys_;
  std::vector<uint32_t> rows_;
};

// Counts the collectives of each group as their names do.
class CollectiveNames {
 public:
  explicit CollectiveNames(StringPool& strings) : strings_(strings) {}
  // "hcom_allReduce_" -> "hcom_allReduce__585_2_1". Called in the order of the host's times;
  // `begin` is that of the collective on the host, `is_recorded` whether the capture had begun.
  StringId Name(StringId op, uint64_t group, bool has_group, uint64_t begin, bool is_recorded,
                uint64_t iteration);

 private:
  struct Counted {
    uint64_t begin = 0;
    int64_t count = -1;
  };
  StringPool& strings_;
  std::map<std::pair<uint64_t, bool>, Counted> groups_;
};

// The collectives that the host started on a device.
Collectives AssembleCollectives(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                                const HostTasks& host, const HostRecords& records,
                                int64_t device_id, const SideClock& clock, StringPool& strings,
                                Dictionary& names);

}  // namespace steplens::readers::prof
