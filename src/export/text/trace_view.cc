#include "export/text/trace_view.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "analysis/classify/device_work.h"
#include "analysis/overlap/sweep.h"
#include "analysis/time_math.h"
#include "base/number.h"
#include "export/text/file_out.h"
#include "export/text/flow_ids.h"
#include "export/text/rendered_texts.h"
#include "export/text/slice_args.h"

namespace steplens::exporting {
namespace {

using analysis::Interval;
using analysis::PieceKind;
using analysis::SliceKind;
using analysis::TrackKind;
using store::kNone;
using store::TraceStore;
using store::TrackId;

// The parts of the trace that slices belong to, in the order of the file. Those before kExporter
// are the framework's.
enum class Part : uint8_t { kOps, kDequeue, kEnqueue, kPython, kGc, kExporter, kLeftOut };

class TraceWriter {
 public:
  TraceWriter(const TraceStore& store, const Timeline& timeline, const ExportOptions& options,
              FileOut& file)
      : store_(store),
        timeline_(timeline),
        file_(file),
        out_(file.text()),
        args_(store, timeline, options),
        texts_(store, JsonText),
        kinds_(store),
        flow_ids_(MakeFlowIds(store)),
        is_level0_(store.info.level == "Level0") {
    RenderTracks();
    SortSlices();
  }

  void Write() {
    out_ += '[';
    WriteSlices(Part::kOps);
    WriteSlices(Part::kDequeue);
    WriteSlices(Part::kEnqueue);
    WriteProcesses(true);
    WriteFlows("fwdbwd", true);
    WriteSlices(Part::kPython);
    WriteSlices(Part::kGc);
    WriteProcesses(false);
    WriteSlices(Part::kExporter);
    WriteCounters();
    WriteInstants();
    if (!timeline_.has_overlap) WriteOverlap();
    WriteOtherFlows();
    WriteFlows("async_npu", true);
    out_ += ']';
  }

 private:
  void Begin() {
    file_.Tick();
    if (!is_first_) out_ += ", ";
    is_first_ = false;
    out_ += '{';
  }
  void Ts(int64_t ns) {
    out_ += "\"ts\": \"";
    AppendUs(out_, ns);
    out_ += '"';
  }
  void Dur(int64_t ns) {
    out_ += ", \"dur\": ";
    AppendUsNumber(out_, ns);
  }
  std::string_view Place(TrackId track) const {
    const auto i = static_cast<size_t>(track);
    return i < places_.size() ? std::string_view(places_[i]) : "\"pid\": 0, \"tid\": 0, ";
  }

  // Ids are numbers where they are written as such.
  static std::string IdJson(std::string_view id) {
    if (id.empty()) return "0";
    const auto number = ParseInt64(id);
    return number && std::to_string(*number) == id ? std::string(id) : JsonText(id);
  }

  void RenderTracks() {
    for (size_t i = 0; i < store_.tracks.size(); ++i) {
      StringId pid = store_.tracks.pid[i];
      const auto parent = static_cast<size_t>(store_.tracks.parent[i]);
      if (pid == StringId::kEmpty && parent < store_.tracks.size()) pid = store_.tracks.pid[parent];
      places_.push_back("\"pid\": " + IdJson(store_.Text(pid)) +
                        ", \"tid\": " + IdJson(store_.Text(store_.tracks.tid[i])) + ", ");
    }
  }

  static bool IsExporter(const TrackFacts& track) {
    return track.kind != TrackKind::kOther && track.kind != TrackKind::kHost;
  }

  Part PartOf(size_t row) const {
    const TrackFacts& track = timeline_.of(store_.slices.track[row]);
    const StringId category = store_.slices.category[row];
    const SliceKind kind = kinds_[category];
    if (kind == SliceKind::kDequeue) return Part::kDequeue;
    if (kind == SliceKind::kEnqueue) return Part::kEnqueue;
    if (kind == SliceKind::kPython) return Part::kPython;
    if (kind == SliceKind::kHostOp || kind == SliceKind::kAnnotation) return Part::kOps;
    if (track.process == "Python GC") return Part::kGc;
    if (is_level0_ && track.kind == TrackKind::kCann) return Part::kLeftOut;
    // What else has a category is of a trace of another tool, and keeps it.
    const bool is_ascend = IsExporter(track) && !analysis::IsGpuWork(kind);
    return is_ascend || category == StringId::kEmpty ? Part::kExporter : Part::kOps;
  }

  void SortSlices() {
    parts_.resize(store_.slices.size());
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i] = PartOf(i);
  }

  // Operators come in the order of their ends, as they are recorded; all else as the store has it.
  std::vector<uint32_t> SlicesOf(Part part) const {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] == part) rows.push_back(i);
    }
    if (part != Part::kOps) return rows;
    const auto ends_before = [&](uint32_t a, uint32_t b) {
      const store::SliceTable& slices = store_.slices;
      return analysis::EndNs(slices.begin_ns[a], slices.dur_ns[a]) <
             analysis::EndNs(slices.begin_ns[b], slices.dur_ns[b]);
    };
    if (!std::is_sorted(rows.begin(), rows.end(), ends_before))
      std::stable_sort(rows.begin(), rows.end(), ends_before);
    return rows;
  }

  void WriteSlices(Part part) {
    for (const uint32_t i : SlicesOf(part)) {
      part == Part::kExporter ? WriteExporterSlice(i) : WriteFrameworkSlice(i);
      const bool is_start = part == Part::kEnqueue;
      if ((is_start || part == Part::kDequeue) && store_.slices.correlation[i] != kNone)
        WriteQueueFlow(i, is_start);
    }
  }

  void WriteFrameworkSlice(uint32_t row) {
    const store::SliceTable& slices = store_.slices;
    Begin();
    out_ += "\"ph\": \"X\", \"name\": ";
    out_ += texts_[slices.name[row]];
    out_ += ", ";
    out_ += Place(slices.track[row]);
    Ts(slices.begin_ns[row]);
    Dur(slices.dur_ns[row]);
    out_ += ", \"cat\": ";
    out_ += texts_[slices.category[row]];
    out_ += ", \"args\": ";
    args_.Append(out_, row);
    out_ += '}';
  }

  void WriteExporterSlice(uint32_t row) {
    const store::SliceTable& slices = store_.slices;
    Begin();
    out_ += "\"name\": ";
    out_ += texts_[slices.name[row]];
    out_ += ", ";
    out_ += Place(slices.track[row]);
    Ts(slices.begin_ns[row]);
    Dur(slices.dur_ns[row]);
    if (timeline_.of(slices.track[row]).kind != TrackKind::kOverlap) {
      out_ += ", \"args\": ";
      args_.Append(out_, row);
    }
    out_ += ", \"ph\": \"X\"}";
  }

  void WriteQueueFlow(uint32_t slice, bool is_start) {
    Begin();
    out_ += is_start ? "\"ph\": \"s\", \"bp\": \"e\", \"name\": \"enqueue_to_dequeue\", \"id\": "
                     : "\"ph\": \"f\", \"bp\": \"e\", \"name\": \"enqueue_to_dequeue\", \"id\": ";
    AppendInt(out_, store_.slices.correlation[slice]);
    out_ += ", ";
    out_ += Place(store_.slices.track[slice]);
    Ts(store_.slices.begin_ns[slice]);
    out_ += ", \"cat\": \"async_task_queue\"}";
  }

  // Metadata of the framework's processes, or of all others.
  void WriteProcesses(bool of_framework) {
    for (size_t i = 0; i < store_.tracks.size(); ++i) {
      const TrackFacts& track = timeline_.tracks[i];
      const bool is_framework = track.kind == TrackKind::kHost || track.process == "Python";
      if (is_framework == of_framework && store_.Text(store_.tracks.kind[i]) != "counter")
        WriteTrackMeta(i, of_framework);
    }
  }

  void WriteTrackMeta(size_t track, bool of_framework) {
    const store::TrackTable& tracks = store_.tracks;
    const bool is_process = tracks.parent[track] == store::kNoTrack;
    const auto text = [&](std::string_view event, std::string_view key, StringId value) {
      if (value != StringId::kEmpty) WriteMeta(track, event, key, texts_[value], of_framework);
    };
    text(is_process ? "process_name" : "thread_name", "name", tracks.name[track]);
    if (is_process) text("process_labels", "labels", tracks.label[track]);
    if (tracks.sort_index[track] == kNone) return;
    WriteMeta(track, is_process ? "process_sort_index" : "thread_sort_index", "sort_index",
              std::to_string(tracks.sort_index[track]), of_framework);
  }

  void WriteMeta(size_t track, std::string_view event, std::string_view key, std::string_view value,
                 bool of_framework) {
    Begin();
    if (of_framework) out_ += "\"ph\": \"M\", ";
    out_ += "\"name\": \"";
    out_ += event;
    out_ += "\", ";
    out_ += places_[track];
    out_ += "\"args\": {\"";
    out_ += key;
    out_ += "\": ";
    out_ += value;
    out_ += of_framework ? "}}" : "}, \"ph\": \"M\"}";
  }

  void WriteFlows(std::string_view kind, bool of_framework) {
    const auto id = store_.strings.Find(kind);
    if (!id) return;
    for (size_t i = 0; i < store_.flows.size(); ++i) {
      if (store_.flows.kind[i] == *id) WriteFlow(i, kind, of_framework);
    }
  }

  void WriteOtherFlows() {
    for (size_t i = 0; i < store_.flows.size(); ++i) {
      const std::string_view kind = store_.Text(store_.flows.kind[i]);
      const bool is_written = kind == "fwdbwd" || kind == "async_npu" || kind == "async_task_queue";
      if (!is_written) WriteFlow(i, kind, false);
    }
  }

  void WriteFlow(size_t flow, std::string_view kind, bool of_framework) {
    std::string id = std::to_string(flow_ids_[flow]);
    std::string name = kind == "async_npu" ? "torch_to_npu" : std::string(kind);
    if (kind == "HostToDevice") name += id;
    if (kind == "MsTx") name += "_" + id;
    if (!of_framework) id = JsonText(id);
    WriteFlowEnd("s", name, id, kind, store_.flows.from_track[flow], store_.flows.from_ns[flow]);
    WriteFlowEnd("f", name, id, kind, store_.flows.to_track[flow], store_.flows.to_ns[flow]);
  }

  void WriteFlowEnd(std::string_view ph, std::string_view name, std::string_view id,
                    std::string_view kind, TrackId track, int64_t ns) {
    Begin();
    out_ += "\"ph\": \"";
    out_ += ph;
    out_ += "\", \"bp\": \"e\", \"name\": ";
    AppendJsonString(out_, name);
    out_ += ", \"id\": ";
    out_ += id;
    out_ += ", ";
    out_ += Place(track);
    Ts(ns);
    out_ += ", \"cat\": ";
    AppendJsonString(out_, kind);
    out_ += '}';
  }

  void WriteCounters() {
    const store::CounterTable& counters = store_.counters;
    for (size_t i = 0; i < counters.size(); ++i) {
      const auto track = static_cast<size_t>(counters.track[i]);
      if (track >= store_.tracks.size()) continue;
      Begin();
      out_ += "\"name\": ";
      out_ += texts_[store_.tracks.name[track]];
      out_ += ", ";
      Ts(counters.ts_ns[i]);
      out_ += ", \"pid\": " + IdJson(store_.Text(store_.tracks.pid[track]));
      out_ += ", \"tid\": 0, \"args\": {";
      // The series of Acc PMU are told apart by the accelerator's number.
      const bool is_acc_pmu = timeline_.tracks[track].process == "Acc PMU";
      out_ += is_acc_pmu ? std::string_view("\"value\"") : texts_[store_.tracks.label[track]];
      out_ += ": ";
      AppendJsonNumber(out_, counters.value[i]);
      if (is_acc_pmu) out_ += ", \"acc_id\": " + IdJson(store_.Text(store_.tracks.label[track]));
      out_ += "}, \"ph\": \"C\"}";
    }
  }

  void WriteInstants() {
    for (size_t i = 0; i < store_.instants.size(); ++i) {
      Begin();
      out_ += "\"name\": ";
      out_ += texts_[store_.instants.name[i]];
      out_ += ", ";
      out_ += Place(store_.instants.track[i]);
      Ts(store_.instants.ts_ns[i]);
      out_ += ", \"cat\": ";
      out_ += texts_[store_.instants.category[i]];
      out_ += ", \"s\": \"t\", \"ph\": \"i\"}";
    }
  }

  void WriteOverlap();
  int64_t FreePid(int64_t device) const;
  void WriteOverlapProcess(std::string_view place, int64_t pid, int64_t device);

  const TraceStore& store_;
  const Timeline& timeline_;
  FileOut& file_;
  std::string& out_;
  SliceArgs args_;
  RenderedTexts<std::string (*)(std::string_view)> texts_;
  analysis::SliceKinds kinds_;
  std::vector<uint64_t> flow_ids_;
  std::vector<std::string> places_;  // of each track: "pid": 1, "tid": 2,
  std::vector<Part> parts_;          // of each slice
  bool is_level0_;
  bool is_first_ = true;
};

constexpr std::string_view kPieceNames[] = {"Computing", "Communication",
                                            "Communication(Not Overlapped)", "Free"};

// (os pid << 10) | (31 << 5) | device, in 32 bits; the next one if it is taken.
int64_t TraceWriter::FreePid(int64_t device) const {
  constexpr int64_t kOverlapIndex = 31;
  int64_t pid = ((timeline_.os_pid << 10) | (kOverlapIndex << 5) | (device & 31)) & 0xFFFFFFFF;
  const auto is_taken = [&] {
    const auto text = store_.strings.Find(std::to_string(pid));
    return text && std::find(store_.tracks.pid.begin(), store_.tracks.pid.end(), *text) !=
                       store_.tracks.pid.end();
  };
  while (is_taken()) ++pid;
  return pid;
}

void TraceWriter::WriteOverlapProcess(std::string_view process, int64_t pid, int64_t device) {
  const auto meta = [&](std::string_view event, size_t tid, std::string_view arg) {
    Begin();
    out_ += "\"name\": \"";
    out_ += event;
    out_ += "\", ";
    out_ += process;
    out_ += "\"tid\": " + std::to_string(tid) + ", \"args\": {";
    out_ += arg;
    out_ += "}, \"ph\": \"M\"}";
  };
  meta("process_name", 0, "\"name\": \"Overlap Analysis\"");
  for (size_t kind = 0; kind < 4; ++kind)
    meta("thread_name", kind, "\"name\": " + JsonText(kPieceNames[kind]));
  const std::string label = timeline_.is_hccl_era ? "NPU" : "NPU " + std::to_string(device);
  meta("process_labels", 0, "\"labels\": " + JsonText(label));
  meta("process_sort_index", 0, "\"sort_index\": " + std::to_string(pid >> 5 & 31));
}

// How the time of each device divides. Threads: 0 Computing, 1 Communication, 2
// Communication(Not Overlapped), 3 Free.
void TraceWriter::WriteOverlap() {
  if (analysis::DetectPlatform(store_, timeline_.kinds) != analysis::Platform::kAscend) return;
  for (const analysis::DeviceWork& work : analysis::CollectDeviceWork(store_)) {
    const int64_t device = work.device == kNone ? timeline_.device : work.device;
    Interval window{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const auto* list : {&work.compute, &work.communication}) {
      for (const Interval& interval : *list) {
        window.begin_ns = std::min(window.begin_ns, interval.begin_ns);
        window.end_ns = std::max(window.end_ns, interval.end_ns);
      }
    }
    if (window.begin_ns >= window.end_ns) continue;
    const int64_t pid = FreePid(device);
    const std::string process = "\"pid\": " + std::to_string(pid) + ", ";
    WriteOverlapProcess(process, pid, device);
    const auto write = [&](PieceKind kind, const Interval& piece) {
      Begin();
      out_ += "\"name\": ";
      AppendJsonString(out_, kPieceNames[static_cast<size_t>(kind)]);
      out_ += ", " + process + "\"tid\": " + std::to_string(static_cast<size_t>(kind)) + ", ";
      Ts(piece.begin_ns);
      Dur(piece.end_ns - piece.begin_ns);
      out_ += ", \"ph\": \"X\"}";
    };
    analysis::ForEachPiece(work.compute, work.communication, window, write);
  }
}

}  // namespace

Status WriteTraceView(const TraceStore& store, const Timeline& timeline,
                      const ExportOptions& options, const std::string& path) {
  if (store.slices.size() + store.counters.size() + store.instants.size() == 0) return {};
  SL_ASSIGN_OR_RETURN(FileOut file, FileOut::Create(path));
  TraceWriter(store, timeline, options, file).Write();
  return file.Commit();
}

}  // namespace steplens::exporting
