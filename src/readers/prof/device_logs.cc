#include "readers/prof/device_logs.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "format/prof/device_records.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using format::Bytes;

constexpr Marker kStarsMarker{offsetof(raw::StarsLog, magic), raw::kStarsMagic};
constexpr uint32_t kHostCpuBit = 3;  // PLACE_HOLDER_SQE
constexpr uint32_t kEventRecord = 4;

TaskLogs JoinParts(std::vector<TaskLogs> parts) {
  TaskLogs logs;
  size_t starts = 0;
  size_t ends = 0;
  for (const TaskLogs& part : parts) {
    starts += part.starts.size();
    ends += part.ends.size();
  }
  logs.starts.reserve(starts);
  logs.ends.reserve(ends);
  for (TaskLogs& part : parts) {
    logs.starts.insert(logs.starts.end(), part.starts.begin(), part.starts.end());
    logs.ends.insert(logs.ends.end(), part.ends.begin(), part.ends.end());
    part = {};
  }
  return logs;
}

// Without the number of wraps: an end does not know it.
uint64_t PairKey(const TaskLog& log) {
  return MakeTaskKey(log.stream, log.is_sub_task ? 1 : 0, log.task, log.context);
}

void SortByKey(std::vector<TaskLog>& logs) {
  std::stable_sort(logs.begin(), logs.end(), [](const TaskLog& a, const TaskLog& b) {
    const uint64_t a_key = PairKey(a);
    const uint64_t b_key = PairKey(b);
    return std::tie(a_key, a.time) < std::tie(b_key, b.time);
  });
}

DeviceTask MakeTask(const TaskLog& start, const TaskLog& end) {
  DeviceTask task;
  task.key = MakeTaskKey(start.stream, start.batch, start.task, start.context);
  task.begin = start.time;
  task.end = std::max(end.time, start.time);
  task.type = start.type;
  task.is_sub_task = start.is_sub_task;
  return task;
}

// The logs of one task.
void PairOne(std::span<const TaskLog> starts, std::span<const TaskLog> ends,
             std::vector<DeviceTask>& out, uint64_t& lost) {
  if (starts.size() == ends.size()) {
    for (size_t i = 0; i < starts.size(); ++i) out.push_back(MakeTask(starts[i], ends[i]));
    return;
  }
  const size_t before = out.size();
  size_t s = 0;
  size_t e = 0;
  while (s < starts.size() && e < ends.size()) {
    const bool is_after = ends[e].time >= starts[s].time;
    const bool is_last = s + 1 == starts.size() || ends[e].time < starts[s + 1].time;
    if (is_after && is_last) {
      out.push_back(MakeTask(starts[s++], ends[e++]));
    } else if (is_after) {
      ++s;
    } else {
      ++e;
    }
  }
  lost += starts.size() + ends.size() - 2 * (out.size() - before);
}

}  // namespace

StreamTask CorrectIds(uint16_t stream, uint16_t task, uint32_t sqe_type, bool has_wide_streams) {
  if (has_wide_streams) {
    const bool is_swapped =
        (stream & 0x8000) != 0 && sqe_type != kHostCpuBit && sqe_type != kEventRecord;
    if (!is_swapped) return {static_cast<uint32_t>(stream & 0x7FFF), task};
    return {static_cast<uint32_t>(task & 0x7FFF),
            static_cast<uint32_t>((task & 0x8000) | (stream & 0x7FFF))};
  }
  constexpr uint32_t kStreams = 2048;
  if ((stream & 0x1000) != 0) {
    return {stream % kStreams, static_cast<uint32_t>((task & 0x1FFF) | (stream & 0xE000))};
  }
  if ((stream & 0x2000) != 0) {
    return {(task & 0x0FFF) % kStreams, static_cast<uint32_t>((stream & 0x0FFF) | (task & 0xF000))};
  }
  return {stream % kStreams, task};
}

TaskLogs ReadStarsLogs(const Side& device, bool has_wide_streams, const ReadOptions& options,
                       store::IssueLog& issues) {
  return JoinParts(ReadParts<TaskLogs>(
      device.Find("stars_soc"), sizeof(raw::StarsLog), Cut::kAnywhere, options, issues,
      [&](Bytes record, const Slice&, TaskLogs& part) {
        const auto raw_log = As<raw::StarsLog>(record);
        if (raw_log.magic != raw::kStarsMagic) return false;
        const uint16_t function = raw::FunctionOf(raw_log.head);
        const bool is_sub = function == raw::kSubTaskStart || function == raw::kSubTaskEnd;
        if (!is_sub && function != raw::kTaskStart && function != raw::kTaskEnd) return true;
        const uint16_t sqe_type = raw::SqeTypeOf(raw_log.head);
        const StreamTask ids = CorrectIds(raw_log.stream, raw_log.task, sqe_type, has_wide_streams);
        TaskLog log;
        log.time = raw_log.time;
        log.stream = ids.stream;
        log.task = static_cast<uint16_t>(ids.task);
        log.is_sub_task = is_sub;
        log.type = static_cast<uint8_t>(is_sub ? raw_log.sub_type & 0xFF : sqe_type);
        if (is_sub) log.context = raw_log.context;
        ((function & 1) == 0 ? part.starts : part.ends).push_back(log);
        return true;
      },
      &kStarsMarker));
}

TaskLogs ReadStars950Logs(const Side& device, const ReadOptions& options, store::IssueLog& issues) {
  return JoinParts(ReadParts<TaskLogs>(
      device.Find("stars_soc"), sizeof(raw::StarsLog950), Cut::kAnywhere, options, issues,
      [](Bytes record, const Slice&, TaskLogs& part) {
        const auto raw_log = As<raw::StarsLog950>(record);
        if (raw_log.magic != raw::kStarsMagic) return false;
        const uint16_t function = raw::FunctionOf(raw_log.head);
        const bool is_sub = function == raw::kSubTaskStart || function == raw::kSubTaskEnd;
        if (!is_sub && function != raw::kTaskStart && function != raw::kTaskEnd) return true;
        TaskLog log;
        log.time = raw_log.time;
        log.stream = raw_log.task_high;
        log.task = raw_log.task_low;
        log.is_sub_task = is_sub;
        log.type =
            static_cast<uint8_t>(is_sub ? raw_log.sub_type & 0xFF : raw::SqeTypeOf(raw_log.head));
        if (is_sub) log.context = raw_log.context;
        ((function & 1) == 0 ? part.starts : part.ends).push_back(log);
        return true;
      },
      &kStarsMarker));
}

TaskLogs ReadHwtsLogs(const Side& device, const ReadOptions& options, store::IssueLog& issues) {
  return JoinParts(ReadParts<TaskLogs>(device.Find("hwts"), sizeof(raw::HwtsLog), Cut::kAnywhere,
                                       options, issues,
                                       [](Bytes record, const Slice&, TaskLogs& part) {
                                         const auto raw_log = As<raw::HwtsLog>(record);
                                         const uint8_t tag = raw_log.head & 7;
                                         if (tag > 1) return true;
                                         TaskLog log;
                                         log.time = raw_log.time;
                                         log.stream = raw_log.stream & raw::kTsStreamMask;
                                         log.task = raw_log.task;
                                         log.type = raw_log.type;
                                         (tag == 0 ? part.starts : part.ends).push_back(log);
                                         return true;
                                       }));
}

std::vector<DeviceTask> PairLogs(TaskLogs logs, const FlipsByStream& flips,
                                 store::IssueLog& issues) {
  // Sub-tasks are numbered for themselves: they begin a little later than their task.
  if (!flips.empty()) {
    const auto middle = std::stable_partition(logs.starts.begin(), logs.starts.end(),
                                              [](const TaskLog& log) { return !log.is_sub_task; });
    std::vector<TaskLog> sub_tasks(middle, logs.starts.end());
    logs.starts.erase(middle, logs.starts.end());
    NumberDeviceRows(logs.starts, flips);
    NumberDeviceRows(sub_tasks, flips);
    logs.starts.insert(logs.starts.end(), sub_tasks.begin(), sub_tasks.end());
  }
  SortByKey(logs.starts);
  SortByKey(logs.ends);
  std::vector<DeviceTask> tasks;
  tasks.reserve(logs.starts.size());
  uint64_t lost = 0;
  size_t end = 0;
  for (size_t start = 0; start < logs.starts.size();) {
    const uint64_t key = PairKey(logs.starts[start]);
    size_t start_last = start;
    while (start_last < logs.starts.size() && PairKey(logs.starts[start_last]) == key) ++start_last;
    while (end < logs.ends.size() && PairKey(logs.ends[end]) < key) ++end, ++lost;
    size_t end_last = end;
    while (end_last < logs.ends.size() && PairKey(logs.ends[end_last]) == key) ++end_last;
    PairOne(std::span(logs.starts).subspan(start, start_last - start),
            std::span(logs.ends).subspan(end, end_last - end), tasks, lost);
    start = start_last;
    end = end_last;
  }
  lost += logs.ends.size() - end;
  if (lost > 0) {
    issues.Add(store::IssueKind::kCallWithoutReturn, "a task of the device has no start or no end",
               lost);
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const DeviceTask& a, const DeviceTask& b) {
    return std::tie(a.key, a.begin) < std::tie(b.key, b.begin);
  });
  return tasks;
}

}  // namespace steplens::readers::prof
