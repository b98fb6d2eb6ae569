#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/time_math.h"
#include "export/prof/prof_communication.h"
#include "export/prof/prof_counters.h"
#include "export/prof/prof_csv.h"
#include "export/prof/prof_turns.h"
#include "export/text/trace_events.h"

namespace steplens::exporting {
namespace {

using analysis::TrackKind;
using store::kNone;

constexpr int64_t kNoModelId = 4294967295;
constexpr std::string_view kCopyKinds[] = {
    "host to host",   "host to device",        "device to host",    "device to device",
    "managed memory", "addr device to device", "host to device ex", "device to host ex"};
constexpr std::string_view kMarkNames[] = {"marker", "push/pop", "start/end", "marker_ex"};
constexpr std::string_view kLaneNames[] = {"Computing", "Communication",
                                           "Communication(Not Overlapped)", "Free"};

// Layers of the trace that a file has.
enum class TraceLayers : uint8_t { kAll, kMarks, kSteps };

class ProfTraceWriter {
 public:
  ProfTraceWriter(const ProfFacts& facts, FileOut& file, TraceLayers layers)
      : facts_(facts),
        store_(facts.store),
        layers_(layers),
        events_(facts.store, file),
        out_(file.text()),
        texts_(facts.store, JsonText) {}

  void Write() {
    out_ += '[';
    if (layers_ == TraceLayers::kAll) {
      WriteTasks();
      WriteCalls();
      WriteCollectives();
      WriteCommTasks();
      WriteRuntimeCalls();
      const auto use_track = [&](size_t track) {
        UseTrack(store::TrackId{static_cast<uint32_t>(track)});
      };
      WriteProfTurns(facts_, events_, use_track);
      WriteProfCounters(facts_, events_, use_track);
      WriteOverlap();
    }
    if (layers_ != TraceLayers::kSteps) WriteMarks();
    if (layers_ != TraceLayers::kMarks) WriteSteps();
    WriteTracks();
    out_ += ']';
  }

 private:
  // {"name": ..., "pid": ..., "tid": ..., "ts": ..., "dur": ..., "ph": "X", "args": {
  void BeginSlice(StringId name, store::TrackId track, int64_t begin_ns, int64_t dur_ns,
                  std::string_view category = {}) {
    const PaddedView name_text = events_.Name(name);
    const PaddedView place = events_.UntilTs(track);
    events_.Begin();
    {
      Pen pen(out_, name_text.size() + place.size() + 2 * kMaxNumberBytes);
      pen += name_text;
      pen += place;
      pen.Us(begin_ns);
      pen += "\", \"dur\": ";
      pen.UsNumber(dur_ns);
      pen += ", \"ph\": \"X\"";
    }
    if (!category.empty()) {
      out_ += ", \"cat\": \"";
      out_ += category;
      out_ += '"';
    }
    out_ += ", \"args\": {";
    UseTrack(track);
  }
  void EndSlice() { out_ += "}}"; }
  void UseTrack(store::TrackId track) {
    const auto i = static_cast<size_t>(track);
    if (used_.empty()) used_.assign(store_.tracks.size(), false);
    if (i < used_.size()) used_[i] = true;
  }

  void TextArg(std::string_view key, StringId value, std::string_view missing = "\"\"") {
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
    value == StringId::kEmpty ? void(out_ += missing) : void(out_ += texts_[value]);
  }
  void IntArg(std::string_view key, int64_t value) {
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
    out_.Int(value);
  }

  // One end of an arrow: HostToDevice by connection << 32, marks by connection.
  void WriteArrowEnd(bool is_start, bool is_mark, uint64_t connection, store::TrackId track,
                     int64_t ts_ns) {
    const uint64_t id = is_mark ? connection : connection << 32;
    const PaddedView place = events_.UntilTs(track);
    events_.Begin();
    Pen pen(out_, place.size() + 5 * kMaxNumberBytes);
    if (is_mark) {
      pen += "\"name\": \"MsTx_";
    } else {
      pen += "\"name\": \"HostToDevice";
    }
    pen.Uint(id);
    if (is_mark) {
      pen += "\", \"cat\": \"MsTx\", \"id\": \"";
    } else {
      pen += "\", \"cat\": \"HostToDevice\", \"id\": \"";
    }
    pen.Uint(id);
    if (is_start) {
      pen += "\", \"ph\": \"s\", ";
    } else {
      pen += "\", \"ph\": \"f\", \"bp\": \"e\", ";
    }
    pen += place;
    pen.Us(ts_ns);
    pen += "\"}";
  }

  void Connect(uint64_t connection) {
    if (connection > UINT32_MAX) return;  // of no call
    if (connected_.size() <= connection) connected_.resize(connection + 1, false);
    connected_[connection] = true;
  }

  // Arrows lead to operators, copies, and records of and waits for events.
  bool HasArrow(size_t task) const {
    if (store_.device_tasks.correlation[task] == kNone) return false;
    if (facts_.kernel_of[task] != store::kNoId || store_.device_tasks.copy_kind[task] != kNone)
      return true;
    const std::string_view type = store_.Text(store_.device_tasks.type[task]);
    return type == "EVENT_RECORD" || type == "EVENT_WAIT" || type == "STREAM_WAIT_EVENT";
  }

  void WriteTasks() {
    const store::DeviceTaskTable& tasks = store_.device_tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks.slice[i] == store::kNoSlice || facts_.IsMark(i)) continue;
      const auto slice = static_cast<size_t>(tasks.slice[i]);
      const store::TrackId track = store_.slices.track[slice];
      BeginSlice(store_.slices.name[slice], track, tasks.begin_ns[i], tasks.dur_ns[i]);
      WriteTaskArgs(i);
      EndSlice();
      if (!HasArrow(i)) continue;
      const auto connection = static_cast<uint64_t>(tasks.correlation[i]);
      Connect(connection);
      WriteArrowEnd(false, false, connection, track, tasks.begin_ns[i]);
    }
  }

  void WriteTaskArgs(size_t i) {
    const store::DeviceTaskTable& tasks = store_.device_tasks;
    const bool is_copy = tasks.copy_kind[i] != kNone;
    const PaddedView type = texts_[is_copy ? tasks.device_type[i] : facts_.TypeOf(i)];
    {
      Pen pen(out_, type.size() + 8 * kMaxNumberBytes);
      pen += "\"Model Id\": ";
      pen.Uint(tasks.model_id[i]);
      pen += ", \"Task Type\": ";
      pen += type;
      pen += ", \"Physic Stream Id\": ";
      pen.Uint(tasks.stream[i]);
      pen += ", \"Task Id\": ";
      pen.Uint(tasks.task_id[i]);
      pen += ", \"Batch Id\": ";
      pen.Uint(tasks.batch_id[i]);
      pen += ", \"Subtask Id\": ";
      pen.Uint(tasks.context_id[i]);
      pen += ", \"connection_id\": ";
      const int64_t connection = tasks.correlation[i];
      pen.Uint(connection == kNone ? ~uint64_t{0} : static_cast<uint64_t>(connection));
    }
    if (!is_copy) return;
    const auto kind = static_cast<size_t>(tasks.copy_kind[i]);
    IntArg("size(B)", ValueOr(tasks.copy_bytes[i], 0));
    out_ += ", \"bandwidth(GB/s)\": ";
    out_.Number(Bandwidth(ValueOr(tasks.copy_bytes[i], 0), tasks.dur_ns[i]));
    out_ += ", \"operation\": \"";
    out_ += kind < std::size(kCopyKinds) ? kCopyKinds[kind] : std::string_view("other");
    out_ += '"';
  }

  static double Bandwidth(int64_t bytes, int64_t ns) {  // bytes per ns are GB/s
    return ns > 0 && bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
  }

  void WriteCalls() {
    const store::CannCallTable& calls = store_.cann_calls;
    CallNameParts parts(store_);
    size_t next = 0;
    for (uint32_t i = 0; i < store_.slices.size(); ++i) {
      const store::TrackId track = store_.slices.track[i];
      if (facts_.timeline.of(track).kind != TrackKind::kCann) continue;
      while (next < calls.size() && static_cast<uint32_t>(calls.slice[next]) < i) ++next;
      const bool has_row = next < calls.size() && static_cast<uint32_t>(calls.slice[next]) == i;
      const CallNameParts::Parts& name = parts.Of(store_.slices.name[i]);
      const StringId mode = has_row ? calls.mode[next] : StringId::kEmpty;
      const StringId item = has_row ? calls.item[next] : StringId::kEmpty;
      BeginSlice(store_.slices.name[i], track, store_.slices.begin_ns[i], store_.slices.dur_ns[i]);
      out_ += "\"Thread Id\": ";
      out_.Int(facts_.timeline.of(track).tid);
      TextArg("Mode", mode, name.api);
      out_ += ", \"level\": \"";
      out_ += name.level;
      out_ += "\", \"id\": ";
      out_ += name.level == "acl" ? std::string_view(name.api) : std::string_view("\"0\"");
      TextArg("item_id", item, "\"0\"");
      const int64_t connection = store_.slices.correlation[i];
      if (connection != kNone) IntArg("connection_id", connection);
      EndSlice();
      if (connection < 0) continue;
      if (call_of_.size() <= static_cast<size_t>(connection))
        call_of_.resize(static_cast<size_t>(connection) + 1, store::kNoId);
      call_of_[static_cast<size_t>(connection)] = i;
    }
  }

  // Arrows begin at calls that have one of their own at the other end.
  void WriteCallArrows() {
    for (size_t connection = 0; connection < call_of_.size(); ++connection) {
      const uint32_t slice = call_of_[connection];
      if (slice == store::kNoId || connection >= connected_.size() || !connected_[connection])
        continue;
      WriteArrowEnd(true, false, connection, store_.slices.track[slice],
                    store_.slices.begin_ns[slice]);
    }
  }

  void WriteCollectives() {
    const store::CommOpTable& ops = store_.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      BeginSlice(ops.name[i], ops.track[i], ops.begin_ns[i], ops.dur_ns[i]);
      out_ += "\"rank_size\": ";
      out_.Int(ValueOr(ops.rank_size[i], 0));
      if (ops.correlation[i] != kNone) IntArg("connection_id", ops.correlation[i]);
      IntArg("model id", ValueOr(ops.model_id[i], kNoModelId));
      TextArg("data_type", ops.data_type[i], "\"N/A\"");
      TextArg("alg_type", ops.alg_type[i], "\"N/A\"");
      IntArg("count", ValueOr(ops.count[i], 0));
      if (facts_.has_stars && ops.relay[i] != kNone) {
        out_ += ops.relay[i] == 1 ? std::string_view(", \"relay\": \"yes\"")
                                  : std::string_view(", \"relay\": \"no\"");
        out_ += ops.retry[i] == 1 ? std::string_view(", \"retry\": \"yes\"")
                                  : std::string_view(", \"retry\": \"no\"");
      }
      EndSlice();
      if (ops.correlation[i] == kNone) continue;
      const auto connection = static_cast<uint64_t>(ops.correlation[i]);
      Connect(connection);
      WriteArrowEnd(false, false, connection, ops.track[i], ops.begin_ns[i]);
    }
    WriteCallArrows();
  }

  void WriteCommTasks() {
    if (facts_.is_level0) return;
    const store::CommTaskTable& tasks = store_.comm_tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks.plane[i] == kNone) continue;
      const int64_t row = tasks.device_task[i];
      if (row < 0 || row >= static_cast<int64_t>(store_.device_tasks.size())) continue;
      const auto task = static_cast<size_t>(row);
      BeginSlice(tasks.name[i], tasks.track[i], tasks.begin_ns[i], tasks.dur_ns[i]);
      out_ += "\"notify_id\": \"";
      out_.Uint(tasks.notify_id[i] == kNone ? ~uint64_t{0}
                                            : static_cast<uint64_t>(tasks.notify_id[i]));
      out_ += "\", \"duration estimated(us)\": ";
      out_.JsonNumber(tasks.estimated_us[i]);
      IntArg("stream id", tasks.stream[i]);
      IntArg("task id", tasks.task_id[i]);
      IntArg("context id", store_.device_tasks.context_id[task]);
      TextArg("task type", tasks.name[i]);
      IntArg("src rank", tasks.src_rank[i]);
      IntArg("dst rank", tasks.dst_rank[i]);
      TextArg("transport type", tasks.transport[i], "\"N/A\"");
      IntArg("size(Byte)", ValueOr(tasks.size_bytes[i], 0));
      TextArg("data type", tasks.data_type[i], "\"N/A\"");
      TextArg("link type", tasks.link[i], "\"N/A\"");
      out_ += ", \"bandwidth(GB/s)\": ";
      out_.Number(BandwidthOf(i));
      IntArg("model id", store_.device_tasks.model_id[task]);
      EndSlice();
    }
  }

  double BandwidthOf(size_t row) {
    if (bandwidths_.empty()) bandwidths_ = SmallOpBandwidths(store_);
    return bandwidths_[row];
  }

  void WriteRuntimeCalls() {
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      const store::TrackId track = store_.slices.track[i];
      if (facts_.timeline.of(track).process != "OS Runtime API") continue;
      BeginSlice(store_.slices.name[i], track, store_.slices.begin_ns[i], store_.slices.dur_ns[i]);
      EndSlice();
    }
  }

  void WriteMarks() {
    const store::MarkerTable& marks = store_.markers;
    for (size_t i = 0; i < marks.size(); ++i) {
      const auto slice = static_cast<size_t>(marks.slice[i]);
      const auto kind = static_cast<size_t>(marks.event_type[i]);
      const std::string_view name =
          kind < std::size(kMarkNames) ? kMarkNames[kind] : std::string_view("N/A");
      const bool is_plain = marks.correlation[i] == kPlainMarkConnection;
      BeginSlice(store_.slices.name[slice], store_.slices.track[slice],
                 store_.slices.begin_ns[slice], store_.slices.dur_ns[slice]);
      if (is_plain) {
        out_ += "\"Category\": \"";
        out_.Int(ValueOr(marks.category[i], 0));
        out_ += '"';
        IntArg("Payload_type", ValueOr(marks.payload_type[i], 0));
        IntArg("Payload_value", ValueOr(marks.payload[i], 0));
        IntArg("Message_type", ValueOr(marks.message_type[i], 0));
        out_ += ", ";
      }
      out_ += "\"event_type\": \"";
      out_ += name;
      out_ += '"';
      if (!is_plain) TextArg("domain", marks.domain[i], "\"N/A\"");
      EndSlice();
      if (is_plain || marks.correlation[i] == kNone) continue;
      WriteArrowEnd(true, true, static_cast<uint64_t>(marks.correlation[i]),
                    store_.slices.track[slice], store_.slices.begin_ns[slice]);
    }
    WriteDeviceMarks();
  }

  void WriteDeviceMarks() {
    const store::DeviceTaskTable& tasks = store_.device_tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!facts_.IsMark(i) || tasks.slice[i] == store::kNoSlice) continue;
      const auto slice = static_cast<size_t>(tasks.slice[i]);
      const store::TrackId track = store_.slices.track[slice];
      BeginSlice(store_.slices.name[slice], track, tasks.begin_ns[i], tasks.dur_ns[i]);
      out_ += "\"Physic Stream Id\": ";
      out_.Int(tasks.stream[i]);
      IntArg("Task Id", tasks.task_id[i]);
      EndSlice();
      WriteArrowEnd(false, true, static_cast<uint64_t>(tasks.correlation[i]), track,
                    tasks.begin_ns[i]);
    }
  }

  void TimeArg(std::string_view key, int64_t ns) {
    out_ += ", \"";
    out_ += key;
    out_ += "\": \"";
    out_.Us(ns);
    out_ += '"';
  }
  void SpanArg(std::string_view key, int64_t ns) {
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
    out_.UsNumber(ns);
  }

  void WriteSteps() {
    for (const ProfIteration& step : FindProfIterations(facts_)) {
      for (const uint32_t slice : step.slices) WriteStepSlice(step, slice);
      if (step.forward_ns == kNone) continue;
      WriteBound(step, step.index - 1, "t", step.forward_ns);
      WriteBound(step, step.index, "s", step.backward_ns + step.bound_ns / 2);
    }
  }

  void WriteStepSlice(const ProfIteration& step, uint32_t slice) {
    const store::SliceTable& slices = store_.slices;
    const std::string_view category = store_.Text(slices.category[slice]);
    const bool has_passes = step.forward_ns != kNone;
    BeginSlice(slices.name[slice], step.track, slices.begin_ns[slice], slices.dur_ns[slice],
               category);
    out_ += "\"Iteration ID\": ";
    out_.Int(step.index);
    const bool is_whole = category == "Iteration Time";
    const bool is_passes = category == "FP_BP Time";
    const bool is_refresh = category == "Iteration Refresh";
    if (has_passes && (is_whole || is_passes)) TimeArg("FP Start", step.forward_ns);
    if (has_passes && (is_whole || is_passes || is_refresh)) TimeArg("BP End", step.backward_ns);
    if (is_whole || is_refresh) TimeArg("Iteration End", step.end_ns);
    if (is_whole) SpanArg("Iteration Time(us)", slices.dur_ns[slice]);
    if (is_passes) SpanArg("FP_BP Time(us)", slices.dur_ns[slice]);
    if (is_refresh) SpanArg("Iteration Refresh(us)", slices.dur_ns[slice]);
    if (category == "Reduce") {
      const std::string_view name = store_.Text(slices.name[slice]);
      const std::string number(name.substr(name.rfind('_') + 1));
      const int64_t end_ns = analysis::EndNs(slices.begin_ns[slice], slices.dur_ns[slice]);
      out_ += ", \"Reduce Start " + number + "\": \"" + std::to_string(slices.begin_ns[slice]);
      out_ += "\", \"Reduce End " + number + "\": \"" + std::to_string(end_ns) + "\"";
    }
    EndSlice();
  }

  // The arrow from the end of one iteration's passes to the begin of the next one's.
  void WriteBound(const ProfIteration& step, int64_t number, std::string_view phase,
                  int64_t ts_ns) {
    const auto track = static_cast<size_t>(step.track);
    const std::string pid(store_.Text(store_.tracks.pid[track]));
    const std::string tid(store_.Text(store_.tracks.tid[track]));
    events_.Begin();
    out_ += "\"name\": \"Data_aug Bound " + std::to_string(number) + "\", ";
    events_.Place(step.track);
    out_ += "\"ph\": \"" + std::string(phase) + "\", \"cat\": \"Data_aug Bound\", ";
    out_ += "\"id\": \"Data_aug Bound " + pid + "_" + tid + "\", ";
    events_.Ts(ts_ns);
    if (phase == "t") {
      out_ += ", \"args\": {\"Iteration ID\": ";
      out_.Int(step.index);
    } else {
      out_ += ", \"args\": {\"Data_aug Bound(us)\": ";
      out_.UsNumber(step.bound_ns);
    }
    out_ += "}}";
  }

  void WriteOverlap() {
    constexpr int64_t kIndex = 31;
    std::map<int64_t, std::string> heads;
    for (const OverlapPiece& piece : facts_.overlap) {
      const auto [head, is_new] = heads.try_emplace(piece.device);
      const int64_t pid = ((facts_.pid << 10) | (kIndex << 5) | (piece.device & 31)) & 0xFFFFFFFF;
      if (is_new) {
        head->second = "\"pid\": " + std::to_string(pid) + ", \"tid\": ";
        WriteOverlapLanes(head->second, piece.device);
      }
      const auto kind = static_cast<size_t>(piece.kind);
      events_.Begin();
      out_ += "\"name\": \"";
      out_ += kLaneNames[kind];
      out_ += "\", ";
      out_ += head->second;
      out_.Uint(kind);
      out_ += ", ";
      events_.Ts(piece.time.begin_ns);
      out_ += ", \"dur\": ";
      out_.UsNumber(piece.time.end_ns - piece.time.begin_ns);
      out_ += ", \"ph\": \"X\", \"args\": {}}";
    }
  }

  void WriteOverlapLanes(std::string_view head, int64_t device) {
    const auto meta = [&](std::string_view event, size_t tid, const std::string& arg) {
      events_.Begin();
      out_ += "\"name\": \"";
      out_ += event;
      out_ += "\", ";
      out_ += head;
      out_.Uint(tid);
      out_ += ", \"ph\": \"M\", \"args\": {";
      out_ += arg;
      out_ += "}}";
    };
    meta("process_name", 0, "\"name\": \"Overlap Analysis\"");
    meta("process_labels", 0, "\"labels\": \"NPU " + std::to_string(device) + "\"");
    meta("process_sort_index", 0, "\"sort_index\": 31");
    for (size_t i = 0; i < std::size(kLaneNames); ++i) {
      meta("thread_name", i, "\"name\": " + JsonText(kLaneNames[i]));
      meta("thread_sort_index", i, "\"sort_index\": " + std::to_string(i));
    }
  }

  // Processes and threads that the file has something of.
  void WriteTracks() {
    if (used_.empty()) return;
    for (size_t i = 0; i < used_.size(); ++i) {
      const store::TrackId parent = store_.tracks.parent[i];
      if (used_[i] && parent != store::kNoTrack) used_[static_cast<size_t>(parent)] = true;
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i] || store_.Text(store_.tracks.kind[i]) == "counter") continue;
      const bool is_process = store_.tracks.parent[i] == store::kNoTrack;
      const bool is_marks = is_process && store_.Text(store_.tracks.name[i]) == "MSTX";
      const std::string name = is_marks && !facts_.process_name.empty()
                                   ? JsonText(facts_.process_name)
                                   : std::string(std::string_view(texts_[store_.tracks.name[i]]));
      WriteMeta(i, is_process ? "process_name" : "thread_name", "\"name\": " + name);
      if (is_process && store_.tracks.label[i] != StringId::kEmpty)
        WriteMeta(i, "process_labels",
                  "\"labels\": " + std::string(std::string_view(texts_[store_.tracks.label[i]])));
      const int64_t order = store_.tracks.sort_index[i];
      if (order != kNone)
        WriteMeta(i, is_process ? "process_sort_index" : "thread_sort_index",
                  "\"sort_index\": " + std::to_string(order));
    }
  }

  void WriteMeta(size_t track, std::string_view event, const std::string& arg) {
    events_.Begin();
    out_ += "\"name\": \"";
    out_ += event;
    out_ += "\", ";
    events_.Place(store::TrackId{static_cast<uint32_t>(track)});
    out_ += "\"ph\": \"M\", \"args\": {";
    out_ += arg;
    out_ += "}}";
  }

  // "Node@launch" as its level and the JSON of its call, each name once.
  class CallNameParts {
   public:
    struct Parts {
      std::string_view level;
      std::string api;
    };
    explicit CallNameParts(const store::TraceStore& store) : store_(store) {}
    const Parts& Of(StringId name) {
      const auto [place, is_new] = parts_.try_emplace(name);
      if (!is_new) return place->second;
      const std::string_view text = store_.Text(name);
      const size_t at = std::min(text.find('@'), text.size());
      const std::string_view layer = text.substr(0, at);
      place->second.level = layer == "AscendCL"        ? "acl"
                            : layer == "Model"         ? "model"
                            : layer == "Node"          ? "node"
                            : layer == "Communication" ? "communication"
                                                       : "runtime";
      place->second.api = JsonText(text.substr(std::min(at + 1, text.size())));
      return place->second;
    }

   private:
    const store::TraceStore& store_;
    std::unordered_map<StringId, Parts> parts_;
  };

  const ProfFacts& facts_;
  const store::TraceStore& store_;
  TraceLayers layers_;
  TraceEvents events_;
  TextBuffer& out_;
  RenderedTexts<RenderText> texts_;
  std::vector<bool> used_;  // tracks with events
  std::vector<double> bandwidths_;
  std::vector<bool> connected_;    // by connection: whether an arrow of it ends somewhere
  std::vector<uint32_t> call_of_;  // by connection: the slice of its call
};

Status WriteLayers(const ProfFacts& facts, const ProfTarget& target, std::string_view type,
                   TraceLayers layers) {
  FileOut file(target.dir + "/" + std::string(type) + "_" + target.stamp + ".json");
  ProfTraceWriter(facts, file, layers).Write();
  return file.Commit();
}

}  // namespace

Status WriteProfTrace(const ProfFacts& facts, const ProfTarget& target) {
  if (facts.store.slices.size() + facts.store.counters.size() == 0) return {};
  return WriteLayers(facts, target, "msprof", TraceLayers::kAll);
}

Status WriteMarksTrace(const ProfFacts& facts, const ProfTarget& target) {
  if (facts.store.markers.size() == 0) return {};
  return WriteLayers(facts, target, "msprof_tx", TraceLayers::kMarks);
}

Status WriteStepTrace(const ProfFacts& facts, const ProfTarget& target) {
  if (FindProfIterations(facts).empty()) return {};
  return WriteLayers(facts, target, "step_trace", TraceLayers::kSteps);
}

}  // namespace steplens::exporting
