#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "export/export.h"
#include "export/single/memory_categories.h"
#include "export/single/memory_graph.h"
#include "export/single/memory_html.h"
#include "export/text/append.h"
#include "export/text/file_out.h"

namespace steplens::exporting {
namespace {

using store::kNone;

enum class Action : uint8_t { kPreexisting = 0, kCreate = 1, kIncrementVersion = 2, kDestroy = 3 };

struct Event {
  int64_t ns;  // kNone: before the capture
  Action action;
  int64_t bytes;
  MemoryCategory category;
};

// By time; what was there before comes first.
std::vector<Event> MakeEvents(const MemoryGraph& graph) {
  const std::vector<MemoryCategory> categories = CategoriseMemory(graph);
  std::vector<Event> events;
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    const MemoryBlock& block = graph.blocks[i];
    const bool was_there = block.alloc_ns == kNone;
    events.push_back({block.alloc_ns, was_there ? Action::kPreexisting : Action::kCreate,
                      block.size_bytes, categories[i]});
    if (block.release_ns != kNone)
      events.push_back({block.release_ns, Action::kDestroy, block.size_bytes, categories[i]});
  }
  for (const MemoryNode& node : graph.nodes) {
    for (const uint32_t block : node.written) {
      events.push_back({node.begin_ns, Action::kIncrementVersion, graph.blocks[block].size_bytes,
                        categories[block]});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.ns < b.ns; });
  return events;
}

// What an event adds to the memory of its category. Writing changes a block, not its size.
int64_t Growth(const Event& event) {
  if (event.action == Action::kIncrementVersion) return 0;
  return event.action == Action::kDestroy ? -event.bytes : event.bytes;
}

// The sums after each moment at which something changed.
std::vector<MemoryPoint> MakePoints(const std::vector<Event>& events) {
  const auto first = std::find_if(events.begin(), events.end(),
                                  [](const Event& event) { return event.ns != kNone; });
  const int64_t first_ns = first == events.end() ? 0 : first->ns;
  std::vector<MemoryPoint> points;
  for (const Event& event : events) {
    const int64_t ns = event.ns == kNone ? first_ns : event.ns;
    if (points.empty() || points.back().ns != ns) {
      points.push_back(points.empty() ? MemoryPoint{} : points.back());
      points.back().ns = ns;
    }
    points.back().bytes[static_cast<size_t>(event.category)] += Growth(event);
  }
  return points;
}

// [[times in us], [[9 numbers] per time]]; the first of the nine is always 0.
std::string ToJson(const std::vector<MemoryPoint>& points) {
  std::string out = "[[";
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0) out += ", ";
    AppendUsNumber(out, points[i].ns);
  }
  out += "], [";
  for (size_t i = 0; i < points.size(); ++i) {
    out += i > 0 ? ", [0" : "[0";
    for (const int64_t bytes : points[i].bytes) {
      out += ", ";
      AppendInt(out, bytes);
    }
    out += ']';
  }
  return out + "]]";
}

std::string ToRawJson(const std::vector<Event>& events) {
  std::string out = "[";
  for (size_t i = 0; i < events.size(); ++i) {
    out += i > 0 ? ", [" : "[";
    events[i].ns == kNone ? void(out += "-1") : AppendUsNumber(out, events[i].ns);
    out += fmt::format(", {}, {}, {}]", static_cast<int>(events[i].action), events[i].bytes,
                       static_cast<int>(events[i].category));
  }
  return out + "]";
}

}  // namespace

Status WriteMemoryTimeline(const store::TraceStore& store, std::string_view device,
                           const std::string& path) {
  const bool is_raw = path.ends_with("raw.json.gz");
  const bool is_html = path.ends_with(".html");
  if (!is_raw && !is_html && !path.ends_with(".json") && !path.ends_with(".json.gz")) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("{}: a memory timeline is .html, .json, .json.gz or raw.json.gz", path)};
  }
  const MemoryGraph graph = BuildMemoryGraph(store, device);
  if (graph.blocks.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("no allocations on device '{}' were recorded; is profile_memory on?", device)};
  }
  const std::vector<Event> events = MakeEvents(graph);
  if (is_raw) return WriteWholeFile(path, ToRawJson(events));
  const std::vector<MemoryPoint> points = MakePoints(events);
  return WriteWholeFile(path, is_html ? MemoryHtml(points, device) : ToJson(points));
}

}  // namespace steplens::exporting
