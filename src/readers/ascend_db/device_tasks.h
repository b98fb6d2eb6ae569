#pragma once

#include <cstdint>
#include <vector>

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// A row of TASK: something that ran on a stream.
struct TaskRow {
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  int64_t device = store::kNone;
  int64_t connection = store::kNone;
  int64_t global_id = store::kNone;
  int64_t stream = store::kNone;
  int64_t task_id = store::kNone;
  int64_t context_id = store::kNone;
  int64_t model_id = store::kNone;
  StringId type{};
  store::TrackId track = store::kNoTrack;
  bool is_communication = false;  // has a row of COMMUNICATION_TASK_INFO
};

// Rows in the order of the file. A task that a graph replays has several rows with one
// globalTaskId.
struct DeviceTasks {
  std::vector<TaskRow> rows;
  IdMap<uint32_t> by_global_id{kNoRow};  // globalTaskId -> its first row
  std::vector<uint32_t> next;  // row -> the next one with the same globalTaskId, or kNoRow
};

// What a launch on the host starts on the device: end of an arrow.
struct LaunchTarget {
  int64_t connection;
  int64_t begin_ns;
  store::TrackId track;
};

// TASK, in memory: the tables about tasks refer to it by globalTaskId.
Result<DeviceTasks> ReadTasks(DbContext& db);

}  // namespace steplens::readers
