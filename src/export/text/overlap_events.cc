#include "export/text/overlap_events.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "analysis/classify/device_work.h"
#include "analysis/overlap/sweep.h"
#include "analysis/steps/step_parts.h"

namespace steplens::exporting {
namespace {

using analysis::Interval;
using analysis::PieceKind;
using store::TraceStore;

constexpr std::string_view kPieceNames[] = {"Computing", "Communication",
                                            "Communication(Not Overlapped)", "Free"};

// (os pid << 10) | (31 << 5) | device, in 32 bits; the next one if it is taken.
int64_t FreePid(const TraceStore& store, const Timeline& timeline, int64_t device) {
  constexpr int64_t kOverlapIndex = 31;
  int64_t pid = ((timeline.os_pid << 10) | (kOverlapIndex << 5) | (device & 31)) & 0xFFFFFFFF;
  const auto is_taken = [&] {
    const auto text = store.strings.Find(std::to_string(pid));
    return text && std::find(store.tracks.pid.begin(), store.tracks.pid.end(), *text) !=
                       store.tracks.pid.end();
  };
  while (is_taken()) ++pid;
  return pid;
}

// `process`: "pid": 1,
void WriteMeta(std::string_view process, int64_t pid, std::string_view label, TraceEvents& events) {
  const auto meta = [&](std::string_view event, size_t tid, const std::string& arg) {
    events.Begin();
    TextBuffer& out = events.text();
    out += "\"name\": \"";
    out += event;
    out += "\", ";
    out += process;
    out += "\"tid\": ";
    out.Uint(tid);
    out += ", \"args\": {";
    out += arg;
    out += "}, \"ph\": \"M\"}";
  };
  meta("process_name", 0, "\"name\": \"Overlap Analysis\"");
  for (size_t kind = 0; kind < 4; ++kind)
    meta("thread_name", kind, "\"name\": " + JsonText(kPieceNames[kind]));
  meta("process_labels", 0, "\"labels\": " + JsonText(label));
  meta("process_sort_index", 0, "\"sort_index\": " + std::to_string(pid >> 5 & 31));
}

// From the first start to the last end of all work; empty if there is none.
Interval WindowOf(const analysis::DeviceWork& work) {
  Interval window{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const auto* list : {&work.compute, &work.communication}) {
    for (const Interval& interval : *list) {
      window.begin_ns = std::min(window.begin_ns, interval.begin_ns);
      window.end_ns = std::max(window.end_ns, interval.end_ns);
    }
  }
  return window;
}

// `heads`: what the events of the four threads begin with, up to the digits of their start.
void WritePieces(const analysis::DeviceWork& work, const Interval& window,
                 std::span<const analysis::StepRange> steps, const std::array<PaddedView, 4>& heads,
                 TraceEvents& events) {
  const auto write = [&](PieceKind kind, const Interval& piece) {
    const PaddedView head = heads[static_cast<size_t>(kind)];
    events.Begin();
    Pen pen(events.text(), head.size() + 2 * kMaxNumberBytes);
    pen += head;
    pen.Us(piece.begin_ns);
    pen += "\", \"dur\": ";
    pen.UsNumber(piece.end_ns - piece.begin_ns);
    pen += ", \"ph\": \"X\"}";
  };
  analysis::ForEachPiece(
      work.compute, work.communication, window, [&](PieceKind kind, const Interval& piece) {
        analysis::ForEachStepPart(steps, piece, [&](const Interval& part) { write(kind, part); });
      });
}

// `place`: "pid": 1, "tid": 0,
PaddedView HeadOf(size_t thread, std::string_view place, TraceEvents& events) {
  return events.Keep("\"name\": " + JsonText(kPieceNames[thread]) + ", " + std::string(place) +
                     "\"ts\": \"");
}

// visit(work, window, steps, device) for each device that worked.
template <typename Visitor>
void ForEachDevice(const TraceStore& store, const Timeline& timeline, Visitor&& visit) {
  if (analysis::DetectPlatform(store, timeline.kinds) != analysis::Platform::kAscend) return;
  const std::vector<analysis::StepRange> steps = analysis::ComputeStepRanges(store);
  for (const analysis::DeviceWork& work : analysis::CollectDeviceWork(store)) {
    Interval window = WindowOf(work);
    if (window.begin_ns >= window.end_ns) continue;
    window = analysis::WithCuttingSteps(window, steps);
    visit(work, window, std::span(steps),
          work.device == store::kNone ? timeline.device : work.device);
  }
}

}  // namespace

void WriteOverlapProcess(const TraceStore& store, const Timeline& timeline, TraceEvents& events) {
  ForEachDevice(store, timeline,
                [&](const analysis::DeviceWork& work, Interval window,
                    std::span<const analysis::StepRange> steps, int64_t device) {
                  const int64_t pid = FreePid(store, timeline, device);
                  const std::string process = "\"pid\": " + std::to_string(pid) + ", ";
                  WriteMeta(process, pid,
                            timeline.is_hccl_era ? "NPU" : "NPU " + std::to_string(device), events);
                  std::array<PaddedView, 4> heads;
                  for (size_t i = 0; i < heads.size(); ++i)
                    heads[i] = HeadOf(i, process + "\"tid\": " + std::to_string(i) + ", ", events);
                  WritePieces(work, window, steps, heads, events);
                });
}

void WriteOverlapSlices(const TraceStore& store, const Timeline& timeline, TraceEvents& events) {
  ForEachDevice(store, timeline,
                [&](const analysis::DeviceWork& work, Interval window,
                    std::span<const analysis::StepRange> steps, int64_t device) {
                  std::array<PaddedView, 4> heads;
                  for (uint32_t i = 0; i < timeline.tracks.size(); ++i) {
                    const TrackFacts& track = timeline.tracks[i];
                    const bool is_thread = track.kind == analysis::TrackKind::kOverlap &&
                                           store.tracks.parent[i] != store::kNoTrack &&
                                           track.device == device;
                    if (!is_thread || track.tid < 0 || track.tid >= 4) continue;
                    const auto thread = static_cast<size_t>(track.tid);
                    heads[thread] = HeadOf(thread, events.PlaceOf(store::TrackId{i}), events);
                  }
                  const bool is_whole = std::none_of(heads.begin(), heads.end(),
                                                     [](PaddedView head) { return head.empty(); });
                  if (is_whole) WritePieces(work, window, steps, heads, events);
                });
}

}  // namespace steplens::exporting
