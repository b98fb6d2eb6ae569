#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "server/api/request.h"
#include "server/workspace.h"

namespace steplens::server {

// A request about one data set, with what it can see. Lives as long as the request.
struct Ask {
  Workspace& workspace;
  OpenDataset& open;
  const Dataset::View& view;
  const Params& params;
  const Request& request;
  uint32_t align = 0;
  std::vector<int64_t> base_ns{};  // by slot: the time on the rank's clock that is shown as 0

  // Times on the clock of a rank, and as shown.
  int64_t BaseNs(size_t slot) const { return base_ns[slot]; }
  int64_t ToShown(const Lane& lane, int64_t ns) const {
    return SubtractSaturating(ns, BaseNs(lane.rank_slot));
  }
  int64_t FromShown(const Lane& lane, int64_t shown_ns) const {
    return AddSaturating(shown_ns, BaseNs(lane.rank_slot));
  }
  std::string_view NameOf(const Lane& lane, uint32_t slice) const {
    return view.names().Text(lane.rows.columns().name_of(slice));
  }
};

// "rank 0 / Python / Thread 1".
std::string LaneTitle(const Ask& ask, const Lane& lane);

// The lane that a parameter names; an error (400) if there is none.
Result<const Lane*> LaneParam(const Ask& ask, std::string_view name = "track");
// A lane with slices, and a slice in it. `home` is the lane that shows it when lanes are not
// merged.
struct SliceRef {
  const Lane* lane = nullptr;
  uint32_t slice = 0;
  const Lane* home = nullptr;
};
Result<SliceRef> SliceParam(const Ask& ask);
// The lanes with slices (or of another kind) among, or below, those of a list, each once, by id;
// merged ones and those of queries last.
Result<std::vector<const Lane*>> SliceLanes(const Ask& ask, const std::vector<int64_t>& ids,
                                            LaneKind kind = LaneKind::kSlices);
// The same for a list that a parameter names; all lanes if it is absent and `all_if_absent` is set.
Result<std::vector<const Lane*>> SliceLanesParam(const Ask& ask, std::string_view name,
                                                 bool all_if_absent,
                                                 LaneKind kind = LaneKind::kSlices);

// {"track","i","name","begin","dur"} without the braces.
void WriteSlice(JsonWriter& json, const Ask& ask, const Lane& lane, uint32_t slice);

// Where analyses find the rank of a lane: its place in job.ranks. Once all ranks are read.
uint32_t JobIndex(const Ask& ask, const Lane& lane);
// The whole job; an error while ranks are still being read, after that long a wait.
inline constexpr std::chrono::seconds kPatience{20};
Result<const store::Job*> NeedJob(const Ask& ask);

}  // namespace steplens::server
