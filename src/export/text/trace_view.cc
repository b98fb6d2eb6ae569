#include "export/text/trace_view.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "analysis/time_math.h"
#include "export/text/csv_files.h"
#include "export/text/file_out.h"
#include "export/text/flow_events.h"
#include "export/text/overlap_events.h"
#include "export/text/slice_args.h"
#include "export/text/trace_events.h"

namespace steplens::exporting {
namespace {

using analysis::SliceKind;
using analysis::TrackKind;
using store::kNone;
using store::TraceStore;
using store::TrackId;

// The parts of the trace that slices belong to, in the order of the file. Those before kExporter
// are the framework's.
enum class Part : uint8_t { kOps, kDequeue, kEnqueue, kPython, kGc, kExporter, kLeftOut };

// From the duration to the args.
std::string CategoryMember(std::string_view category) {
  return ", \"cat\": " + JsonText(category) + ", \"args\": ";
}

class TraceWriter {
 public:
  TraceWriter(const TraceStore& store, const Timeline& timeline, const ExportOptions& options,
              FileOut& file)
      : store_(store),
        timeline_(timeline),
        out_(file.text()),
        own_lane_(FindOwnLane(store, timeline, options)),
        events_(store, file, own_lane_),
        categories_(store, CategoryMember),
        args_(store, timeline, options),
        flows_(store, events_),
        kinds_(store),
        is_level0_(store.info.level == "Level0"),
        is_mindspore_(IsMindSpore(store)) {
    parts_.resize(store_.slices.size());
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i] = PartOf(i);
  }

  void Write() {
    out_ += '[';
    WriteSlices(Part::kOps);
    WriteSlices(Part::kDequeue);
    WriteSlices(Part::kEnqueue);
    WriteProcesses(true);
    flows_.WriteFramework("fwdbwd");
    WriteSlices(Part::kPython);
    WriteSlices(Part::kGc);
    WriteProcesses(false);
    WriteSlices(Part::kExporter);
    if (timeline_.has_overlap && !HasOverlapSlices())
      WriteOverlapSlices(store_, timeline_, events_);
    WriteCounters();
    WriteInstants();
    if (!timeline_.has_overlap) WriteOverlapProcess(store_, timeline_, events_);
    flows_.WriteOthers();
    flows_.WriteFramework("async_npu");
    out_ += ']';
  }

 private:
  // Captures of steplens.mindspore are read from torch.*, whose host is the process "Python";
  // MindSpore's trace has a lane of its own name for it.
  static std::vector<bool> FindOwnLane(const TraceStore& store, const Timeline& timeline,
                                       const ExportOptions& options) {
    std::vector<bool> is_own;
    if (!options.is_raw || !IsMindSpore(store)) return is_own;
    for (const TrackFacts& track : timeline.tracks) is_own.push_back(track.process == "Python");
    return is_own;
  }

  static bool IsExporter(const TrackFacts& track) {
    return track.kind != TrackKind::kOther && track.kind != TrackKind::kHost;
  }

  Part PartOf(size_t row) const {
    const StringId category = store_.slices.category[row];
    const SliceKind kind = kinds_[category];
    if (kind == SliceKind::kDequeue) return Part::kDequeue;
    if (kind == SliceKind::kEnqueue) return Part::kEnqueue;
    if (kind == SliceKind::kPython) return Part::kPython;
    if (kind == SliceKind::kHostOp || kind == SliceKind::kAnnotation) return Part::kOps;
    const TrackFacts& track = timeline_.of(store_.slices.track[row]);
    if (track.process == "Python GC") return Part::kGc;
    if (is_level0_ && track.kind == TrackKind::kCann) return Part::kLeftOut;
    // What else has a category is of a trace of another tool, and keeps it.
    const bool is_ascend = IsExporter(track) && timeline_.platform != analysis::Platform::kGpu &&
                           timeline_.platform != analysis::Platform::kUnknownDevice;
    return is_ascend || category == StringId::kEmpty ? Part::kExporter : Part::kOps;
  }

  bool HasOverlapSlices() const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (timeline_.of(store_.slices.track[i]).kind == TrackKind::kOverlap) return true;
    }
    return false;
  }

  int64_t EndNs(size_t row) const {
    return analysis::EndNs(store_.slices.begin_ns[row], store_.slices.dur_ns[row]);
  }

  // Whether the operators of the store follow each other in the order of their ends.
  bool AreOpsInOrder() const {
    int64_t last_ns = std::numeric_limits<int64_t>::min();
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] != Part::kOps) continue;
      const int64_t end_ns = EndNs(i);
      if (end_ns < last_ns) return false;
      last_ns = end_ns;
    }
    return true;
  }

  // Operators come in the order of their ends, as they are recorded; all else as the store has it.
  void WriteSlices(Part part) {
    if (part == Part::kOps && !AreOpsInOrder()) return WriteSortedOps();
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] == part) WriteSlice(i, part);
    }
  }

  void WriteSortedOps() {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] == Part::kOps) rows.push_back(i);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return EndNs(a) < EndNs(b); });
    for (const uint32_t row : rows) WriteSlice(row, Part::kOps);
  }

  // Lanes that MindSpore makes itself, whose slices may have no category.
  bool IsOfMindSpore(uint32_t row) const {
    const std::string_view process = timeline_.of(store_.slices.track[row]).process;
    return is_mindspore_ &&
           (process == "MindSpore" || process == "CPU OP" || process == "Scope Layer");
  }

  void WriteSlice(uint32_t row, Part part) {
    const bool is_exporters = part == Part::kExporter && !IsOfMindSpore(row);
    is_exporters ? WriteExporterSlice(row) : WriteFrameworkSlice(row);
    const bool is_start = part == Part::kEnqueue;
    if ((is_start || part == Part::kDequeue) && store_.slices.correlation[row] != kNone)
      WriteQueueFlow(row, is_start);
  }

  void WriteFrameworkSlice(uint32_t row) {
    const store::SliceTable& slices = store_.slices;
    const PaddedView name = events_.Name(slices.name[row]);
    const PaddedView place = events_.UntilTs(slices.track[row]);
    const PaddedView category = categories_[slices.category[row]];
    events_.Begin();
    {
      Pen pen(out_, name.size() + place.size() + category.size() + 2 * kMaxNumberBytes);
      pen += "\"ph\": \"X\", ";
      pen += name;
      pen += place;
      pen.Us(slices.begin_ns[row]);
      if (is_mindspore_) {  // its durations are text, as times are
        pen += "\", \"dur\": \"";
        pen.Us(slices.dur_ns[row]);
        pen += "\"";
      } else {
        pen += "\", \"dur\": ";
        pen.UsNumber(slices.dur_ns[row]);
      }
      pen += category;
    }
    args_.Append(out_, row);
    out_ += '}';
  }

  void WriteExporterSlice(uint32_t row) {
    const store::SliceTable& slices = store_.slices;
    const PaddedView name = events_.Name(slices.name[row]);
    const PaddedView place = events_.UntilTs(slices.track[row]);
    events_.Begin();
    {
      Pen pen(out_, name.size() + place.size() + 2 * kMaxNumberBytes);
      pen += name;
      pen += place;
      pen.Us(slices.begin_ns[row]);
      pen += "\", \"dur\": ";
      pen.UsNumber(slices.dur_ns[row]);
    }
    if (timeline_.of(slices.track[row]).kind != TrackKind::kOverlap) {
      out_ += ", \"args\": ";
      args_.Append(out_, row);
    }
    out_ += ", \"ph\": \"X\"}";
  }

  void WriteQueueFlow(uint32_t slice, bool is_start) {
    events_.Begin();
    out_ += is_start ? std::string_view("\"ph\": \"s\"") : std::string_view("\"ph\": \"f\"");
    out_ += ", \"bp\": \"e\", \"name\": \"enqueue_to_dequeue\", \"id\": ";
    out_.Int(store_.slices.correlation[slice]);
    out_ += ", ";
    events_.Place(store_.slices.track[slice]);
    events_.Ts(store_.slices.begin_ns[slice]);
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
      if (value != StringId::kEmpty)
        WriteMeta(track, event, key, events_.Json(value), of_framework);
    };
    const bool is_own_process = is_process && track < own_lane_.size() && own_lane_[track];
    if (is_own_process) {
      WriteMeta(track, "process_name", "name", "\"MindSpore\"", of_framework);
    } else {
      text(is_process ? "process_name" : "thread_name", "name", tracks.name[track]);
    }
    if (is_process) text("process_labels", "labels", tracks.label[track]);
    const int64_t sort_index = is_own_process ? kMindSporePid : tracks.sort_index[track];
    if (sort_index == kNone) return;
    WriteMeta(track, is_process ? "process_sort_index" : "thread_sort_index", "sort_index",
              std::to_string(sort_index), of_framework);
  }

  void WriteMeta(size_t track, std::string_view event, std::string_view key, std::string_view value,
                 bool of_framework) {
    events_.Begin();
    if (of_framework) out_ += "\"ph\": \"M\", ";
    out_ += "\"name\": \"";
    out_ += event;
    out_ += "\", ";
    events_.Place(TrackId{static_cast<uint32_t>(track)});
    out_ += "\"args\": {\"";
    out_ += key;
    out_ += "\": ";
    out_ += value;
    out_ += of_framework ? std::string_view("}}") : std::string_view("}, \"ph\": \"M\"}");
  }

  void WriteCounters() {
    const store::CounterTable& counters = store_.counters;
    for (size_t i = 0; i < counters.size(); ++i) {
      const auto track = static_cast<size_t>(counters.track[i]);
      if (track >= store_.tracks.size()) continue;
      events_.Begin();
      out_ += events_.Name(store_.tracks.name[track]);
      events_.Ts(counters.ts_ns[i]);
      out_ += ", \"pid\": ";
      events_.Pid(track);
      out_ += ", \"tid\": 0, \"args\": {";
      // The series of Acc PMU are told apart by the accelerator's number.
      const StringId label = store_.tracks.label[track];
      const bool is_acc_pmu = timeline_.tracks[track].process == "Acc PMU";
      out_ += is_acc_pmu ? std::string_view("\"value\"") : events_.Json(label);
      out_ += ": ";
      out_.JsonNumber(counters.value[i]);
      if (is_acc_pmu) {
        out_ += ", \"acc_id\": ";
        out_ += TraceEvents::IdJson(store_.Text(label));
      }
      out_ += "}, \"ph\": \"C\"}";
    }
  }

  void WriteInstants() {
    for (size_t i = 0; i < store_.instants.size(); ++i) {
      events_.Begin();
      out_ += events_.Name(store_.instants.name[i]);
      events_.Place(store_.instants.track[i]);
      events_.Ts(store_.instants.ts_ns[i]);
      out_ += ", \"cat\": ";
      out_ += events_.Json(store_.instants.category[i]);
      out_ += ", \"s\": \"t\", \"ph\": \"i\"}";
    }
  }

  const TraceStore& store_;
  const Timeline& timeline_;
  TextBuffer& out_;
  std::vector<bool> own_lane_;  // of each track; empty: there is none
  TraceEvents events_;
  RenderedTexts<RenderText> categories_;
  SliceArgs args_;
  FlowEvents flows_;
  analysis::SliceKinds kinds_;
  std::vector<Part> parts_;  // of each slice
  bool is_level0_;
  bool is_mindspore_;
};

}  // namespace

Status WriteTraceView(const TraceStore& store, const Timeline& timeline,
                      const ExportOptions& options, const std::string& path) {
  if (store.slices.size() + store.counters.size() + store.instants.size() == 0) return {};
  FileOut file(path);
  TraceWriter(store, timeline, options, file).Write();
  return file.Commit();
}

}  // namespace steplens::exporting
