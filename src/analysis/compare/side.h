#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/sheet_options.h"
#include "analysis/facts/rank_view.h"
#include "base/status.h"

namespace steplens::analysis::compare {

// A kernel, copy or collective that the host launched.
struct DeviceEvent {
  std::string_view name;
  std::string_view task_type;  // empty for a collective
  std::string_view shapes;     // without quotes
  bool knows_shapes = false;   // a row of the kernels says them, be it that there are none
  bool is_collective = false;
  int64_t task_id = store::kNone;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

// Device events that one point of the host launched.
struct HostLaunch {
  int64_t host_ns = 0;
  store::TrackId track = store::kNoTrack;
  std::vector<uint32_t> events;  // of Side::events, in the order of the input
};

// An operator of the host, or a call of a GPU's runtime.
struct HostEvent {
  std::string_view name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::TrackId track = store::kNoTrack;
  uint32_t detail = store::kNoId;  // row of host_ops
  uint32_t launch = store::kNoId;  // of Side::launches
  store::SliceId slice = store::kNoSlice;
};

struct PythonCall {
  std::string_view name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::TrackId track = store::kNoTrack;
};

// A forward operator and the one of the backward pass that belongs to it, by their starts.
struct ForwardBackward {
  int64_t forward_ns = 0;
  store::TrackId forward_track = store::kNoTrack;
  int64_t backward_ns = 0;
  store::TrackId backward_track = store::kNoTrack;
};

// What one side of a comparison is, collected once for all sheets. The view must outlive it.
struct Side {
  explicit Side(const RankView& rank) : view(rank), store(rank.store()) {}

  RankView view;
  const store::TraceStore& store;
  bool is_gpu = false;  // Kineto; a trace without any device counts as one
  bool is_db = false;
  bool has_framework = true;        // operators, modules and memory are read
  bool has_tables = true;           // csv files or tables stand beside the timeline
  std::optional<StepRange> step{};  // the one that is compared; nothing: all
  bool is_filtered = false;         // host and device events are those of the step alone

  ArgsReader args{};  // as the options have it

  std::vector<DeviceEvent> events;
  std::vector<HostLaunch> launches;    // by host_ns
  std::vector<HostEvent> ops;          // by begin_ns
  std::vector<PythonCall> python;      // by begin_ns
  std::vector<ForwardBackward> pairs;  // as the input has them
  store::TrackId backward_thread = store::kNoTrack;

  bool HasModules() const;
  std::span<const uint32_t> EventsOf(const HostEvent& op) const {
    if (op.launch == store::kNoId) return {};
    return launches[op.launch].events;
  }
  // Whether a time lies in the step, on the host or on the device; always without a step.
  bool IsHostTime(int64_t begin_ns) const {
    return !is_filtered || (begin_ns >= step->host_begin_ns && begin_ns <= step->host_end_ns);
  }
  bool IsDeviceTime(int64_t begin_ns) const {
    return !is_filtered || (begin_ns >= step->begin_ns && begin_ns <= step->end_ns);
  }
};

// kInvalidArgument for a step that the side does not have.
Result<Side> CollectSide(const RankView& rank, const SheetOptions& options,
                         std::optional<int64_t> step);

// How the reference prints what is known of an operator: "N/A" or "None" where it is not.
struct OpTexts {
  std::string shapes;
  std::string types;
  std::string call_stack;
};
OpTexts DescribeOp(const Side& side, const HostEvent& op, bool compat);

// Kernels that compute: rows of the kernels that are no collectives, in the order of the table.
std::vector<uint32_t> ComputeKernels(const Side& side);

// Lower case, and whether a lower-case text has one of the words.
std::string LowerCase(std::string_view text);
bool HasWord(std::string_view lower, std::span<const std::string_view> words);

}  // namespace steplens::analysis::compare
