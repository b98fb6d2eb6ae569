#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/time_math.h"
#include "base/number.h"
#include "export/db/counter_sources.h"
#include "export/db/db_context.h"
#include "export/prof/prof_communication.h"
#include "export/prof/prof_enums.h"
#include "export/prof/prof_export.h"
#include "export/prof/prof_facts.h"

namespace steplens::exporting {
namespace {

using analysis::TrackKind;
using store::kNone;

constexpr std::string_view kMissingText = "N/A";
constexpr int64_t kNoEnum = 65535;

// A sub-task of a task, or a mark on its stream.
struct PartKey {
  uint64_t task;
  uint64_t part;
  bool is_mark;
  bool operator==(const PartKey&) const = default;
};
struct PartKeyHash {
  size_t operator()(const PartKey& key) const {
    return std::hash<uint64_t>()(key.task * 0x9E3779B97F4A7C15 ^ key.part << 1 ^
                                 (key.is_mark ? 1 : 0));
  }
};

int64_t EndOf(int64_t begin_ns, int64_t dur_ns) { return analysis::EndNs(begin_ns, dur_ns); }

// The tables that only the exporter of CANN has; those it shares with the results of frameworks
// come from the writers of export/db.
class ProfDbWriter {
 public:
  ProfDbWriter(const ProfFacts& facts, DbContext& ctx)
      : facts_(facts), store_(facts.store), ctx_(ctx), text_id_(ctx.strings.exporter) {}

  void Write() {
    NumberTasks();
    WriteMachine();
    WriteTasks();
    WriteOperators();
    WriteMetrics();
    WriteCollectives();
    WriteCalls();
    WriteMarks();
    WriteMemory();
    WriteOverlap();
  }

 private:
  int64_t TextOrMissing(StringId text) {
    return text == StringId::kEmpty ? text_id_(kMissingText) : text_id_(text);
  }

  // Runs of one task share an id.
  void NumberTasks() {
    const store::DeviceTaskTable& tasks = store_.device_tasks;
    task_ids_.resize(tasks.size());
    std::unordered_map<uint64_t, int64_t> whole;
    std::unordered_map<PartKey, int64_t, PartKeyHash> parts;  // sub-tasks and marks
    whole.reserve(tasks.size());
    int64_t next = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const bool is_mark = facts_.IsMark(i);
      // Ids of 16 bits that wrap, or of 32 bits that do not.
      const uint64_t id = (uint64_t{tasks.batch_id[i]} << 16 | tasks.task_id[i]) & 0xFFFFFFFF;
      const uint64_t key = static_cast<uint64_t>(tasks.device[i] & 0xFF) << 48 |
                           uint64_t{tasks.stream[i] & 0xFFFF} << 32 | id;
      const uint64_t part =
          is_mark ? static_cast<uint64_t>(tasks.correlation[i]) : uint64_t{tasks.context_id[i]};
      const bool is_whole = !is_mark && tasks.context_id[i] == ~uint32_t{0};
      const auto [place, is_new] = [&] {
        if (!is_whole) {
          const auto [at, is_first] = parts.try_emplace({key, part, is_mark}, next);
          return std::pair(at->second, is_first);
        }
        const auto [at, is_first] = whole.try_emplace(key, next);
        return std::pair(at->second, is_first);
      }();
      if (is_new) ++next;
      task_ids_[i] = place;
    }
  }

  void WriteMachine() {
    {
      TableWriter rows = ctx_.db.Table("META_DATA", "name TEXT, value TEXT");
      rows.Text("SCHEMA_VERSION").Text("1.2.0").EndRow();
      rows.Text("SCHEMA_VERSION_MAJOR").Text("1").EndRow();
      rows.Text("SCHEMA_VERSION_MINOR").Text("2").EndRow();
      rows.Text("SCHEMA_VERSION_MICRO").Text("0").EndRow();
    }
    const auto fact = [&](std::string_view name) {
      return store_.FindMeta(name).value_or(std::string_view());
    };
    ctx_.db.Table("SESSION_TIME_INFO", "startTimeNs INTEGER, endTimeNs INTEGER")
        .Int(facts_.begin_ns)
        .Int(facts_.end_ns)
        .EndRow();
    TableWriter devices = ctx_.db.Table("NPU_INFO", "id INTEGER, name TEXT");
    TableWriter ranks = ctx_.db.Table("RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER");
    for (const int64_t device : facts_.devices) {
      devices.Int(device).Text(fact("npuName")).EndRow();
      ranks.Int(-1).Int(device).EndRow();
    }
    if (facts_.devices.empty()) devices.Int(-1).Text("UNKNOWN").EndRow();
    TableWriter host = ctx_.db.Table("HOST_INFO", "hostUid TEXT, hostName TEXT");
    host.Text(fact("hostUid")).Text(fact("hostName")).EndRow();
  }

  void WriteTasks() {
    const store::DeviceTaskTable& tasks = store_.device_tasks;
    {
      TableWriter rows = ctx_.db.Table(
          "TASK",
          "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
          "globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, "
          "streamId INTEGER, taskId INTEGER, modelId INTEGER");
      for (size_t i = 0; i < tasks.size(); ++i) {
        rows.Int(tasks.begin_ns[i]).Int(analysis::EndNs(tasks.begin_ns[i], tasks.dur_ns[i]));
        rows.Int(tasks.device[i]).Int(ValueOr(tasks.correlation[i], -1)).Int(task_ids_[i]);
        rows.Int(facts_.pid).Int(text_id_(tasks.type[i])).Int(tasks.context_id[i]);
        rows.Int(tasks.stream[i]).Int(tasks.task_id[i]).Int(tasks.model_id[i]).EndRow();
      }
    }
    if (tasks.size() > 0) ctx_.db.Execute("CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)");
    TableWriter copies =
        ctx_.db.Table("MEMCPY_INFO", "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC");
    std::vector<bool> is_written(tasks.size(), false);
    for (size_t i = 0; i < tasks.size(); ++i) {
      const auto id = static_cast<size_t>(task_ids_[i]);
      if (tasks.copy_kind[i] == kNone || is_written[id]) continue;
      is_written[id] = true;
      copies.Int(task_ids_[i]).Int(ValueOr(tasks.copy_bytes[i], 0)).Int(tasks.copy_kind[i]);
      copies.EndRow();
    }
  }

  // Rows of kernels that are the first of their task.
  std::vector<uint32_t> FirstKernels() const {
    std::vector<uint32_t> rows;
    std::vector<bool> is_known(task_ids_.size(), false);
    for (uint32_t row = 0; row < store_.kernels.size(); ++row) {
      if (facts_.IsCollective(row)) continue;
      const auto id = static_cast<size_t>(TaskIdOf(row));
      if (is_known[id]) continue;
      is_known[id] = true;
      rows.push_back(row);
    }
    return rows;
  }
  int64_t TaskIdOf(uint32_t kernel) const {
    return task_ids_[static_cast<size_t>(store_.kernels.device_task[kernel])];
  }

  // Shapes keep one pair of quotes.
  int64_t ShapesId(StringId text) {
    return text == StringId::kEmpty ? text_id_(kMissingText) : text_id_.Quoted(text);
  }

  void WriteOperators() {
    const store::KernelTable& kernels = store_.kernels;
    TableWriter rows = ctx_.db.Table(
        "COMPUTE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER, "
        "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, "
        "inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, "
        "outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER, "
        "gridDim INTEGER, blockDim INTEGER");
    TableWriter schedules =
        ctx_.db.Table("COMMUNICATION_SCHEDULE_TASK_INFO",
                      "name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, "
                      "opType INTEGER");
    for (const uint32_t row : FirstKernels()) {
      if (store_.Text(kernels.name[row]).ends_with("AicpuKernel")) {
        schedules.Int(text_id_(kernels.name[row])).Int(TaskIdOf(row));
        schedules.Int(TextOrMissing(kernels.core[row])).Int(TextOrMissing(kernels.type[row]));
        schedules.EndRow();
        continue;
      }
      rows.Int(text_id_(kernels.name[row])).Int(TaskIdOf(row));
      rows.Int(ValueOr(kernels.block_dim[row], 0)).Int(ValueOr(kernels.mix_block_dim[row], 0));
      rows.Int(TextOrMissing(kernels.core[row])).Int(TextOrMissing(kernels.type[row]));
      rows.Int(TextOrMissing(kernels.input_formats[row]));
      rows.Int(TextOrMissing(kernels.input_types[row]));
      rows.Int(ShapesId(kernels.input_shapes[row]));
      rows.Int(TextOrMissing(kernels.output_formats[row]));
      rows.Int(TextOrMissing(kernels.output_types[row]));
      rows.Int(ShapesId(kernels.output_shapes[row]));
      rows.Int(kernels.attributes[row] == StringId::kEmpty ? text_id_.Blank()
                                                           : text_id_(kernels.attributes[row]));
      rows.Int(TextOrMissing(kernels.state[row])).Int(TextOrMissing(kernels.hf32[row]));
      rows.Int(text_id_(kMissingText)).Int(text_id_(kMissingText)).EndRow();
    }
  }

  // "aicore_time(us)" -> "aic_total_time" in ns.
  static std::pair<std::string, double> MetricOf(std::string_view column) {
    if (column == "aicore_time(us)") return {"aic_total_time", 1000};
    if (column == "aiv_time(us)") return {"aiv_total_time", 1000};
    const size_t unit = column.find('(');
    const std::string name(column.substr(0, unit));
    return {name, name.ends_with("_time") ? 1000 : 1};
  }

  void WriteMetrics() {
    TableWriter rows =
        ctx_.db.Table("TASK_PMU_INFO", "globalTaskId INTEGER, name INTEGER, value NUMERIC");
    for (const store::DynamicColumn& metric : store_.kernel_metrics) {
      if (metric.is_text() || metric.name == "cube_utilization(%)") continue;
      const auto [name, factor] = MetricOf(metric.name);
      const int64_t name_id = text_id_(name);
      for (uint32_t row = 0; row < metric.numbers.size(); ++row) {
        const double value = metric.numbers[row] * factor;
        if (std::isnan(value) || facts_.IsCollective(row)) continue;
        rows.Int(TaskIdOf(row)).Int(name_id);
        value == std::round(value) && std::fabs(value) < 1e15
            ? rows.Int(static_cast<int64_t>(value)).EndRow()
            : rows.Real(value).EndRow();
      }
    }
  }

  void WriteCollectives() {
    const store::CommOpTable& ops = store_.comm_ops;
    TableWriter rows = ctx_.db.Table(
        "COMMUNICATION_OP",
        "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
        "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, "
        "algType INTEGER, count NUMERIC, opType INTEGER, deviceId INTEGER, rankSize INTEGER");
    const std::vector<StringId> types = TypesOfCollectives();
    for (size_t i = 0; i < ops.size(); ++i) {
      const auto op = static_cast<int64_t>(i);
      rows.Int(text_id_(ops.name[i])).Int(ops.begin_ns[i]);
      rows.Int(EndOf(ops.begin_ns[i], ops.dur_ns[i])).Int(ValueOr(ops.correlation[i], -1));
      rows.Int(TextOrMissing(ops.group_name[i])).Int(op);
      rows.Int(ValueOr(ops.relay[i], -1)).Int(ValueOr(ops.retry[i], -1));
      rows.Int(ctx_.enums.data_type(store_.Text(ops.data_type[i]), kEnumNotAvailable));
      rows.Int(TextOrMissing(ops.alg_type[i])).Int(ValueOr(ops.count[i], -1));
      rows.Int(TextOrMissing(types[i])).Int(ops.device[i]).Int(ValueOr(ops.rank_size[i], 0));
      rows.EndRow();
    }
    WriteCommTasks();
  }

  // The types that were recorded, which are those of the kernels of the same name.
  std::vector<StringId> TypesOfCollectives() const {
    std::unordered_map<StringId, StringId> by_name;
    for (size_t row = 0; row < store_.kernels.size(); ++row) {
      if (facts_.IsCollective(row)) by_name[store_.kernels.name[row]] = store_.kernels.type[row];
    }
    std::vector<StringId> types;
    for (const StringId name : store_.comm_ops.name) {
      const auto found = by_name.find(name);
      types.push_back(found == by_name.end() ? StringId::kEmpty : found->second);
    }
    return types;
  }

  void WriteCommTasks() {
    const store::CommTaskTable& tasks = store_.comm_tasks;
    const std::vector<double> bandwidths = SmallOpBandwidths(store_);
    {
      TableWriter rows =
          ctx_.db.Table("COMMUNICATION_TASK_INFO",
                        "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, "
                        "groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, "
                        "dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, "
                        "linkType INTEGER, opId INTEGER, isMaster INTEGER, bandwidth NUMERIC");
      for (size_t i = 0; i < tasks.size(); ++i) {
        const int64_t task = tasks.device_task[i];
        if (task < 0 || task >= static_cast<int64_t>(task_ids_.size())) continue;
        rows.Int(text_id_(tasks.op_name[i])).Int(task_ids_[static_cast<size_t>(task)]);
        rows.Int(TextOrMissing(tasks.name[i])).Int(ValueOr(tasks.plane[i], kNoId32));
        rows.Int(TextOrMissing(tasks.group_name[i])).Int(ValueOr(tasks.notify_id[i], -1));
        rows.Int(ctx_.enums.rdma_type(store_.Text(tasks.rdma_type[i]), kEnumNotAvailable));
        rows.Int(tasks.src_rank[i]).Int(tasks.dst_rank[i]);
        rows.Int(ctx_.enums.transport_type(store_.Text(tasks.transport[i]), kEnumNotAvailable));
        rows.Int(ValueOr(tasks.size_bytes[i], -1));
        rows.Int(ctx_.enums.data_type(store_.Text(tasks.data_type[i]), kEnumNotAvailable));
        rows.Int(ctx_.enums.link_type(store_.Text(tasks.link[i]), kEnumNotAvailable));
        rows.Int(tasks.comm_op[i]).Int(ValueOr(tasks.is_master[i], 0));
        rows.Real(bandwidths[i] * 1e9).EndRow();
      }
    }
    if (tasks.size() > 0) {
      ctx_.db.Execute(
          "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)");
    }
  }

  void WriteCalls() {
    const std::map<std::string_view, int64_t> kLevels = {{"Runtime", 5000},
                                                         {"Communication", 5500},
                                                         {"Node", 10000},
                                                         {"Model", 15000},
                                                         {"AscendCL", 20000}};
    struct Name {
      int64_t level = 0;
      int64_t text = 0;
    };
    std::unordered_map<StringId, Name> names;
    TableWriter calls = ctx_.db.Table("CANN_API",
                                      "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid "
                                      "INTEGER, connectionId INTEGER PRIMARY KEY, name INTEGER");
    TableWriter runtime = ctx_.db.Table(
        "OSRT_API", "name NUMERIC, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC");
    const store::SliceTable& slices = store_.slices;
    for (size_t i = 0; i < slices.size(); ++i) {
      const TrackFacts& track = facts_.timeline.of(slices.track[i]);
      const int64_t end_ns = EndOf(slices.begin_ns[i], slices.dur_ns[i]);
      if (track.process == "OS Runtime API") {
        runtime.Int(text_id_(slices.name[i])).Int(GlobalTid(track.tid));
        runtime.Int(slices.begin_ns[i]).Int(end_ns).EndRow();
      }
      if (track.kind != TrackKind::kCann) continue;
      const auto [name, is_new] = names.try_emplace(slices.name[i]);
      if (is_new) {
        const std::string_view text = store_.Text(slices.name[i]);
        const size_t at = std::min(text.find('@'), text.size());
        const auto level = kLevels.find(text.substr(0, at));
        name->second.level = level == kLevels.end() ? 0 : level->second;
        name->second.text = text_id_(text.substr(std::min(at + 1, text.size())));
      }
      calls.Int(slices.begin_ns[i]).Int(end_ns).Int(name->second.level);
      calls.Int(GlobalTid(track.tid)).Int(slices.correlation[i]).Int(name->second.text).EndRow();
    }
  }

  int64_t GlobalTid(int64_t tid) const {
    return static_cast<int64_t>(static_cast<uint64_t>(facts_.pid) << 32 |
                                static_cast<uint32_t>(tid));
  }

  void WriteMarks() {
    const store::MarkerTable& marks = store_.markers;
    TableWriter rows = ctx_.db.Table(
        "MSTX_EVENTS",
        "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, "
        "message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, "
        "connectionId INTEGER");
    for (size_t i = 0; i < marks.size(); ++i) {
      const auto slice = static_cast<size_t>(marks.slice[i]);
      const bool is_plain = marks.correlation[i] == kPlainMarkConnection;
      const int64_t tid = GlobalTid(facts_.timeline.of(store_.slices.track[slice]).tid);
      rows.Int(store_.slices.begin_ns[slice]);
      rows.Int(EndOf(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice]));
      rows.Int(marks.event_type[i]).Int(kNoId32);
      rows.Int(is_plain ? ValueOr(marks.category[i], 0) : kNoId32);
      const StringId message = store_.slices.name[slice];
      rows.Int(message == StringId::kEmpty ? text_id_.Blank() : text_id_(message));
      rows.Int(tid).Int(tid);
      rows.Int(TextOrMissing(marks.domain[i])).Int(marks.correlation[i]).EndRow();
    }
  }

  void WriteMemory() {
    const store::ModuleMemoryTable& modules = store_.module_memory;
    TableWriter reserved = ctx_.db.Table("NPU_MODULE_MEM",
                                         "moduleId INTEGER, timestampNs INTEGER, "
                                         "totalReserved NUMERIC, deviceId INTEGER");
    for (size_t i = 0; i < modules.size(); ++i) {
      reserved.Int(ctx_.enums.module(store_.Text(modules.component[i]), kNoEnum));
      reserved.Int(modules.ts_ns[i]).Int(modules.reserved_bytes[i]);
      reserved.Int(ctx_.DeviceNumber(modules.device[i])).EndRow();
    }
    const store::AllocationTable& blocks = store_.allocations;
    TableWriter rows = ctx_.db.Table(
        "NPU_OP_MEM",
        "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER, "
        "globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER, "
        "deviceId INTEGER");
    for (size_t i = 0; i < blocks.size(); ++i) {
      for (const bool is_release : {false, true}) {
        const int64_t ts_ns = is_release ? blocks.release_ns[i] : blocks.alloc_ns[i];
        if (ts_ns == kNone) continue;
        const std::string_view type = is_release ? "release" : "allocate";
        rows.Int(text_id_(blocks.name[i])).Int(blocks.address[i]).Int(text_id_(type));
        rows.Int(blocks.size_bytes[i]).Int(ts_ns).Null();
        rows.Int(is_release ? blocks.release_total_allocated_bytes[i]
                            : blocks.alloc_total_allocated_bytes[i]);
        rows.Int(is_release ? blocks.release_total_reserved_bytes[i]
                            : blocks.alloc_total_reserved_bytes[i]);
        rows.Int(text_id_(std::string_view("GE"))).Int(ctx_.DeviceNumber(blocks.device[i]));
        rows.EndRow();
      }
    }
  }

  void WriteOverlap() {
    TableWriter rows = ctx_.db.Table("OVERLAP_ANALYSIS",
                                     "id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, "
                                     "endNs NUMERIC, type INTEGER");
    int64_t id = 0;
    for (const OverlapPiece& piece : facts_.overlap) {
      rows.Int(id++).Int(piece.device).Int(piece.time.begin_ns).Int(piece.time.end_ns);
      rows.Int(static_cast<int64_t>(piece.kind)).EndRow();
    }
  }

  const ProfFacts& facts_;
  const store::TraceStore& store_;
  DbContext& ctx_;
  StringRange& text_id_;
  std::vector<int64_t> task_ids_;  // globalTaskId of each row of device_tasks
};

// A table of samples that the timeline has only in part, from what the reader kept of it whole.
// `columns`: names and types, the first of the sheet's columns being `first`.
void WriteSheetTable(const ProfFacts& facts, DbContext& ctx, std::string_view table,
                     std::string_view sheet_name, const std::string& columns, bool has_device,
                     double bandwidth_factor) {
  const store::DynamicTable* sheet = FindSheet(facts.store, sheet_name);
  if (sheet == nullptr) return;
  TableWriter rows = ctx.db.Table(table, columns);
  const size_t time = has_device ? 1 : 0;
  for (size_t row = 0; row < sheet->size(); ++row) {
    for (size_t column = 0; column < sheet->columns.size(); ++column) {
      double value = sheet->columns[column].numbers[row];
      if (column == time) {
        rows.Int(facts.begin_ns + static_cast<int64_t>(value));
        continue;
      }
      if (sheet->columns[column].name == "bandwidth") value *= bandwidth_factor;
      value == std::round(value) && std::fabs(value) < 1e15 ? rows.Int(static_cast<int64_t>(value))
                                                            : rows.Real(value);
    }
    rows.EndRow();
  }
}

std::string ColumnList(const ProfFacts& facts, std::string_view sheet_name) {
  const store::DynamicTable* sheet = FindSheet(facts.store, sheet_name);
  std::string columns;
  if (sheet == nullptr) return columns;
  for (const store::DynamicColumn& column : sheet->columns) {
    const bool is_id = column.name == "device" || column.name == "funcId";
    if (!columns.empty()) columns += ", ";
    columns += column.name == "device" ? "deviceId"
               : column.name == "time" ? "timestampNs"
                                       : column.name;
    columns += is_id || column.name == "time" ? " INTEGER" : " NUMERIC";
  }
  return columns;
}

// The metrics of each core over the whole capture; the mean of the cores is in the csv file only.
void WriteCoreSummary(const ProfFacts& facts, DbContext& ctx) {
  constexpr std::string_view kSheets[] = {"ai_core_utilization", "ai_vector_core_utilization"};
  TableWriter rows = ctx.db.Table("SAMPLE_PMU_SUMMARY",
                                  "deviceId INTEGER, metric INTEGER, value NUMERIC, coreId "
                                  "INTEGER, coreType INTEGER");
  for (size_t kind = 0; kind < std::size(kSheets); ++kind) {
    const store::DynamicTable* sheet = FindSheet(facts.store, kSheets[kind]);
    if (sheet == nullptr) continue;
    for (size_t row = 0; row < sheet->size(); ++row) {
      const auto core = ParseInt64(facts.store.Text(sheet->columns[1].texts[row]));
      if (!core) continue;
      for (size_t column = 2; column < sheet->columns.size(); ++column) {
        rows.Int(static_cast<int64_t>(sheet->columns[0].numbers[row]));
        rows.Int(ctx.strings.exporter(std::string_view(sheet->columns[column].name)));
        rows.Real(sheet->columns[column].numbers[row]);
        rows.Int(*core).Int(static_cast<int64_t>(kind)).EndRow();
      }
    }
  }
}

void WriteSampleTables(const ProfFacts& facts, DbContext& ctx) {
  constexpr double kMb = 1 << 20;
  constexpr std::string_view kOwn[] = {
      "PCIE", "NIC", "ROCE", "HOST_DISK_USAGE", "HOST_NETWORK_USAGE", "SAMPLE_PMU_TIMELINE"};
  std::vector<CounterSource> sources = CounterSources();
  std::erase_if(sources, [&](const CounterSource& source) {
    return std::find(std::begin(kOwn), std::end(kOwn), source.table) != std::end(kOwn);
  });
  AddProfSources(sources);
  WriteCounterTables(ctx, sources);
  WriteSheetTable(facts, ctx, "PCIE", "prof_pcie", ColumnList(facts, "prof_pcie"), true, 1);
  WriteSheetTable(facts, ctx, "NIC", "prof_nic", ColumnList(facts, "prof_nic"), true, kMb);
  WriteSheetTable(facts, ctx, "SAMPLE_PMU_TIMELINE", "prof_core_samples",
                  "deviceId INTEGER, timestampNs INTEGER, totalCycle INTEGER, usage NUMERIC, "
                  "freq NUMERIC, coreId INTEGER, coreType INTEGER",
                  true, 1);
  WriteCoreSummary(facts, ctx);
  WriteSheetTable(facts, ctx, "ROCE", "prof_roce", ColumnList(facts, "prof_roce"), true, kMb);
}

// Rates of the host that the timeline does not show, beside those it does.
void WriteHostUsage(const ProfFacts& facts, DbContext& ctx, std::string_view process,
                    std::string_view sheet_name, std::string_view table, bool has_usage_first) {
  const store::DynamicTable* sheet = FindSheet(facts.store, sheet_name);
  if (sheet == nullptr) return;
  std::map<int64_t, double> usage;
  for (const SampleSeries& series : SeriesOf(facts, process)) {
    for (const auto& [ts_ns, value] : series.samples) usage[ts_ns] = value;
  }
  std::string columns = "timestampNs NUMERIC";
  if (has_usage_first) columns += ", usage NUMERIC";
  for (size_t i = 1; i < sheet->columns.size(); ++i)
    columns += ", " + sheet->columns[i].name + " NUMERIC";
  if (!has_usage_first) columns += ", usage NUMERIC";
  TableWriter rows = ctx.db.Table(table, columns);
  for (size_t row = 0; row < sheet->size(); ++row) {
    const int64_t ts_ns = facts.begin_ns + static_cast<int64_t>(sheet->columns[0].numbers[row]);
    rows.Int(ts_ns);
    if (has_usage_first) rows.Real(usage[ts_ns]);
    for (size_t i = 1; i < sheet->columns.size(); ++i) rows.Real(sheet->columns[i].numbers[row]);
    if (!has_usage_first) rows.Real(usage[ts_ns]);
    rows.EndRow();
  }
}

}  // namespace

Status WriteProfDb(const store::TraceStore& store, const std::string& path) {
  SL_ASSIGN_OR_RETURN(SqliteWriter db, SqliteWriter::Create(path));
  static_cast<void>(store.strings.Find({}));
  const ProfFacts facts(store);
  const ExportOptions options;
  DbContext ctx(store, facts.timeline, options, db);
  UseProfEnums(ctx.enums);
  ProfDbWriter(facts, ctx).Write();
  WriteSampleTables(facts, ctx);
  WriteHostUsage(facts, ctx, "Disk Usage", "prof_host_disk", "HOST_DISK_USAGE", false);
  WriteHostUsage(facts, ctx, "Network Usage", "prof_host_network", "HOST_NETWORK_USAGE", true);
  WriteProfEnums(ctx);
  {
    TableWriter strings = db.Table("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT");
    ctx.strings.exporter.Write(strings);
  }
  return db.Commit();
}

}  // namespace steplens::exporting
