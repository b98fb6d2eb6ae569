#include "readers/prof/device_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "format/prof/device_records.h"
#include "readers/prof/device_logs.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using format::Bytes;

struct TsPart {
  std::vector<StepMark> marks;
  std::vector<std::pair<uint32_t, Flip>> flips;
};

void ReadTsTrack(const Side& device, bool is_950, const ReadOptions& options,
                 store::IssueLog& issues, DeviceRecords& out) {
  const std::vector<TsPart> parts = ReadParts<TsPart>(
      device.Find("ts_track"), sizeof(raw::TsTrack), Cut::kAnywhere, options, issues,
      [&](Bytes record, const Slice&, TsPart& part) {
        const auto track = As<raw::TsTrack>(record);
        if (track.function == raw::kTsStepTrace && is_950) {
          part.marks.push_back({track.time, track.step950.index, track.step950.model,
                                track.step950.stream, track.step950.task, track.step950.tag});
        } else if (track.function == raw::kTsStepTrace) {
          part.marks.push_back({track.time, track.step.index, track.step.model,
                                static_cast<uint32_t>(track.step.stream & raw::kTsStreamMask),
                                track.step.task, track.step.tag});
        } else if (track.function == raw::kTsFlip) {
          part.flips.push_back({static_cast<uint32_t>(track.flip.stream & raw::kTsStreamMask),
                                {track.time, track.flip.task}});
        }
        return true;
      });
  for (const TsPart& part : parts) {
    out.marks.insert(out.marks.end(), part.marks.begin(), part.marks.end());
    for (const auto& [stream, flip] : part.flips) out.flips[stream].push_back(flip);
  }
}

constexpr uint16_t kFftsTask = 4;
constexpr uint8_t kSubMixAic = 6;
constexpr uint8_t kSubMixAiv = 7;

Accelerator AcceleratorOf(uint16_t ffts, uint8_t sub_type) {
  if (ffts == kFftsTask && sub_type == kSubMixAic) return Accelerator::kMixAic;
  if (ffts == kFftsTask && sub_type == kSubMixAiv) return Accelerator::kMixAiv;
  if (ffts == 0 || (ffts == kFftsTask && sub_type == 0)) return Accelerator::kAic;
  return Accelerator::kAiv;
}

struct PmuPart {
  std::vector<TaskPmu> tasks;
  std::vector<BlockPmu> blocks;
  bool is_last_block = false;  // whether the record before was of a block
};

bool IsSameRun(const BlockPmu& a, const BlockPmu& b) {
  return a.stream == b.stream && a.task == b.task && a.batch == b.batch && a.context == b.context &&
         a.accelerator == b.accelerator && a.is_vector_core == b.is_vector_core;
}

template <typename Record>
void CopyCounters(const Record& record, std::array<uint64_t, kMaxCounters>& to) {
  static_assert(kLengthOf<decltype(record.counters)> <= kMaxCounters);
  std::memcpy(to.data(), &record.counters, sizeof(record.counters));  // may lie at any address
}

// A block joins the one before it if both are of one run.
void AddBlock(const BlockPmu& row, PmuPart& part) {
  if (!part.is_last_block || !IsSameRun(part.blocks.back(), row)) {
    part.blocks.push_back(row);
    part.blocks.back().blocks = 1;
  } else {
    BlockPmu& sum = part.blocks.back();
    sum.time = std::max(sum.time, row.time);
    sum.cycles += row.cycles;
    for (size_t i = 0; i < sum.counters.size(); ++i) sum.counters[i] += row.counters[i];
    ++sum.blocks;
  }
  part.is_last_block = true;
}

void AddPmuRecord(const raw::FftsPmu& record, bool has_wide_streams, PmuPart& part) {
  const uint16_t function = raw::FunctionOf(record.head);
  if (function != raw::kContextPmu && function != raw::kBlockPmu) return;
  const StreamTask ids = CorrectIds(record.stream, record.task, 0, has_wide_streams);
  const auto ffts = static_cast<uint16_t>(record.ffts >> 13);
  const Accelerator accelerator = AcceleratorOf(ffts, static_cast<uint8_t>(record.sub_type & 0xFF));
  if (function == raw::kContextPmu) {
    TaskPmu& row = part.tasks.emplace_back();
    row.time = record.end;
    row.cycles = record.cycles;
    CopyCounters(record, row.counters);
    row.stream = ids.stream;
    row.task = ids.task;
    row.context = ffts == kFftsTask ? uint32_t{record.context} : kNoContext;
    row.accelerator = accelerator;
    part.is_last_block = false;
    return;
  }
  BlockPmu row;
  row.time = record.end;
  row.stream = ids.stream;
  row.task = ids.task;
  row.context = record.context;
  row.accelerator = accelerator;
  row.is_vector_core = (record.ffts & 1) != 0;
  row.cycles = record.cycles;
  CopyCounters(record, row.counters);
  AddBlock(row, part);
}

// Which cores a kernel of chips 15 and 16 runs on: of a mixed one its master part says it.
Accelerator AcceleratorOf(const raw::FftsPmu950& record) {
  const bool is_vector_core = (record.core_type & 1) != 0;
  const bool is_master = (record.flags & 1) != 0;
  const bool is_mix = (record.flags & 2) != 0;
  if (!is_mix) return is_vector_core ? Accelerator::kAiv : Accelerator::kAic;
  return is_vector_core == is_master ? Accelerator::kMixAiv : Accelerator::kMixAic;
}

void AddPmuRecord950(const raw::FftsPmu950& record, const TaskStreams& streams, PmuPart& part) {
  const uint16_t function = raw::FunctionOf(record.head);
  if (function != raw::kContextPmu && function != raw::kBlockPmu) return;
  const auto fill = [&](auto& row) {
    row.time = record.end;
    row.cycles = record.cycles;
    CopyCounters(record, row.counters);
    row.task = record.task_low;
    row.batch = record.task_high;
    row.stream = streams.Of(row.batch << 16 | row.task);
    row.context = kNoContext;
    row.accelerator = AcceleratorOf(record);
  };
  if (function == raw::kContextPmu) {
    fill(part.tasks.emplace_back());
    part.is_last_block = false;
    return;
  }
  BlockPmu row;
  fill(row);
  row.is_vector_core = (record.core_type & 1) != 0;
  AddBlock(row, part);
}

void ReadFftsPmu(const Side& device, bool is_950, const IdRules& rules, const ReadOptions& options,
                 store::IssueLog& issues, DeviceRecords& out) {
  static_assert(sizeof(raw::FftsPmu) == sizeof(raw::FftsPmu950));
  std::vector<PmuPart> parts =
      ReadParts<PmuPart>(device.Find("ffts_profile"), sizeof(raw::FftsPmu), Cut::kAnywhere, options,
                         issues, [&](Bytes record, const Slice&, PmuPart& part) {
                           if (is_950) {
                             AddPmuRecord950(As<raw::FftsPmu950>(record), rules.streams, part);
                           } else {
                             AddPmuRecord(As<raw::FftsPmu>(record), rules.has_wide_streams, part);
                           }
                           return true;
                         });
  size_t tasks = 0;
  size_t blocks = 0;
  for (const PmuPart& part : parts) {
    tasks += part.tasks.size();
    blocks += part.blocks.size();
  }
  out.pmu.reserve(tasks);
  out.block_pmu.reserve(blocks);
  for (PmuPart& part : parts) {
    out.pmu.insert(out.pmu.end(), part.tasks.begin(), part.tasks.end());
    out.block_pmu.insert(out.block_pmu.end(), part.blocks.begin(), part.blocks.end());
    part = {};
  }
}

// Records without times: their place in the file tells runs of a task apart.
void ReadAicorePmu(const Side& device, std::string_view family, Accelerator accelerator,
                   const ReadOptions& options, store::IssueLog& issues, DeviceRecords& out) {
  std::vector<TaskPmu> rows =
      ReadRows<TaskPmu>(device.Find(family), sizeof(raw::AicorePmu), Cut::kAnywhere, options,
                        issues, [&](Bytes record, const Slice&, std::vector<TaskPmu>& part) {
                          const auto pmu = As<raw::AicorePmu>(record);
                          TaskPmu& row = part.emplace_back();
                          row.cycles = pmu.cycles;
                          CopyCounters(pmu, row.counters);
                          row.stream = pmu.stream & raw::kTsStreamMask;
                          row.task = pmu.task;
                          row.context = kNoContext;
                          row.accelerator = accelerator;
                          return true;
                        });
  for (TaskPmu& row : rows) {
    row.time = out.pmu.size();
    out.pmu.push_back(row);
  }
}

void ReadFrequencies(const Side& device, const ReadOptions& options, store::IssueLog& issues,
                     DeviceRecords& out) {
  out.frequencies = ReadRows<FrequencyPoint>(
      device.Find("lpmFreqConv"), sizeof(raw::FrequencyRecord), Cut::kAnywhere, options, issues,
      [](Bytes record, const Slice&, std::vector<FrequencyPoint>& part) {
        const auto changes = As<raw::FrequencyRecord>(record);
        if (changes.count > raw::kFrequenciesPerRecord) return false;
        for (uint32_t i = 0; i < changes.count; ++i)
          part.push_back({changes.changes[i].time, changes.changes[i].mhz});
        return true;
      });
  std::stable_sort(
      out.frequencies.begin(), out.frequencies.end(),
      [](const FrequencyPoint& a, const FrequencyPoint& b) { return a.time < b.time; });
}

// Ids become those of the host: its stream, and the id in two halves.
void NameStreams(const TaskStreams& streams, std::vector<DeviceTask>& tasks) {
  for (DeviceTask& task : tasks) {
    const uint32_t high = StreamOf(task.key);
    const uint32_t low = TaskOf(task.key);
    task.key = MakeTaskKey(streams.Of(high << 16 | low), high, low, ContextOf(task.key));
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const DeviceTask& a, const DeviceTask& b) {
    return std::tie(a.key, a.begin) < std::tie(b.key, b.begin);
  });
}

}  // namespace

DeviceRecords ReadDeviceRecords(const Side& device, const Control& control, const IdRules& rules,
                                const ReadOptions& options, store::IssueLog& issues) {
  DeviceRecords out;
  if (!IsKnownChip(control.chip)) {
    issues.Add(store::IssueKind::kDeviceUnknown,
               fmt::format("{}: tasks of chip {} are not read", NameOf(device.folder),
                           ChipName(control.chip)));
    return out;
  }
  TaskLogs logs;
  const bool has_stars = HasStars(control.chip);
  const bool is_950 = Is950(control.chip);
  const std::function<void(store::IssueLog&)> jobs[] = {
      [&](store::IssueLog& log) {
        logs = is_950      ? ReadStars950Logs(device, options, log)
               : has_stars ? ReadStarsLogs(device, rules.has_wide_streams, options, log)
                           : ReadHwtsLogs(device, options, log);
      },
      [&](store::IssueLog& log) { ReadTsTrack(device, is_950, options, log, out); },
      [&](store::IssueLog& log) {
        if (control.is_sample_based) return;
        if (has_stars) {
          ReadFftsPmu(device, is_950, rules, options, log, out);
        } else {
          ReadAicorePmu(device, "aicore", Accelerator::kAic, options, log, out);
          ReadAicorePmu(device, "aiVectorCore", Accelerator::kAiv, options, log, out);
        }
      },
      [&](store::IssueLog& log) { ReadFrequencies(device, options, log, out); },
  };
  std::vector<store::IssueLog> logs_of_jobs(std::size(jobs));
  options.pool->ParallelFor(std::size(jobs), [&](size_t i) { jobs[i](logs_of_jobs[i]); });
  for (const store::IssueLog& log : logs_of_jobs) issues.Merge(log);
  if (is_950) out.flips.clear();  // their ids do not wrap
  out.tasks = PairLogs(std::move(logs), out.flips, issues);
  if (is_950) {
    NameStreams(rules.streams, out.tasks);
  } else if (has_stars) {
    NumberDeviceRows(out.pmu, out.flips);
    NumberDeviceRows(out.block_pmu, out.flips);
  }
  return out;
}

}  // namespace steplens::readers::prof
