#include "readers/prof/prof_sheets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/prof/device_records.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/enum_names.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

constexpr double kUsInNs = 1000;
constexpr double kUnknownRate = std::numeric_limits<double>::quiet_NaN();

double Microseconds(int64_t ns) { return static_cast<double>(ns) / kUsInNs; }

// Runs of operators by stream and task, whatever the wraps of ids.
class RunsByTask {
 public:
  explicit RunsByTask(const DeviceView& view) : view_(view) {
    for (size_t i = 0; i < view.tasks.size(); ++i) {
      const AscendTask& task = view.tasks[i];
      if (OpOf(task) == nullptr) continue;
      const uint32_t id = ShownTaskOf(task.key, Is950(view.control.chip));
      runs_[{StreamOf(task.key), id}].push_back(static_cast<uint32_t>(i));
    }
  }
  const ComputeOp* OpOf(const AscendTask& task) const {
    if (task.host == kNoRow) return nullptr;
    const uint32_t op = view_.host.tasks[task.host].op;
    return op == kNoRow ? nullptr : &view_.host.ops[op];
  }
  // The kernel of AI CPU that ran at a time of the device's counter.
  const ComputeOp* AicpuAt(uint32_t stream, uint32_t task, uint64_t time) const {
    const auto found = runs_.find({stream, task});
    if (found == runs_.end()) return nullptr;
    for (const uint32_t run : found->second) {
      const AscendTask& candidate = view_.tasks[run];
      const ComputeOp* op = OpOf(candidate);
      const bool is_aicpu = op->has_task_type && op->task_type == kOpAiCpu;
      if (is_aicpu && candidate.begin <= time && time <= candidate.end) return op;
    }
    return nullptr;
  }
  // The n-th run of a task; the last one if there are fewer.
  const ComputeOp* Nth(uint32_t stream, uint32_t task, size_t n) const {
    const auto found = runs_.find({stream, task});
    if (found == runs_.end()) return nullptr;
    return OpOf(view_.tasks[found->second[std::min(n, found->second.size() - 1)]]);
  }

 private:
  const DeviceView& view_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> runs_;  // rows of tasks, by begin
};

void WriteAicpu(const SampleInput& input, const RunsByTask& runs, const AicpuRecords& aicpu,
                Dictionary& names) {
  const auto device = static_cast<double>(input.side.device);
  SheetBuilder sheet(
      "aicpu", {"Device_id", "Timestamp(us)", "Node", "Compute_time(us)", "Memcpy_time(us)",
                "Task_time(us)", "Dispatch_time(us)", "Total_time(us)", "Stream ID", "Task ID"});
  for (const AicpuRun& run : aicpu.runs) {
    const int64_t begin_ns = input.clock.DeviceUtc(run.begin);
    if (begin_ns < input.clock.begin_ns) continue;
    const ComputeOp* op = runs.AicpuAt(run.stream, run.task, run.begin);
    const auto between = [&](uint64_t from, uint64_t to) {
      return Microseconds(DurationNs(input.clock.DeviceUtc(from), input.clock.DeviceUtc(to)));
    };
    sheet.Number(device)
        .Number(Microseconds(begin_ns))
        .Text(op == nullptr ? StringId::kEmpty : names.Hash(op->name))
        .Number(static_cast<double>(run.compute_us))
        .Number(static_cast<double>(run.copy_us))
        .Number(between(run.begin, run.end))
        .Number(static_cast<double>(run.dispatch_us))
        .Number(between(run.submit, run.after))
        .Number(run.stream)
        .Number(run.task);
  }
  sheet.Finish(input.out);
}

// Times as the reference has them: of the queue as ns of the monotonic clock, of waits unchanged.
void WriteQueues(const SampleInput& input, const AicpuRecords& aicpu) {
  const auto device = static_cast<double>(input.side.device);
  SheetBuilder actions("dp",
                       {"Device_id", "Timestamp(us)", "Action", "Source", "Cached Buffer Size"});
  for (const QueueAction& action : aicpu.actions) {
    const auto monotonic_ns = static_cast<int64_t>(action.time & INT64_MAX);
    actions.Number(device)
        .Number(Microseconds(input.clock.Utc(monotonic_ns)))
        .Text(input.out.strings.Intern(action.action))
        .Text(input.out.strings.Intern(action.source))
        .Number(static_cast<double>(action.size));
  }
  actions.Finish(input.out);
  SheetBuilder waits("aicpu_mi",
                     {"Device_id", "Node Name", "Start Time(us)", "End Time(us)", "Queue Size"});
  for (const QueueWait& wait : aicpu.waits) {
    waits.Number(device)
        .Text(input.out.strings.Intern("GetNext_dequeue_wait"))
        .Number(static_cast<double>(wait.begin))
        .Number(static_cast<double>(wait.end))
        .Number(static_cast<double>(wait.queue_size));
  }
  waits.Finish(input.out);
}

// Which events of the cache a chip counts its requests, hits and victims with.
struct CacheEvents {
  std::vector<uint32_t> requests;
  std::vector<uint32_t> hits;
  std::vector<uint32_t> victims;
};

CacheEvents EventsOf(int64_t chip) {
  if (chip == kChip910A) return {{0x59}, {0x5b}, {0x5c}};
  if (chip == kChipMdc || chip == kChip610 || chip == kChip310P)
    return {{0x78, 0x79}, {0x6a}, {0x71}};
  if (Is950(chip)) return {{0x00}, {}, {0x74, 0x75}};
  return {{0xfb, 0xfc}, {0x90, 0x91}, {0x9c}};
}

void WriteCache(const SampleInput& input, const RunsByTask& runs, Dictionary& names) {
  const CacheEvents events = EventsOf(input.control.chip);
  const std::vector<uint32_t>& counted = input.control.l2_events;
  const bool has_hits = !HasStars(input.control.chip);
  SheetBuilder sheet("l2_cache",
                     {"Device_id", "Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"});
  std::map<std::pair<uint32_t, uint32_t>, size_t> seen;
  const auto rows = ReadRows<raw::L2Cache>(
      input.side.Find("l2_cache"), sizeof(raw::L2Cache), Cut::kAnywhere, input.options,
      input.out.issues, [](format::Bytes record, const Slice&, std::vector<raw::L2Cache>& out) {
        out.push_back(As<raw::L2Cache>(record));
        return true;
      });
  for (const raw::L2Cache& row : rows) {
    const auto sum = [&](const std::vector<uint32_t>& wanted) {
      double total = 0;
      for (size_t i = 0; i < counted.size() && i < kLengthOf<decltype(row.counters)>; ++i) {
        const uint64_t count = row.counters[i];
        if (std::find(wanted.begin(), wanted.end(), counted[i]) != wanted.end())
          total += static_cast<double>(count);
      }
      return total;
    };
    const double requests = sum(events.requests);
    const auto rate = [&](double part) {
      return requests > 0 ? std::round(part / requests * 1e6) / 1e6 : 0;
    };
    const uint32_t stream = row.stream;
    const uint32_t task = row.task;
    const ComputeOp* op = runs.Nth(stream, task, seen[{stream, task}]++);
    sheet.Number(static_cast<double>(input.side.device))
        .Number(stream)
        .Number(task)
        .Number(has_hits ? rate(sum(events.hits)) : kUnknownRate)
        .Number(rate(sum(events.victims)))
        .Text(op == nullptr ? StringId::kEmpty : names.Hash(op->name));
  }
  sheet.Finish(input.out);
}

// How often the address of an access was known.
void WriteTranslations(const SampleInput& input, const RunsByTask& runs, Dictionary& names) {
  constexpr uint32_t kRequest = 0x8a;
  constexpr uint32_t kMiss = 0x2;
  const std::vector<uint32_t>& counted = input.control.smmu_events;
  if (counted.empty()) return;
  SheetBuilder sheet(
      "soc_pmu", {"Device_id", "Stream Id", "Task Id", "TLB Hit Rate", "TLB Miss Rate", "Op Name"});
  std::map<std::pair<uint32_t, uint32_t>, size_t> seen;
  static_assert(sizeof(raw::SocPmu) == sizeof(raw::SocPmu950));
  const bool is_950 = Is950(input.control.chip);
  const auto rows = ReadRows<raw::SocPmu950>(
      input.side.Find("socpmu"), sizeof(raw::SocPmu950), Cut::kAnywhere, input.options,
      input.out.issues, [&](format::Bytes record, const Slice&, std::vector<raw::SocPmu950>& out) {
        auto& row = out.emplace_back(As<raw::SocPmu950>(record));
        if (!is_950) row.task = As<raw::SocPmu>(record).task;
        return true;
      });
  for (const raw::SocPmu950& row : rows) {
    double requests = 0;
    double hits = 0;
    double misses = 0;
    for (size_t i = 0; i < counted.size() && i < kLengthOf<decltype(row.counters)>; ++i) {
      const uint64_t count = row.counters[i];
      if (counted[i] == kRequest) requests += static_cast<double>(count);
      if (counted[i] == 0x8c || counted[i] == 0x8d) hits += static_cast<double>(count);
      if (counted[i] == kMiss) misses += static_cast<double>(count);
    }
    const auto rate = [&](double part) {
      return requests > 0 ? std::round(part / requests * 1e6) / 1e6 : 0;
    };
    const uint32_t stream = row.stream;
    const uint32_t task = row.task;
    const ComputeOp* op = runs.Nth(stream, task, seen[{stream, task}]++);
    sheet.Number(static_cast<double>(input.side.device))
        .Number(stream)
        .Number(task)
        .Number(rate(hits))
        .Number(rate(misses))
        .Text(op == nullptr ? StringId::kEmpty : names.Hash(op->name));
  }
  sheet.Finish(input.out);
}

}  // namespace

void WriteDeviceSheets(const SampleInput& input, const DeviceView& view, const AicpuRecords& aicpu,
                       Dictionary& names) {
  const RunsByTask runs(view);
  WriteAicpu(input, runs, aicpu, names);
  WriteQueues(input, aicpu);
  WriteCache(input, runs, names);
  WriteTranslations(input, runs, names);
}

void WriteFusionSheet(const ApiTree& tree, const HostRecords& records, Dictionary& names,
                      store::TraceStore& out) {
  SheetBuilder sheet(
      "fusion_op",
      {"Device_id", "Model Name", "Model ID", "Fusion Op", "Original Ops", "Memory Input(KB)",
       "Memory Output(KB)", "Memory Weight(KB)", "Memory Workspace(KB)", "Memory Total(KB)"});
  for (const FusedOp& op : records.fused_ops) {
    for (const uint32_t node : tree.LevelNodes(raw::kLevelModel, op.thread)) {
      const Api& api = tree.ApiOf(node);
      if (op.time <= api.begin || op.time > api.end) continue;
      StringId model = StringId::kEmpty;
      for (const GraphName& graph : records.graphs) {
        if (graph.model == api.item) model = names.Hash(graph.name);
      }
      std::string parts;
      for (const uint64_t part : op.parts) {
        if (!parts.empty()) parts += ';';
        parts += names.HashText(part);
      }
      sheet.Text(out.strings.Intern("host"))
          .Text(model)
          .Number(static_cast<double>(api.item))
          .Text(names.Hash(op.name))
          .Text(out.strings.Intern(parts));
      for (const uint64_t size : op.sizes) sheet.Number(static_cast<double>(size) / 1024);
      break;
    }
  }
  sheet.Finish(out);
}

void WriteStaticMemorySheet(const HostRecords& records, Dictionary& names, store::TraceStore& out) {
  SheetBuilder sheet("static_op_mem", {"Device_id", "Op Name", "Model Name", "Graph ID",
                                       "Node Index Start", "Node Index End", "Size(KB)"});
  for (const StaticMemory& memory : records.static_memory) {
    StringId model = StringId::kEmpty;
    for (const GraphName& graph : records.graphs) {
      if (graph.graph == memory.graph) model = names.Hash(graph.name);
    }
    sheet.Text(out.strings.Intern("host"))
        .Text(names.Hash(memory.name))
        .Text(model)
        .Number(memory.graph)
        .Number(static_cast<double>(memory.first))
        .Number(static_cast<double>(memory.last))
        .Number(static_cast<double>(memory.bytes) / 1024);
  }
  sheet.Finish(out);
}

}  // namespace steplens::readers::prof
