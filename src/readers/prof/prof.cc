#include "readers/prof/prof.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "readers/ascend_db/group_tracks.h"
#include "readers/ascend_db/tracks.h"
#include "readers/prof/aicpu_collectives.h"
#include "readers/prof/aicpu_records.h"
#include "readers/prof/api_tree.h"
#include "readers/prof/ascend_tasks.h"
#include "readers/prof/collectives.h"
#include "readers/prof/control_files.h"
#include "readers/prof/core_samples.h"
#include "readers/prof/device_records.h"
#include "readers/prof/device_samples.h"
#include "readers/prof/dictionary.h"
#include "readers/prof/flips.h"
#include "readers/prof/host_records.h"
#include "readers/prof/host_samples.h"
#include "readers/prof/host_tasks.h"
#include "readers/prof/kernel_metrics.h"
#include "readers/prof/known_families.h"
#include "readers/prof/prof_files.h"
#include "readers/prof/prof_sheets.h"
#include "readers/prof/step_trace.h"
#include "readers/prof/write_device.h"
#include "readers/prof/write_host.h"

namespace steplens::readers {
namespace prof {
namespace {

class ProfReader {
 public:
  ProfReader(ProfTree tree, const ReadOptions& options, store::TraceStore& out)
      : tree_(std::move(tree)),
        options_(options),
        out_(out),
        names_(out.strings),
        tracks_(out),
        groups_(out, tracks_, /*is_hccl_era=*/false) {}

  Status Read() {
    ReadControls();
    WriteMeta();
    NameUnreadFamilies(tree_, out_.issues);
    if (!options_.wanted.timeline && !options_.wanted.others) return {};
    HostRecords records;
    if (tree_.host) {
      names_.Read(*tree_.host, out_.issues);
      records = ReadHostRecords(*tree_.host, options_, out_.issues);
    }
    if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
    NumberHostTasks(records.tasks, !HasUniqueTasks(main_control()) || Is950(main_control().chip));
    ApiTree tree(std::move(records.apis));
    HostTasks tasks = AssembleHostTasks(tree, records, names_, out_.issues);
    records.tasks = {};
    records.nodes = {};
    records.tensors = {};
    if (options_.wanted.others) {
      WriteOperatorMemory(std::move(records.memory), host_clock_, names_, out_);
      WriteFusionSheet(tree, records, names_, out_);
      WriteStaticMemorySheet(records, names_, out_);
    }
    if (!options_.wanted.timeline) return {};
    const HostPlaces places =
        WriteHost(tree, records.marks, main_control().pid, host_clock_, names_, tracks_, out_);
    if (tree_.host)
      WriteHostSamples(*tree_.host, main_control(), host_clock_, options_, tracks_, out_);
    for (size_t i = 0; i < tree_.devices.size(); ++i) {
      if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
      const std::vector<KernelRun> runs = ReadDevice(i, tree, records, tasks, places);
      if (i + 1 == tree_.devices.size()) {  // nobody asks the host's side any more
        tree = ApiTree({});
        records = {};
        tasks.tasks = {};
        tasks.small_ops = {};
        tasks.copies = {};
      }
      AddMetrics(runs, devices_[i], tasks);
    }
    return {};
  }

 private:
  // The host's, or that of a device where there is no host.
  const Control& main_control() const { return host_ ? *host_ : devices_.front(); }

  void ReadControls() {
    if (tree_.host) host_ = ReadControl(*tree_.host, out_.issues);
    for (const Side& side : tree_.devices) devices_.push_back(ReadControl(side, out_.issues));
    host_clock_ = SideClock(main_control().clock);
    for (const Control& control : devices_) clocks_.emplace_back(control.clock);
    tracks_.SetProcess(main_control().pid, /*has_plain_labels=*/false);
    if (tree_.devices.size() == 1) out_.info.device = tree_.devices.front().device;
  }

  void AddMeta(std::string_view name, std::string_view value) {
    if (!value.empty()) out_.meta.Append({out_.strings.Intern(name), out_.strings.Intern(value)});
  }

  void WriteMeta() {
    const Control& control = main_control();
    AddMeta("hostUid", control.host_uid);
    AddMeta("hostName", control.host_name);
    if (!devices_.empty()) AddMeta("npuName", ChipName(devices_.front().chip));
    AddMeta("cann_version", control.cann_version);
    AddMeta("startTimeNs", fmt::to_string(host_clock_.begin_ns));
    AddMeta("endTimeNs", fmt::to_string(host_clock_.end_ns));
    AddMeta("prof.pid", fmt::to_string(control.pid));
    AddMeta("prof.process_name", control.process_name);
    if (!devices_.empty()) AddMeta("prof.chip", fmt::to_string(devices_.front().chip));
    AddMeta("prof.level", IsLevel0(control) ? "level0" : control.level);
    if (control.cpu_count > 0) AddMeta("prof.cpu_count", fmt::to_string(control.cpu_count));
    if (control.memory_kb > 0) AddMeta("prof.memory_kb", fmt::format("{:.0f}", control.memory_kb));
    if (control.card_speed_mbps > 0)
      AddMeta("prof.card_speed_mbps", fmt::format("{:.0f}", control.card_speed_mbps));
  }

  // Leaves counters and tasks of the device in counted_. The result is what each row of kernels is.
  std::vector<KernelRun> ReadDevice(size_t index, const ApiTree& tree, const HostRecords& records,
                                    const HostTasks& host, const HostPlaces& places) {
    const Side& side = tree_.devices[index];
    const Control& control = devices_[index];
    const SideClock& clock = clocks_[index];
    IdRules rules;
    rules.has_wide_streams = records.has_wide_streams;
    if (Is950(control.chip)) {
      for (const HostTask& task : host.tasks) {
        if (task.device == side.device) rules.streams.Add(UniqueIdOf(task.key), StreamOf(task.key));
      }
      rules.streams.Sort();
    }
    DeviceRecords device = ReadDeviceRecords(side, control, rules, options_, out_.issues);
    std::vector<AscendTask> tasks =
        JoinTasks(device.tasks, host, side.device, clock, control.is_dynamic, out_.issues);
    device.tasks = {};
    const TaskIndex task_index(tasks);
    Collectives collectives = AssembleCollectives(tasks, task_index, host, records, side.device,
                                                  clock, out_.strings, names_);
    const AicpuRecords aicpu =
        ReadAicpuRecords(side, records.has_wide_streams, options_, out_.issues);
    AddAicpuCollectives(tasks, task_index, host, records, aicpu, clock, out_.strings, names_,
                        collectives);
    const DeviceView view{side.device, control, clock, host_clock_, records,
                          host,        places,  tree,  tasks,       collectives};
    DeviceWriter writer(view, names_, tracks_, groups_, out_);
    writer.WriteCollectives();
    writer.WriteTasks();
    writer.WriteMarks(device.marks);
    writer.WriteTurns(aicpu.turns);
    WriteIterations(FindIterations(device.marks), side.device, clock, tracks_, out_);
    const SampleInput samples{side, control, clock, options_, tracks_, out_};
    WriteDeviceSamples(samples, device);
    if (control.is_sample_based) WriteCoreSamples(samples, device.frequencies);
    if (options_.wanted.others) {
      WriteDeviceMemory(samples);
      WriteDeviceSheets(samples, view, aicpu, names_);
    }
    std::vector<KernelRun> runs = writer.WriteKernels();
    counted_ = {std::move(device), std::move(tasks)};
    return runs;
  }

  // Columns of several devices are those of the first; what a device did not count is not known.
  void AddMetrics(const std::vector<KernelRun>& runs, const Control& control,
                  const HostTasks& host) {
    const size_t before = out_.kernels.size() - runs.size();
    std::vector<store::DynamicColumn> columns =
        MakeKernelMetrics(control, counted_.records, counted_.tasks, host.ops, runs);
    counted_ = {};
    const auto pad = [](store::DynamicColumn& column, size_t rows) {
      while (column.numbers.size() < rows) column.numbers.Append(store::NotKnown<double>());
    };
    for (store::DynamicColumn& column : columns) {
      const auto same = std::find_if(
          out_.kernel_metrics.begin(), out_.kernel_metrics.end(),
          [&](const store::DynamicColumn& other) { return other.name == column.name; });
      if (same == out_.kernel_metrics.end() && before == 0) {
        out_.kernel_metrics.push_back(std::move(column));
        continue;
      }
      store::DynamicColumn& target =
          same == out_.kernel_metrics.end() ? out_.kernel_metrics.emplace_back() : *same;
      target.name = column.name;
      pad(target, before);
      for (size_t i = 0; i < column.numbers.size(); ++i) target.numbers.Append(column.numbers[i]);
    }
    for (store::DynamicColumn& column : out_.kernel_metrics) pad(column, out_.kernels.size());
  }

  ProfTree tree_;
  const ReadOptions& options_;
  store::TraceStore& out_;
  Dictionary names_;
  TrackBuilder tracks_;
  GroupTracks groups_;
  std::optional<Control> host_;
  std::vector<Control> devices_;
  SideClock host_clock_;
  std::vector<SideClock> clocks_;
  struct Counted {
    DeviceRecords records;
    std::vector<AscendTask> tasks;
  };
  Counted counted_;
};

}  // namespace
}  // namespace prof

Status ReadProf(const std::string& folder, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(prof::ProfTree tree, prof::FindProfTree(folder));
  if (!tree.host && tree.devices.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: neither host/ nor device_*/ has data", folder)};
  }
  return prof::ProfReader(std::move(tree), options, out).Read();
}

}  // namespace steplens::readers
