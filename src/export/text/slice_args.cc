#include "export/text/slice_args.h"

#include <algorithm>

#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"
#include "base/number.h"
#include "store/marker_type.h"

namespace steplens::exporting {
namespace {

using analysis::SliceKind;
using analysis::TrackKind;
using store::kNoId;
using store::kNone;

constexpr int64_t kNoModel = 4294967295;

// Appends the members of one JSON object. Keys are literals.
class ArgsObject {
 public:
  explicit ArgsObject(TextBuffer& out) : out_(out) { out_ += '{'; }
  ~ArgsObject() { out_ += '}'; }
  ArgsObject(const ArgsObject&) = delete;
  ArgsObject& operator=(const ArgsObject&) = delete;

  template <size_t kSize>
  void Int(const char (&key)[kSize], int64_t value) {
    Key(key);
    out_.Int(value);
  }
  template <size_t kSize>
  void KnownInt(const char (&key)[kSize], int64_t value) {
    if (value != kNone) Int(key, value);
  }
  template <size_t kSize>
  void Raw(const char (&key)[kSize], std::string_view json) {
    Key(key);
    out_ += json;
  }
  template <size_t kSize>
  void Text(const char (&key)[kSize], std::string_view text) {
    Raw(key, JsonText(text));
  }
  template <size_t kSize>
  void KnownText(const char (&key)[kSize], std::string_view text) {
    if (!text.empty()) Text(key, text);
  }
  template <size_t kSize>
  void Number(const char (&key)[kSize], double value) {
    Key(key);
    out_.JsonNumber(value);
  }

 private:
  template <size_t kSize>
  void Key(const char (&key)[kSize]) {
    out_ += is_first_ ? std::string_view("\"") : std::string_view(", \"");
    is_first_ = false;
    out_ += key;
    out_ += "\": ";
  }
  TextBuffer& out_;
  bool is_first_ = true;
};

// The driver tells cube and vector kernels apart, the trace only kernels of one core from mixed
// ones.
std::string_view TraceTaskType(std::string_view type, std::string_view core, bool is_sub_task) {
  if (!type.starts_with("KERNEL_")) return type;
  const bool is_known = !core.empty() && core != "N/A";
  if (type == "KERNEL_AICORE" || type == "KERNEL_AIVEC") {
    const bool is_plain = is_known ? core == "AI_CORE" || core == "AI_VECTOR_CORE" : !is_sub_task;
    if (is_plain) return "AI_CORE";
    return is_known ? core : "MIX_AIV";
  }
  return is_known ? core : type.substr(std::string_view("KERNEL_").size());
}

std::string_view MarkerType(int64_t type) {
  const bool is_known = type >= 0 && type < std::ssize(store::kMarkerTypes);
  return is_known ? store::kMarkerTypes[static_cast<size_t>(type)] : std::string_view();
}

// The texts of operators as further members of their args: , "Input Dims": "2,3;\r\n4"
constexpr char kShapes[] = ", \"Input Dims\": ";
constexpr char kTypes[] = ", \"Input type\": ";
constexpr char kStack[] = ", \"Call stack\": ";
constexpr char kModules[] = ", \"Module Hierarchy\": ";
template <const char* kKey>
std::string LinesOf(std::string_view text) {
  return kKey + JsonLines(text);
}

// The number of a module's object is the end of its name: "nn.Module: Linear_2". Empty for other
// functions.
std::string ModuleId(std::string_view name) {
  if (!name.starts_with("nn.Module: ")) return {};
  const auto id = ParseInt64(name.substr(name.rfind('_') + 1));
  return id ? ", \"Python module id\": " + std::to_string(*id) : std::string();
}

}  // namespace

SliceArgs::SliceArgs(const store::TraceStore& store, const Timeline& timeline,
                     const ExportOptions& options)
    : store_(store),
      timeline_(timeline),
      options_(options),
      kinds_(store),
      shapes_(store, LinesOf<kShapes>),
      types_(store, LinesOf<kTypes>),
      stacks_(store, LinesOf<kStack>),
      modules_(store, LinesOf<kModules>),
      module_ids_(store, ModuleId) {
  if (options.args_of) return;
  IndexDetails();
  NumberPythonCalls();
}

void SliceArgs::IndexDetails() {
  for (uint32_t row = 0; row < store_.comm_ops.size(); ++row) {
    comm_ops_.push_back({store_.comm_ops.track[row], store_.comm_ops.begin_ns[row],
                         store_.comm_ops.name[row], row});
  }
  for (uint32_t row = 0; row < store_.comm_tasks.size(); ++row) {
    comm_tasks_.push_back({store_.comm_tasks.track[row], store_.comm_tasks.begin_ns[row],
                           store_.comm_tasks.name[row], row});
  }
  std::sort(comm_ops_.begin(), comm_ops_.end());
  std::sort(comm_tasks_.begin(), comm_tasks_.end());
  device_.emplace(store_, timeline_);
  for (uint32_t row = 0; row < store_.markers.size(); ++row) {
    marker_of_[static_cast<uint32_t>(store_.markers.slice[row])] = row;
  }
}

// "Python id" is the index of the call among the calls and returns of its thread, by time.
void SliceArgs::NumberPythonCalls() {
  const auto& category = store_.slices.category;
  for (uint32_t i = 0; i < category.size(); ++i) {
    if (kinds_[category[i]] == SliceKind::kPython) python_slices_.push_back(i);
  }
  if (python_slices_.empty()) return;
  python_ids_.resize(python_slices_.size());
  const analysis::TrackIndex index = analysis::BuildTrackIndex(
      store_, [&](size_t i) { return kinds_[category[i]] == SliceKind::kPython; });
  struct Open {
    int64_t end_ns;
    int64_t id;
  };
  for (size_t track = 0; track < store_.tracks.size(); ++track) {
    std::vector<Open> open;
    int64_t next_id = 0;
    for (const store::SliceId slice : index.slices(store::TrackId{static_cast<uint32_t>(track)})) {
      const auto row = static_cast<uint32_t>(slice);
      const int64_t begin_ns = store_.slices.begin_ns[row];
      while (!open.empty() && open.back().end_ns <= begin_ns) {
        open.pop_back();
        ++next_id;
      }
      // Where the recorder's own records are known, so is the id.
      const int64_t id = ValueOr(store_.slices.correlation[row], next_id);
      ++next_id;
      const auto place = std::lower_bound(python_slices_.begin(), python_slices_.end(), row) -
                         python_slices_.begin();
      python_ids_[static_cast<size_t>(place)] = {id, open.empty() ? 0 : open.back().id};
      open.push_back({analysis::EndNs(begin_ns, store_.slices.dur_ns[row]), id});
    }
  }
}

uint32_t SliceArgs::Find(const std::vector<Place>& places, uint32_t slice) const {
  const Place wanted{store_.slices.track[slice], store_.slices.begin_ns[slice],
                     store_.slices.name[slice], 0};
  const auto found = std::lower_bound(places.begin(), places.end(), wanted);
  if (found == places.end()) return kNoId;
  const bool is_it = found->track == wanted.track && found->begin_ns == wanted.begin_ns &&
                     found->name == wanted.name;
  return is_it ? found->row : kNoId;
}

void SliceArgs::Append(TextBuffer& out, uint32_t slice) {
  if (options_.args_of) {
    const std::string args = store_.slices.args_offset[slice] == kNone
                                 ? std::string()
                                 : options_.args_of(store::SliceId{slice});
    out += args.empty() ? std::string_view("{}") : std::string_view(args);
    return;
  }
  const size_t host_op = host_ops_.Find(store_.host_ops.slice.span(), store::SliceId{slice});
  if (host_op != host_ops_.kNotFound) return AppendHostOp(out, host_op);
  const SliceKind kind = kinds_[store_.slices.category[slice]];
  if (kind == SliceKind::kPython) return AppendPython(out, slice);
  if (kind == SliceKind::kEnqueue || kind == SliceKind::kDequeue)
    return AppendCorrelation(out, slice, "correlation_id");
  if (analysis::IsGpuWork(kind)) return AppendGpuWork(out, slice);
  if (analysis::IsGpuApi(kind)) return AppendCorrelation(out, slice, "correlation");
  if (const auto marker = marker_of_.find(slice); marker != marker_of_.end())
    return AppendMarker(out, marker->second);
  switch (timeline_.of(store_.slices.track[slice]).kind) {
    case TrackKind::kCann:
      return AppendCann(out, slice);
    case TrackKind::kDevice:
      return AppendDeviceTask(out, slice);
    case TrackKind::kCommGroup:
      return AppendCommOp(out, slice);
    case TrackKind::kCommPlane:
      return AppendCommTask(out, slice);
    default:
      break;
  }
  if (timeline_.of(store_.slices.track[slice]).process == "CPU OP") {  // of MindSpore
    ArgsObject(out).Text("type", store_.Text(store_.slices.category[slice]));
    return;
  }
  AppendCorrelation(out, slice, "connection_id");
}

void SliceArgs::AppendHostOp(TextBuffer& out, size_t row) {
  const store::HostOpTable& ops = store_.host_ops;
  {
    Pen pen(out, 2 * kMaxNumberBytes);
    pen += "{\"Sequence number\": ";
    pen.Int(ValueOr(ops.sequence_number[row], -1));
    pen += ", \"Fwd thread id\": ";
    pen.Int(ValueOr(ops.fwd_thread[row], 0));
  }
  if (const StringId shapes = ops.input_shapes[row]; shapes != StringId::kEmpty)
    out += shapes_[shapes];
  if (const StringId types = ops.input_types[row]; types != StringId::kEmpty) out += types_[types];
  if (const StringId stack = ops.call_stack[row]; stack != StringId::kEmpty) out += stacks_[stack];
  if (ops.module_hierarchy.size() > 0 && ops.module_hierarchy[row] != StringId::kEmpty)
    out += modules_[ops.module_hierarchy[row]];
  out += '}';
}

void SliceArgs::AppendPython(TextBuffer& out, uint32_t slice) {
  const size_t place = python_calls_.Find(python_slices_, slice);
  const PythonId call = place == python_calls_.kNotFound ? PythonId{} : python_ids_[place];
  const PaddedView module = module_ids_[store_.slices.name[slice]];
  Pen pen(out, 2 * kMaxNumberBytes + module.size());
  pen += "{\"Python id\": ";
  pen.Int(call.id);
  pen += ", \"Python parent id\": ";
  pen.Int(call.parent);
  pen += module;
  pen += "}";
}

void SliceArgs::AppendCann(TextBuffer& out, uint32_t slice) {
  ArgsObject args(out);
  args.Int("Thread Id", timeline_.of(store_.slices.track[slice]).tid);
  if (const auto api = analysis::ParseCannApi(store_.Text(store_.slices.name[slice]))) {
    args.Text("Mode", api->name);
    args.Text("level", api->level);
    args.Text("id", api->name);
    args.Text("item_id", "0");
  }
  args.KnownInt("connection_id", store_.slices.correlation[slice]);
}

// As a member of the args; empty if it is not known. `kernel`: its row, or kNoId.
PaddedView SliceArgs::TaskType(uint32_t slice, uint32_t kernel, bool is_sub_task) {
  const StringId category = store_.slices.category[slice];
  const StringId core = kernel == kNoId ? StringId::kEmpty : store_.kernels.core[kernel];
  const bool is_same = category == task_type_.category && core == task_type_.core &&
                       is_sub_task == task_type_.is_sub_task && task_type_.json.data() != nullptr;
  if (is_same) return task_type_.json;
  PaddedView& json = task_types_[{category, core, is_sub_task}];
  if (json.data() == nullptr) {
    const std::string_view type =
        TraceTaskType(store_.Text(category), store_.Text(core), is_sub_task);
    json = kept_.Keep(type.empty() ? std::string() : ", \"Task Type\": " + JsonText(type));
  }
  task_type_ = {category, core, is_sub_task, json};
  return json;
}

void SliceArgs::AppendDeviceTask(TextBuffer& out, uint32_t slice) {
  const size_t place = device_slices_.Find(device_->slices, slice);
  const bool is_known = place != device_slices_.kNotFound;
  const uint32_t kernel = is_known ? device_->kernel_of[place] : kNoId;
  const uint32_t comm_task = is_known ? device_->comm_task_of[place] : kNoId;
  int64_t task_id = kNone;
  int64_t context_id = kNone;
  int64_t model_id = kNone;
  if (kernel != kNoId) {
    task_id = store_.kernels.task_id[kernel];
    context_id = store_.kernels.context_id[kernel];
    model_id = store_.kernels.model_id[kernel];
  } else if (comm_task != kNoId) {
    task_id = store_.comm_tasks.task_id[comm_task];
  }
  const PaddedView type = TaskType(slice, kernel, context_id != kNone);
  Pen pen(out, 7 * kMaxNumberBytes + type.size());
  pen += "{\"Model Id\": ";
  pen.Int(ValueOr(model_id, kNoModel));
  pen += type;
  pen += ", \"Physic Stream Id\": ";
  pen.Int(timeline_.of(store_.slices.track[slice]).tid);
  if (task_id != kNone) {
    pen += ", \"Task Id\": ";
    pen.Int(task_id);
  }
  pen += ", \"Batch Id\": 0, \"Subtask Id\": ";
  pen.Int(ValueOr(context_id, kNoModel));
  if (const int64_t connection = store_.slices.correlation[slice]; connection != kNone) {
    pen += ", \"connection_id\": ";
    pen.Int(connection);
  }
  pen += "}";
}

void SliceArgs::AppendCommOp(TextBuffer& out, uint32_t slice) {
  const uint32_t row = Find(comm_ops_, slice);
  ArgsObject args(out);
  args.KnownInt("connection_id", store_.slices.correlation[slice]);
  args.Int("model id", kNoModel);
  if (row == kNoId) return;
  args.KnownText("data_type", store_.Text(store_.comm_ops.data_type[row]));
  args.KnownText("alg_type", store_.Text(store_.comm_ops.alg_type[row]));
  args.KnownInt("count", store_.comm_ops.count[row]);
}

void SliceArgs::AppendCommTask(TextBuffer& out, uint32_t slice) {
  const uint32_t row = Find(comm_tasks_, slice);
  ArgsObject args(out);
  if (row == kNoId) return;
  const store::CommTaskTable& tasks = store_.comm_tasks;
  if (tasks.notify_id[row] != kNone)
    args.Text("notify_id", std::to_string(tasks.notify_id[row].value()));
  args.KnownInt("stream id", tasks.stream[row]);
  args.KnownInt("task id", tasks.task_id[row]);
  args.Text("task type", store_.Text(tasks.name[row]));
  args.KnownInt("src rank", tasks.src_rank[row]);
  args.KnownInt("dst rank", tasks.dst_rank[row]);
  args.KnownText("transport type", store_.Text(tasks.transport[row]));
  args.KnownInt("size(Byte)", tasks.size_bytes[row]);
  args.KnownText("data type", store_.Text(tasks.data_type[row]));
  args.KnownText("link type", store_.Text(tasks.link[row]));
  const double dur_ns = static_cast<double>(tasks.dur_ns[row]);
  if (tasks.size_bytes[row] != kNone && dur_ns > 0)  // bytes per ns are GB/s
    args.Number("bandwidth(GB/s)", static_cast<double>(tasks.size_bytes[row].value()) / dur_ns);
  args.KnownText("rdma type", store_.Text(tasks.rdma_type[row]));
  args.Int("model id", kNoModel);
}

void SliceArgs::AppendMarker(TextBuffer& out, uint32_t marker) {
  ArgsObject args(out);
  args.KnownText("event_type", MarkerType(store_.markers.event_type[marker]));
  args.KnownText("domain", store_.Text(store_.markers.domain[marker]));
  args.KnownInt("connection_id", store_.markers.correlation[marker]);
}

void SliceArgs::AppendGpuWork(TextBuffer& out, uint32_t slice) {
  ArgsObject args(out);
  const TrackFacts& track = timeline_.of(store_.slices.track[slice]);
  args.Int("device", track.device);
  args.Int("stream", track.tid);
  args.KnownInt("correlation", store_.slices.correlation[slice]);
}

void SliceArgs::AppendCorrelation(TextBuffer& out, uint32_t slice, std::string_view key) {
  out += '{';
  if (const int64_t correlation = store_.slices.correlation[slice]; correlation != kNone) {
    out += '"';
    out += key;
    out += "\": ";
    out.Int(correlation);
  }
  out += '}';
}

}  // namespace steplens::exporting
