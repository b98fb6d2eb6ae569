#pragma once

#include <string_view>

#include "store/trace_store.h"

namespace steplens::analysis {

// Fills a store row by row; times in ns, given as [begin, end).
class StoreBuilder {
 public:
  store::TraceStore store;

  StringId Text(std::string_view text) { return store.strings.Intern(text); }

  store::TrackId Process(std::string_view name, std::string_view label = "",
                         std::string_view pid = "") {
    return AddTrack(
        {.kind = Text("process"), .pid = Text(pid), .name = Text(name), .label = Text(label)});
  }
  store::TrackId Thread(store::TrackId process, std::string_view name) {
    return AddTrack({.parent = process, .kind = Text("thread"), .name = Text(name)});
  }
  // A thread in a process of its own.
  store::TrackId ThreadOf(std::string_view process_name, std::string_view name) {
    return Thread(Process(process_name), name);
  }

  store::SliceId Slice(store::TrackId track, int64_t begin_ns, int64_t end_ns,
                       std::string_view name, std::string_view category = "",
                       int64_t correlation = store::kNone) {
    store.slices.Append({.track = track,
                         .begin_ns = begin_ns,
                         .dur_ns = end_ns - begin_ns,
                         .name = Text(name),
                         .category = Text(category),
                         .correlation = correlation});
    return static_cast<store::SliceId>(store.slices.size() - 1);
  }
  void Flow(std::string_view kind, store::TrackId from, int64_t from_ns, store::TrackId to,
            int64_t to_ns) {
    store.flows.Append({.kind = Text(kind),
                        .from_track = from,
                        .from_ns = from_ns,
                        .to_track = to,
                        .to_ns = to_ns});
  }
  void Kernel(std::string_view name, std::string_view type, std::string_view core, int64_t begin_ns,
              int64_t end_ns, int64_t device = store::kNone) {
    store.kernels.Append({.device = device,
                          .name = Text(name),
                          .type = Text(type),
                          .core = Text(core),
                          .begin_ns = begin_ns,
                          .dur_ns = end_ns - begin_ns});
  }
  void CommOp(std::string_view name, int64_t begin_ns, int64_t end_ns,
              store::TrackId track = store::kNoTrack) {
    store.comm_ops.Append(
        {.track = track, .name = Text(name), .begin_ns = begin_ns, .dur_ns = end_ns - begin_ns});
  }
  void Step(int64_t step, int64_t begin_ns, int64_t end_ns) {
    store.steps.Append({.step = step, .begin_ns = begin_ns, .end_ns = end_ns});
  }
  void Shapes(store::SliceId slice, std::string_view shapes) {
    store.host_ops.Append({.slice = slice, .input_shapes = Text(shapes)});
  }

  store::Job Job() {
    store::Job job;
    job.ranks.push_back(std::move(store));
    return job;
  }

 private:
  store::TrackId AddTrack(const store::TrackTable::Row& row) {
    store.tracks.Append(row);
    return static_cast<store::TrackId>(store.tracks.size() - 1);
  }
};

}  // namespace steplens::analysis
