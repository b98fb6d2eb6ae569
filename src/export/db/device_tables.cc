#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "analysis/classify/collective_kernels.h"
#include "analysis/communication/transfers.h"
#include "analysis/time_math.h"
#include "base/number.h"
#include "export/db/db_context.h"

namespace steplens::exporting {
namespace {

using store::kNoId;
using store::kNone;
using store::TraceStore;

// Kinds of tasks as the driver calls them, which tell cube from vector kernels where the trace has
// AI_CORE for both.
std::string_view DriverType(std::string_view category, std::string_view core) {
  if (category == "AI_CORE" && core == "AI_VECTOR_CORE") return "KERNEL_AIVEC";
  const std::string_view known = category.empty() ? core : category;
  if (known == "AI_CORE") return "KERNEL_AICORE";
  if (known == "AI_VECTOR_CORE") return "KERNEL_AIVEC";
  if (known == "AI_CPU") return "KERNEL_AICPU";
  return known;
}

// A row of TASK before it is written: when it began and where it comes from, any of the three.
struct Task {
  int64_t begin_ns;
  uint32_t slice = kNoId;
  uint32_t kernel = kNoId;
  uint32_t comm_task = kNoId;
};

class DeviceWriter {
 public:
  explicit DeviceWriter(DbContext& ctx) : ctx_(ctx), store_(ctx.store) {
    for (const int64_t connection : store_.markers.correlation) {
      if (connection != kNone && connection != kNoId32) markers_.insert(connection);
    }
    for (const auto& [slice, connection] : ctx.made_connections)
      made_by_place_[{store_.slices.track[slice], store_.slices.begin_ns[slice]}] = connection;
    for (size_t op = 0; op < store_.comm_ops.size(); ++op) {
      if (store_.comm_ops.correlation[op] != kNone)
        ops_by_connection_[store_.comm_ops.correlation[op]] = op;
    }
    NameGroups();
  }

  void Write() {
    CollectTasks();
    WriteTasks();
    WriteKernels();
    WriteMetrics();
    WriteCollectives();
    WriteCommTasks();
  }

 private:
  void CollectTasks() {
    const DeviceIndex index(store_, ctx_.timeline);
    tasks_.reserve(index.slices.size() + index.lone_kernels.size() + index.lone_comm_tasks.size());
    for (size_t i = 0; i < index.slices.size(); ++i) {
      const uint32_t slice = index.slices[i];
      tasks_.push_back(
          {store_.slices.begin_ns[slice], slice, index.kernel_of[i], index.comm_task_of[i]});
    }
    for (const uint32_t kernel : index.lone_kernels)
      tasks_.push_back({store_.kernels.begin_ns[kernel], kNoId, kernel, kNoId});
    for (const uint32_t row : index.lone_comm_tasks)
      tasks_.push_back({store_.comm_tasks.begin_ns[row], kNoId, kNoId, row});
    const auto earlier = [](const Task& a, const Task& b) { return a.begin_ns < b.begin_ns; };
    if (!std::is_sorted(tasks_.begin(), tasks_.end(), earlier))
      std::stable_sort(tasks_.begin(), tasks_.end(), earlier);
  }

  // Up to CANN 8.0 the trace rounds durations where kernel_details.csv cuts them; the kernels
  // count.
  int64_t DurNs(const Task& task) const {
    if (task.kernel != kNoId) return store_.kernels.dur_ns[task.kernel];
    return task.slice != kNoId ? store_.slices.dur_ns[task.slice]
                               : store_.comm_tasks.dur_ns[task.comm_task];
  }
  int64_t Device(const Task& task) const {
    if (task.slice != kNoId) return ctx_.timeline.of(store_.slices.track[task.slice]).device;
    return task.kernel != kNoId ? ValueOr(store_.kernels.device[task.kernel], ctx_.timeline.device)
                                : ctx_.timeline.of(store_.comm_tasks.track[task.comm_task]).device;
  }
  int64_t Stream(const Task& task) const {
    if (task.slice != kNoId) return ctx_.timeline.of(store_.slices.track[task.slice]).tid;
    return task.kernel != kNoId ? store_.kernels.stream[task.kernel]
                                : store_.comm_tasks.stream[task.comm_task];
  }
  int64_t Connection(const Task& task) const {
    if (task.slice != kNoId) return ctx_.ConnectionOf(task.slice);
    return task.kernel != kNoId ? ValueOr(store_.kernels.correlation[task.kernel], kNoId32)
                                : kNoId32;
  }

  // What a task is called where nothing else names it: the kind the stream shows.
  std::string_view TypeOf(const Task& task) const {
    const std::string_view category =
        task.slice == kNoId ? "" : store_.Text(store_.slices.category[task.slice]);
    if (task.kernel != kNoId)
      return DriverType(category, store_.Text(store_.kernels.core[task.kernel]));
    if (task.slice == kNoId) return store_.Text(store_.comm_tasks.name[task.comm_task]);
    const bool is_named_by_marker = !markers_.empty() && markers_.contains(Connection(task));
    return is_named_by_marker && !category.empty() ? category
                                                   : store_.Text(store_.slices.name[task.slice]);
  }

  void WriteTasks() {
    TableWriter rows = ctx_.db.Table(
        "TASK",
        "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
        "globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, "
        "streamId INTEGER, taskId INTEGER, modelId INTEGER");
    std::string_view last_type;  // most tasks are of the type of the one before
    int64_t last_type_id = ctx_.strings.exporter(last_type);
    for (size_t id = 0; id < tasks_.size(); ++id) {
      const Task& task = tasks_[id];
      int64_t context_id = kNoId32;
      int64_t model_id = kNoId32;
      int64_t task_id = kNone;
      if (task.comm_task != kNoId) task_id = store_.comm_tasks.task_id[task.comm_task];
      if (task.kernel != kNoId) {
        context_id = ValueOr(store_.kernels.context_id[task.kernel], kNoId32);
        model_id = ValueOr(store_.kernels.model_id[task.kernel], kNoId32);
        task_id = store_.kernels.task_id[task.kernel];
      }
      rows.Int(task.begin_ns);
      rows.Int(analysis::EndNs(store::MaybeInt(task.begin_ns), store::MaybeInt(DurNs(task))));
      rows.Int(Device(task));
      rows.Int(Connection(task)).Int(static_cast<int64_t>(id)).Int(ctx_.timeline.os_pid);
      const std::string_view type = TypeOf(task);
      if (type != last_type) {
        last_type = type;
        last_type_id = ctx_.strings.exporter(type);
      }
      rows.Int(last_type_id).Int(context_id);
      rows.Int(Stream(task)).Int(task_id).Int(model_id).EndRow();
      // The rows come in its order: it grows with them, and nothing has to be sorted.
      if (id == 0) ctx_.db.Execute("CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId)");
    }
  }

  int64_t Known(StringId text) {
    if (text != StringId::kEmpty) return ctx_.strings.exporter(text);
    if (not_available_ == kNone) not_available_ = ctx_.strings.exporter(std::string_view("N/A"));
    return not_available_;
  }
  // What has a type and no shape is a scalar.
  int64_t Shapes(StringId text, StringId types) {
    if (text == StringId::kEmpty && types == StringId::kEmpty) return Known(text);
    return ctx_.strings.exporter.Quoted(text);
  }

  void WriteKernels() {
    TableWriter rows = ctx_.db.Table(
        "COMPUTE_TASK_INFO",
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER, "
        "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, "
        "inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, "
        "outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER");
    const store::KernelTable& kernels = store_.kernels;
    for (size_t id = 0; id < tasks_.size(); ++id) {
      const uint32_t row = tasks_[id].kernel;
      if (row == kNoId) continue;
      rows.Int(ctx_.strings.exporter(kernels.name[row])).Int(static_cast<int64_t>(id));
      rows.Int(kernels.block_dim[row]).Int(kernels.mix_block_dim[row]);
      rows.Int(Known(kernels.core[row])).Int(Known(kernels.type[row]));
      rows.Int(Known(kernels.input_formats[row])).Int(Known(kernels.input_types[row]));
      rows.Int(Shapes(kernels.input_shapes[row], kernels.input_types[row]));
      rows.Int(Known(kernels.output_formats[row])).Int(Known(kernels.output_types[row]));
      rows.Int(Shapes(kernels.output_shapes[row], kernels.output_types[row]))
          .Int(Known(StringId::kEmpty));
      rows.Int(Known(kernels.state[row])).Int(Known(kernels.hf32[row])).EndRow();
    }
  }

  // The name of a metric in the db and what its value is multiplied with.
  static std::pair<std::string, double> MetricName(std::string_view header) {
    constexpr double kNsPerUs = 1000;
    if (header == "aicore_time(us)") return {"aic_total_time", kNsPerUs};
    if (header == "aiv_time(us)") return {"aiv_total_time", kNsPerUs};
    const size_t unit = header.rfind('(');
    if (header.ends_with("_time(us)")) return {std::string(header.substr(0, unit)), kNsPerUs};
    if (header.ends_with("(GB/s)") || header.ends_with("(KB)"))
      return {std::string(header.substr(0, unit)), 1};
    return {std::string(header), 1};
  }

  // Times of the csv are decimal microseconds: whole nanoseconds but for the noise of the product.
  static double WithoutNoise(double ns) {
    const double whole_ns = std::round(ns);
    return std::fabs(ns - whole_ns) < 1e-6 ? whole_ns : ns;
  }

  void WriteMetrics() {
    TableWriter rows =
        ctx_.db.Table("TASK_PMU_INFO", "globalTaskId INTEGER, name INTEGER, value NUMERIC");
    for (const store::DynamicColumn& metric : store_.kernel_metrics) {
      // The one column of kernel_details.csv that the db never has: it is derived from others.
      if (metric.is_text() || metric.name == "cube_utilization(%)") continue;
      const auto [name, factor] = MetricName(metric.name);
      const int64_t name_id = ctx_.strings.exporter(std::string_view(name));
      for (size_t id = 0; id < tasks_.size(); ++id) {
        const uint32_t row = tasks_[id].kernel;
        if (row == kNoId || row >= metric.numbers.size()) continue;
        const double value = metric.numbers[row] * factor;
        if (std::isnan(value)) continue;
        rows.Int(static_cast<int64_t>(id)).Int(name_id);
        rows.Real(factor == 1 ? value : WithoutNoise(value)).EndRow();
      }
    }
  }

  // Text up to CANN 8.0 numbers the groups; communication.json has their names.
  void NameGroups() {
    constexpr int64_t kMaxGroups = 1000000;
    const auto is_number = [&](StringId group) {
      const auto number = ParseInt64(store_.Text(group));
      return number && *number >= 0 && *number < kMaxGroups;
    };
    std::map<StringId, StringId> group_of_op;
    for (size_t i = 0; i < store_.comm_times.size(); ++i)
      group_of_op[store_.comm_times.op_name[i]] = store_.comm_times.group_name[i];
    for (size_t i = 0; i < store_.comm_ops.size(); ++i) {
      const auto named = group_of_op.find(store_.comm_ops.name[i]);
      if (named != group_of_op.end() && named->second != StringId::kEmpty &&
          is_number(store_.comm_ops.group_name[i]))
        group_names_.try_emplace(store_.comm_ops.group_name[i], named->second);
    }
  }
  int64_t Group(StringId group) {
    const auto named = group_names_.find(group);
    return Known(named == group_names_.end() ? group : named->second);
  }

  void WriteCollectives() {
    TableWriter rows = ctx_.db.Table(
        "COMMUNICATION_OP",
        "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
        "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, "
        "algType INTEGER, count NUMERIC, opType INTEGER, deviceId INTEGER");
    const store::CommOpTable& ops = store_.comm_ops;
    const bool is_level0 = store_.info.level == "Level0";  // which does not say the type
    for (size_t i = 0; i < ops.size(); ++i) {
      rows.Int(ctx_.strings.exporter(ops.name[i])).Int(ops.begin_ns[i]);
      rows.Int(analysis::EndNs(ops.begin_ns[i], ops.dur_ns[i]));
      rows.Int(ValueOr(ops.correlation[i], MadeConnection(i))).Int(Group(ops.group_name[i]));
      rows.Int(static_cast<int64_t>(i) + 1).Int(0).Int(0);
      rows.Int(ctx_.enums.data_type(store_.Text(ops.data_type[i]), kEnumNotAvailable));
      rows.Int(Known(ops.alg_type[i])).Int(ops.count[i]);
      rows.Int(Known(is_level0 ? StringId::kEmpty : ops.op_type[i]));
      rows.Int(ctx_.timeline.of(ops.track[i]).device).EndRow();
    }
    if (ops.size() == 0) WriteCollectiveKernels(rows);
  }

  // The connection made for the collective's slice, if an operator's arrow leads to it.
  int64_t MadeConnection(size_t op) const {
    const auto made =
        made_by_place_.find({store_.comm_ops.track[op], store_.comm_ops.begin_ns[op]});
    return made == made_by_place_.end() ? kNoId32 : made->second;
  }

  // A capture without its timeline has collectives in kernel_details.csv only, a GPU trace without
  // their sizes among its kernels.
  void WriteCollectiveKernels(TableWriter& rows) {
    const store::KernelTable& kernels = store_.kernels;
    analysis::CollectiveKernels is_collective(store_, ctx_.timeline.platform);
    int64_t next_id = 1;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (!is_collective(i)) continue;
      rows.Int(ctx_.strings.exporter(kernels.name[i])).Int(kernels.begin_ns[i]);
      rows.Int(analysis::EndNs(kernels.begin_ns[i], kernels.dur_ns[i]));
      rows.Int(ValueOr(kernels.correlation[i], kNoId32)).Int(Known(StringId::kEmpty));
      rows.Int(next_id++).Int(0).Int(0).Int(kEnumNotAvailable).Int(Known(StringId::kEmpty));
      rows.Null().Int(Known(kernels.type[i]));
      rows.Int(ValueOr(kernels.device[i], ctx_.timeline.device)).EndRow();
    }
  }

  void WriteCommTasks() {
    const store::CommTaskTable& comm = store_.comm_tasks;
    std::vector<int64_t> op_of(comm.size(), kNone);  // row of comm_ops
    const auto by_op = analysis::AssignCommTasks(store_);
    for (size_t op = 0; op < by_op.size(); ++op) {
      for (const uint32_t row : by_op[op]) op_of[row] = static_cast<int64_t>(op);
    }
    const bool knows_master = std::any_of(comm.is_master.begin(), comm.is_master.end(),
                                          [](int64_t flag) { return flag != kNone; });
    const std::string columns =
        "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, "
        "groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, "
        "dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, "
        "linkType INTEGER, opId INTEGER";
    TableWriter rows = ctx_.db.Table("COMMUNICATION_TASK_INFO",
                                     columns + (knows_master ? ", isMaster INTEGER" : ""));
    bool has_rows = false;
    for (size_t id = 0; id < tasks_.size(); ++id) {
      const Task& task = tasks_[id];
      const auto op = ops_by_connection_.find(Connection(task));
      const bool is_plain = task.kernel == kNoId && op != ops_by_connection_.end();
      if (task.comm_task == kNoId && !is_plain) continue;
      if (task.comm_task != kNoId) {
        WriteCommTask(rows, static_cast<int64_t>(id), task.comm_task, op_of, knows_master);
      } else {
        WritePlainCommTask(rows, static_cast<int64_t>(id), op->second, knows_master);
      }
      if (has_rows) continue;
      has_rows = true;
      ctx_.db.Execute(
          "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)");
    }
  }

  // A task of a collective of which only the connection is known (Level0).
  void WritePlainCommTask(TableWriter& rows, int64_t id, size_t op, bool knows_master) {
    const int64_t not_available = Known(StringId::kEmpty);
    rows.Int(ctx_.strings.exporter(store_.comm_ops.name[op])).Int(id).Int(not_available);
    rows.Int(kNoId32).Int(Group(store_.comm_ops.group_name[op])).Int(0).Int(kEnumNotAvailable);
    rows.Int(kNoId32).Int(kNoId32).Int(kEnumNotAvailable).Int(-1).Int(kEnumNotAvailable);
    rows.Int(kEnumNotAvailable).Int(static_cast<int64_t>(op) + 1);
    if (knows_master) rows.Null();
    rows.EndRow();
  }

  void WriteCommTask(TableWriter& rows, int64_t id, uint32_t row, const std::vector<int64_t>& op_of,
                     bool knows_master) {
    const store::CommTaskTable& comm = store_.comm_tasks;
    const int64_t op = op_of[row];
    StringId op_name = comm.op_name[row];
    if (op_name == StringId::kEmpty && op != kNone)
      op_name = store_.comm_ops.name[static_cast<size_t>(op)];
    const auto id_of = [&](DbEnum& names, StringId text) {
      return names(store_.Text(text), kEnumNotAvailable);
    };
    rows.Int(ctx_.strings.exporter(op_name)).Int(id).Int(Known(comm.name[row]));
    rows.Int(ValueOr(comm.plane[row], kNoId32)).Int(Group(comm.group_name[row]));
    rows.Int(ValueOr(comm.notify_id[row], std::numeric_limits<int64_t>::max()));
    rows.Int(id_of(ctx_.enums.rdma_type, comm.rdma_type[row]));
    rows.Int(ValueOr(comm.src_rank[row], kNoId32)).Int(ValueOr(comm.dst_rank[row], kNoId32));
    rows.Int(id_of(ctx_.enums.transport_type, comm.transport[row]));
    rows.Int(ValueOr(comm.size_bytes[row], -1));
    rows.Int(id_of(ctx_.enums.data_type, comm.data_type[row]));
    rows.Int(id_of(ctx_.enums.link_type, comm.link[row]));
    rows.Int(op == kNone ? kNoId32 : op + 1);
    if (knows_master) rows.Int(comm.is_master[row]);
    rows.EndRow();
  }

  DbContext& ctx_;
  const TraceStore& store_;
  int64_t not_available_ = kNone;  // the id of "N/A", once it is needed
  std::vector<Task> tasks_;        // the index is globalTaskId
  std::set<int64_t> markers_;      // connections of markers, which name their tasks
  std::map<std::pair<store::TrackId, int64_t>, int64_t> made_by_place_;
  std::map<StringId, StringId> group_names_;
  std::map<int64_t, size_t> ops_by_connection_;  // connection -> row of comm_ops
};

}  // namespace

void WriteDeviceTables(DbContext& ctx) { DeviceWriter(ctx).Write(); }

}  // namespace steplens::exporting
