#include "export/text/overlap_events.h"

#include <algorithm>
#include <limits>

#include "analysis/classify/device_work.h"
#include "analysis/overlap/sweep.h"

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
void WriteProcess(std::string_view process, int64_t pid, std::string_view label,
                  TraceEvents& events) {
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

}  // namespace

void WriteOverlapEvents(const TraceStore& store, const Timeline& timeline, TraceEvents& events) {
  if (analysis::DetectPlatform(store, timeline.kinds) != analysis::Platform::kAscend) return;
  for (const analysis::DeviceWork& work : analysis::CollectDeviceWork(store)) {
    const int64_t device = work.device == store::kNone ? timeline.device : work.device;
    const Interval window = WindowOf(work);
    if (window.begin_ns >= window.end_ns) continue;
    const int64_t pid = FreePid(store, timeline, device);
    const std::string process = "\"pid\": " + std::to_string(pid) + ", ";
    WriteProcess(process, pid, timeline.is_hccl_era ? "NPU" : "NPU " + std::to_string(device),
                 events);
    const auto write = [&](PieceKind kind, const Interval& piece) {
      events.Begin();
      TextBuffer& out = events.text();
      out += "\"name\": \"";
      out += kPieceNames[static_cast<size_t>(kind)];
      out += "\", ";
      out += process;
      out += "\"tid\": ";
      out.Uint(static_cast<uint64_t>(kind));
      out += ", ";
      events.Ts(piece.begin_ns);
      events.Dur(piece.end_ns - piece.begin_ns);
      out += ", \"ph\": \"X\"}";
    };
    analysis::ForEachPiece(work.compute, work.communication, window, write);
  }
}

}  // namespace steplens::exporting
