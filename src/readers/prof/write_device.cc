#include "readers/prof/write_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "format/prof/device_records.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/enum_names.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using store::kNone;

constexpr size_t kDeviceTypes = 256;

int64_t KnownId(uint32_t id) { return id == ~uint32_t{0} ? int64_t{0xFFFFFFFF} : int64_t{id}; }

int64_t KnownSize(uint64_t size) {
  return size > static_cast<uint64_t>(INT64_MAX) ? kNone : static_cast<int64_t>(size);
}

// Names of a kind of numbers, each made once.
class EnumTexts {
 public:
  EnumTexts(store::TraceStore& out, std::string (*name)(uint32_t)) : out_(out), name_(name) {}
  StringId operator()(uint32_t number) {
    const auto [place, is_new] = texts_.try_emplace(number, StringId::kEmpty);
    if (is_new) place->second = out_.strings.Intern(name_(number));
    return place->second;
  }

 private:
  store::TraceStore& out_;
  std::string (*name_)(uint32_t);
  std::map<uint32_t, StringId> texts_;
};

// Whether an operator has a row of its own among the kernels.
bool IsShown(const ComputeOp& op, Dictionary& names) {
  if (!op.has_task_type) return true;
  switch (op.task_type) {
    case kOpWriteBack:
    case kOpInvalid:
    case kOpHcclAiCpu:
      return false;
    case kOpCommunication:
      return names.HashText(op.name).ends_with("AivKernel");
    default:
      return true;
  }
}

}  // namespace

DeviceWriter::DeviceWriter(const DeviceView& view, Dictionary& names, TrackBuilder& tracks,
                           GroupTracks& groups, store::TraceStore& out)
    : view_(view),
      names_(names),
      tracks_(tracks),
      groups_(groups),
      out_(out),
      host_to_device_(out.strings.Intern("HostToDevice")),
      first_task_(static_cast<int64_t>(out.device_tasks.size())),
      is_comm_task_(view.tasks.size(), false),
      tensor_texts_(view.records.tensor_sets.size()),
      has_tensor_texts_(view.records.tensor_sets.size(), false) {
  for (const CommRun& run : view.collectives.tasks) is_comm_task_[run.task] = true;
  for (auto& types : device_types_) types.assign(kDeviceTypes, StringId::kEmpty);
}

// What the runtime calls it, or, where that says nothing, the device.
StringId DeviceWriter::TaskType(const AscendTask& task) {
  if (task.host != kNoRow) {
    const uint32_t type = view_.host.tasks[task.host].type;
    const StringId name = names_.Type(raw::kLevelRuntime, type);
    if (const std::string_view text = out_.Text(name); text != "FFTS_PLUS" && text != "UNKNOWN")
      return name;
  }
  return DeviceType(task);
}

StringId DeviceWriter::DeviceType(const AscendTask& task) {
  StringId& name = device_types_[task.is_sub_task ? 1 : 0][task.type % kDeviceTypes];
  if (name == StringId::kEmpty) {
    name = out_.strings.Intern(task.is_sub_task               ? SubTaskName(task.type)
                               : HasStars(view_.control.chip) ? StarsTaskName(task.type)
                                                              : HwtsTaskName(task.type));
  }
  return name;
}

void DeviceWriter::AddDeviceTask(const AscendTask& task, StringId type, store::SliceId slice) {
  store::DeviceTaskTable::Row row;
  row.slice = slice;
  row.device = view_.device;
  row.stream = StreamOf(task.key);
  row.task_id = ShownTask(task.key);
  row.batch_id = Is950(view_.control.chip) ? 0 : BatchOf(task.key);
  row.context_id = ContextOf(task.key) == kNoContext ? ~uint32_t{0} : ContextOf(task.key);
  row.model_id = kNoModel;
  row.begin_ns = task.begin_ns;
  row.dur_ns = DurationNs(task.begin_ns, task.end_ns);
  row.type = type;
  row.device_type = DeviceType(task);
  if (task.host != kNoRow) {
    const HostTask& host = view_.host.tasks[task.host];
    row.model_id = host.model;
    if (host.kernel != 0) row.kernel_name = names_.Hash(host.kernel);
    if (host.connection != 0) row.correlation = host.connection;
    if (const auto copy = view_.host.copies.find(task.host); copy != view_.host.copies.end()) {
      row.copy_bytes = KnownSize(copy->second.bytes);
      row.copy_kind = copy->second.direction;
    }
  }
  out_.device_tasks.Append(row);
}

void DeviceWriter::AddFlow(uint32_t connection, store::TrackId track, int64_t begin_ns) {
  if (connection == 0) return;
  const uint32_t api = connection - 1;
  const store::TrackId from = view_.places.api_tracks[api];
  if (from == store::kNoTrack) return;
  const StringId kind = out_.strings.Intern("HostToDevice");
  out_.flows.Append(
      {kind, from, view_.host_clock.HostUtc(view_.tree.apis()[api].begin), track, begin_ns});
}

void DeviceWriter::AddSlice(store::TrackId track, int64_t begin_ns, int64_t end_ns, StringId name,
                            StringId category, int64_t correlation) {
  store::SliceTable::Row slice;
  slice.track = track;
  slice.begin_ns = begin_ns;
  slice.dur_ns = DurationNs(begin_ns, end_ns);
  slice.name = name;
  slice.category = category;
  slice.correlation = correlation;
  out_.slices.Append(slice);
}

StringId DeviceWriter::GroupName(bool has_group, uint64_t group, bool is_aicpu) {
  const StringId name = has_group ? names_.Hash(group) : StringId::kEmpty;
  return is_aicpu ? out_.strings.Intern(fmt::format("{} Aicpu", out_.Text(name))) : name;
}

void DeviceWriter::WriteCollectives() {
  EnumTexts data_types(out_, HcclDataTypeName);
  EnumTexts transports(out_, HcclTransportName);
  EnumTexts links(out_, HcclLinkName);
  EnumTexts rdma_types(out_, HcclRdmaName);
  std::unordered_map<StringId, int64_t> rows;  // name of a collective -> its row
  for (const Collective& collective : view_.collectives.ops) {
    store::CommOpTable::Row op;
    op.group_name = GroupName(collective.has_group, collective.group, collective.is_aicpu);
    op.track = groups_.Group(view_.device, op.group_name);
    op.name = collective.name;
    if (collective.has_type) op.op_type = names_.Hash(collective.type);
    if (!collective.has_type) {
      const std::string_view name = out_.Text(op.name);
      const size_t suffix = name.find("__");
      op.op_type =
          out_.strings.Intern(std::string(suffix == name.npos ? name : name.substr(0, suffix + 1)));
    }
    op.begin_ns = collective.begin_ns;
    op.dur_ns = DurationNs(collective.begin_ns, collective.end_ns);
    if (collective.has_info) {
      op.data_type = data_types(collective.data_type);
      op.alg_type = names_.Hash(collective.algorithm);
      op.count = KnownSize(collective.count);
    }
    op.correlation = collective.connection == 0 ? kNone : int64_t{collective.connection};
    op.device = view_.device;
    if (collective.has_group) op.group_id = out_.strings.Intern(fmt::to_string(collective.group));
    op.model_id = collective.model;
    if (collective.rank_size != 0) op.rank_size = collective.rank_size;
    if (collective.has_info) {
      op.relay = collective.is_relay ? 1 : 0;
      op.retry = collective.is_retry ? 1 : 0;
    }
    rows.try_emplace(op.name, static_cast<int64_t>(out_.comm_ops.size()));
    out_.comm_ops.Append(op);
    AddSlice(op.track, op.begin_ns, collective.end_ns, op.name, StringId::kEmpty, op.correlation);
    AddFlow(collective.connection, op.track, op.begin_ns);
  }
  for (const CommRun& run : view_.collectives.tasks) {
    const AscendTask& task = view_.tasks[run.task];
    store::CommTaskTable::Row row;
    row.op_name = run.op_name;
    row.group_name = GroupName(run.has_group, run.group, run.is_aicpu);
    row.begin_ns = task.begin_ns;
    row.dur_ns = DurationNs(task.begin_ns, task.end_ns);
    row.stream = StreamOf(task.key);
    row.task_id = ShownTask(task.key);
    row.is_master = run.is_master ? 1 : 0;
    row.device_task = first_task_ + run.task;
    if (const auto op = rows.find(run.op_name); op != rows.end()) row.comm_op = op->second;
    if (run.has_facts) row.estimated_us = run.facts.estimated_us;
    row.src_rank = row.dst_rank = KnownId(~uint32_t{0});  // as results have it where nobody said
    if (run.has_facts) {
      row.name = names_.Hash(run.facts.item);
      row.src_rank = KnownId(run.facts.local_rank);
      row.dst_rank = KnownId(run.facts.remote_rank);
      row.transport = transports(run.facts.transport);
      row.link = links(run.facts.link);
      row.data_type = data_types(run.facts.data_type);
      row.rdma_type = rdma_types(run.facts.rdma);
      row.size_bytes = KnownSize(run.facts.size);
      row.notify_id = KnownSize(run.facts.notify);
    }
    if (run.plane == kNoPlane) {
      row.track = groups_.Group(view_.device, row.group_name);
    } else {
      row.plane = run.plane;
      row.track = groups_.Plane(view_.device, row.group_name, run.plane);
      AddSlice(row.track, row.begin_ns, task.end_ns, row.name, StringId::kEmpty, kNone);
    }
    out_.comm_tasks.Append(row);
  }
}

void DeviceWriter::WriteTasks() {
  // A whole task that has sub-tasks: they begin within its time.
  std::vector<std::pair<TaskKey, int64_t>> sub_tasks;
  for (const AscendTask& task : view_.tasks) {
    if (ContextOf(task.key) != kNoContext)
      sub_tasks.emplace_back(WithoutContext(task.key), task.begin_ns);
  }
  std::sort(sub_tasks.begin(), sub_tasks.end());
  const auto has_sub_tasks = [&](const AscendTask& task) {
    if (ContextOf(task.key) != kNoContext) return false;
    const auto first =
        std::lower_bound(sub_tasks.begin(), sub_tasks.end(), std::pair(task.key, task.begin_ns));
    return first != sub_tasks.end() && *first <= std::pair(task.key, task.end_ns);
  };
  std::map<uint32_t, store::TrackId> streams;
  out_.slices.Reserve(out_.slices.size() + view_.tasks.size());
  for (size_t i = 0; i < view_.tasks.size(); ++i) {
    const AscendTask& task = view_.tasks[i];
    const StringId type = TaskType(task);
    if (has_sub_tasks(task)) {
      AddDeviceTask(task, type, store::kNoSlice);
      continue;
    }
    AddDeviceTask(task, type, store::SliceId{static_cast<uint32_t>(out_.slices.size())});
    const uint32_t stream = StreamOf(task.key);
    store::TrackId& track = streams.try_emplace(stream, store::kNoTrack).first->second;
    if (track == store::kNoTrack) track = tracks_.Stream(view_.device, stream);
    StringId name = type;
    int64_t connection = kNone;
    if (task.host != kNoRow) {
      const HostTask& host = view_.host.tasks[task.host];
      if (host.op != kNoRow) name = names_.Hash(view_.host.ops[host.op].name);
      if (host.connection != 0) connection = host.connection;
      if (!is_comm_task_[i]) AddFlow(host.connection, track, task.begin_ns);
    }
    AddSlice(track, task.begin_ns, task.end_ns, name, type, connection);
  }
}

void DeviceWriter::WriteMarks(const std::vector<StepMark>& marks) {
  struct Range {
    StepMark first;
    uint64_t end = 0;
  };
  std::vector<Range> ranges;
  std::map<uint64_t, size_t> open;  // mark -> its range
  for (const StepMark& mark : marks) {
    if (mark.tag != raw::kTagMark && mark.tag != raw::kTagMarkRange) continue;
    const auto [place, is_new] = open.try_emplace(mark.index, ranges.size());
    if (is_new) {
      ranges.push_back({mark, mark.time});
    } else {
      ranges[place->second].end = mark.time;
    }
  }
  const StringId category = out_.strings.Intern("MsTx");
  for (const Range& range : ranges) {
    const int64_t connection = MarkConnection(range.first.index);
    const int64_t begin_ns = view_.clock.DeviceUtc(range.first.time);
    const store::TrackId track = tracks_.Stream(view_.device, range.first.stream);
    const auto host = view_.places.marks.find(connection);
    const bool is_known = host != view_.places.marks.end();
    store::DeviceTaskTable::Row row;
    row.slice = store::SliceId{static_cast<uint32_t>(out_.slices.size())};
    row.device = view_.device;
    row.stream = range.first.stream;
    row.task_id = range.first.task;
    row.context_id = ~uint32_t{0};
    row.model_id = kNoModel;
    row.begin_ns = begin_ns;
    row.dur_ns = DurationNs(begin_ns, view_.clock.DeviceUtc(range.end));
    row.type = category;
    row.device_type = category;
    row.correlation = connection;
    out_.device_tasks.Append(row);
    AddSlice(track, begin_ns, view_.clock.DeviceUtc(range.end),
             is_known ? host->second.name : category, category, connection);
    if (is_known)
      out_.flows.Append({category, host->second.track, host->second.begin_ns, track, begin_ns});
  }
}

void DeviceWriter::WriteTurns(const std::vector<AicpuTurn>& turns) {
  constexpr std::string_view kComm[] = {"StartServer", "TaskWaitRequest", "TaskOrchestration",
                                        "TaskLaunch",  "TaskExecute",     "Finalize"};
  constexpr std::string_view kCompute[] = {"WaitCompute", "Compute"};
  SheetBuilder sheet("prof_turns", {"device", "time", "dur", "name", "stream", "task"});
  for (const AicpuTurn& turn : turns) {
    for (uint32_t i = 0; i < turn.parts; ++i) {
      if (turn.times[i] == 0 || turn.times[i + 1] < turn.times[i]) continue;
      const int64_t begin_ns = view_.clock.DeviceUtc(turn.times[i]);
      const int64_t end_ns = view_.clock.DeviceUtc(turn.times[i + 1]);
      if (begin_ns < view_.clock.begin_ns) continue;
      const StringId name = out_.strings.Intern(
          fmt::format("{} {}", turn.is_compute ? kCompute[i] : kComm[i], turn.number));
      AddSlice(tracks_.Stream(view_.device, turn.stream), begin_ns, end_ns, name, StringId::kEmpty,
               kNone);
      sheet.Number(static_cast<double>(view_.device))
          .Number(static_cast<double>(begin_ns - view_.clock.begin_ns))
          .Number(static_cast<double>(DurationNs(begin_ns, end_ns)))
          .Text(name)
          .Number(turn.stream)
          .Number(turn.task);
    }
  }
  sheet.Finish(out_);
}

const TensorTexts& DeviceWriter::Tensors(uint32_t set) {
  if (!has_tensor_texts_[set]) {
    tensor_texts_[set] = DescribeTensors(view_.records.tensor_sets.Get(set), out_.strings);
    has_tensor_texts_[set] = true;
  }
  return tensor_texts_[set];
}

store::KernelTable::Row DeviceWriter::KernelRow(const AscendTask& task, const ComputeOp& op) {
  const HostTask& host = view_.host.tasks[task.host];
  store::KernelTable::Row row;
  row.device = view_.device;
  row.stream = StreamOf(task.key);
  row.task_id = ShownTask(task.key);
  if (ContextOf(task.key) != kNoContext) row.context_id = ContextOf(task.key);
  row.model_id = host.model;
  row.name = names_.Hash(op.name);
  if (op.has_type) {
    row.type = names_.Hash(op.type);
    row.state = out_.strings.Intern(op.is_static ? "static" : "dynamic");
    row.hf32 = out_.strings.Intern(op.is_hf32 ? "YES" : "NO");
  }
  if (op.has_task_type) row.core = out_.strings.Intern(OpTaskTypeName(op.task_type));
  row.begin_ns = task.begin_ns;
  row.dur_ns = DurationNs(task.begin_ns, task.end_ns);
  row.block_dim = op.blocks;
  if (HasStars(view_.control.chip)) row.mix_block_dim = op.mix_blocks;
  const TensorTexts& tensors = Tensors(op.tensors);
  row.input_shapes = tensors.input_shapes;
  row.input_types = tensors.input_types;
  row.input_formats = tensors.input_formats;
  row.output_shapes = tensors.output_shapes;
  row.output_types = tensors.output_types;
  row.output_formats = tensors.output_formats;
  if (host.connection != 0) row.correlation = host.connection;
  if (op.attributes != 0) row.attributes = names_.Hash(op.attributes);
  return row;
}

store::KernelTable::Row DeviceWriter::KernelRow(const Collective& collective) {
  store::KernelTable::Row row;
  row.device = view_.device;
  row.model_id = collective.model;
  row.name = collective.name;
  if (collective.has_type) row.type = names_.Hash(collective.type);
  row.core = out_.strings.Intern("COMMUNICATION");
  row.begin_ns = collective.begin_ns;
  row.dur_ns = DurationNs(collective.begin_ns, collective.end_ns);
  row.block_dim = 0;
  if (collective.connection != 0) row.correlation = collective.connection;
  return row;
}

std::vector<KernelRun> DeviceWriter::WriteKernels() {
  struct Place {
    int64_t begin_ns;
    KernelRun run;
    uint32_t collective;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < view_.tasks.size(); ++i) {
    const AscendTask& task = view_.tasks[i];
    const uint32_t op = task.host == kNoRow ? kNoRow : view_.host.tasks[task.host].op;
    if (op == kNoRow || !IsShown(view_.host.ops[op], names_)) continue;
    places.push_back({task.begin_ns, {static_cast<uint32_t>(i), op}, kNoRow});
  }
  for (size_t i = 0; i < view_.collectives.ops.size(); ++i)
    places.push_back({view_.collectives.ops[i].begin_ns, {}, static_cast<uint32_t>(i)});
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.begin_ns < b.begin_ns; });
  std::vector<KernelRun> runs;
  runs.reserve(places.size());
  out_.kernels.Reserve(out_.kernels.size() + places.size());
  int64_t last_end_ns = places.empty() ? 0 : places.front().begin_ns;
  for (const Place& place : places) {
    store::KernelTable::Row row =
        place.collective == kNoRow
            ? KernelRow(view_.tasks[place.run.task], view_.host.ops[place.run.op])
            : KernelRow(view_.collectives.ops[place.collective]);
    if (place.run.task != kNoRow) row.device_task = first_task_ + place.run.task;
    row.wait_ns = DurationNs(last_end_ns, row.begin_ns);
    last_end_ns = AddSaturating(row.begin_ns, row.dur_ns);
    out_.kernels.Append(row);
    runs.push_back(place.run);
  }
  return runs;
}

}  // namespace steplens::readers::prof
