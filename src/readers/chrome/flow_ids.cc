#include "readers/chrome/flow_ids.h"

#include <tsl/robin_map.h>

#include <span>

#include "base/saturate.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::TraceStore;

class Finder {
 public:
  explicit Finder(const TraceStore& trace) : trace_(trace) {}

  void LookAtLaunches(std::span<const FlowEnd> ends, StringId kind, int64_t shift_ns) {
    for (const FlowEnd& end : ends) {
      if (end.kind != kind || end.id == kNone) continue;
      if (end.id != SubtractSaturating(end.ts_ns, shift_ns)) Add(end);
    }
  }

  // Each item of the queue is followed by its arrow, so items and arrows are in the same order.
  // Where they are not, the trace is not as torch_npu wrote it, and the rest is kept as it is.
  void LookAtQueue(std::span<const FlowEnd> arrows, StringId kind,
                   std::optional<StringId> category) {
    if (!category) return;
    const store::SliceTable& slices = trace_.slices;
    size_t item = 0;
    for (const FlowEnd& arrow : arrows) {
      if (arrow.kind != kind) continue;
      const auto is_its_item = [&](size_t i) {
        return slices.category[i] == *category && slices.begin_ns[i] == arrow.ts_ns &&
               slices.track[i] == arrow.track;
      };
      while (item < slices.size() && !is_its_item(item)) ++item;
      if (item == slices.size()) return;
      if (slices.correlation[item] != kNone && slices.correlation[item] != arrow.id) Add(arrow);
    }
  }

  void LookAtGradients(std::span<const FlowEnd> starts, std::span<const FlowEnd> ends,
                       StringId kind) {
    tsl::robin_map<uint64_t, Place> places;
    for (const std::span<const FlowEnd> side : {starts, ends}) {
      for (const FlowEnd& end : side) {
        if (end.kind == kind && end.id != kNone) places[Key(end.track, end.ts_ns)].arrow = &end;
      }
    }
    const store::HostOpTable& ops = trace_.host_ops;
    for (size_t i = 0; i < ops.size() && !places.empty(); ++i) {
      if (ops.sequence_number[i] < 0) continue;
      const auto slice = static_cast<size_t>(ops.slice[i]);
      const auto place =
          places.find(Key(trace_.slices.track[slice], trace_.slices.begin_ns[slice]));
      if (place == places.end()) continue;
      place.value().has_op = true;
      place.value().has_its_op |= ops.sequence_number[i] == place->second.arrow->id;
    }
    for (const std::span<const FlowEnd> side : {starts, ends}) {
      for (const FlowEnd& end : side) {
        const auto place = places.find(Key(end.track, end.ts_ns));
        if (place == places.end() || place->second.arrow != &end) continue;
        if (place->second.has_op && !place->second.has_its_op) Add(end);
      }
    }
  }

  const OddFlowIds& odd() const { return odd_; }

 private:
  // Where an arrow begins or ends; operators inside each other may start there together.
  struct Place {
    const FlowEnd* arrow = nullptr;
    bool has_op = false;
    bool has_its_op = false;
  };

  static uint64_t Key(store::TrackId track, int64_t ts_ns) {
    return static_cast<uint64_t>(ts_ns) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(track);
  }

  void Add(const FlowEnd& end) {
    if (odd_.count++ == 0) odd_.first = end;
  }

  const TraceStore& trace_;
  OddFlowIds odd_;
};

}  // namespace

TorchNpuTexts::TorchNpuTexts(const StringPool& strings)
    : launch(strings.Find("async_npu")),
      queue(strings.Find("async_task_queue")),
      gradient(strings.Find("fwdbwd")),
      enqueue(strings.Find("enqueue")),
      dequeue(strings.Find("dequeue")) {}

OddFlowIds FindOddFlowIds(const LooseFlows& flows, const TorchNpuTexts& texts, int64_t shift_ns,
                          const TraceStore& trace) {
  const auto& [starts, ends] = flows;
  Finder finder(trace);
  if (texts.launch) finder.LookAtLaunches(ends, *texts.launch, shift_ns);
  if (texts.queue) {
    finder.LookAtQueue(starts, *texts.queue, texts.enqueue);
    finder.LookAtQueue(ends, *texts.queue, texts.dequeue);
  }
  const bool is_torch_npu = texts.launch || texts.queue;
  if (texts.gradient && is_torch_npu) finder.LookAtGradients(starts, ends, *texts.gradient);
  return finder.odd();
}

}  // namespace steplens::readers
