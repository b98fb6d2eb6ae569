#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "readers/ascend_db/tracks.h"
#include "store/trace_store.h"

namespace steplens::readers {

// The tracks of communication groups: one for the group, one per plane. Groups are numbered as they
// appear.
class GroupTracks {
 public:
  // `is_hccl_era`: names of the process and of groups as files up to CANN 8.0 have them.
  GroupTracks(const store::TraceStore& out, TrackBuilder& tracks, bool is_hccl_era)
      : out_(out), tracks_(tracks), is_hccl_era_(is_hccl_era) {}

  store::TrackId Group(int64_t device, StringId group);
  store::TrackId Plane(int64_t device, StringId group, int64_t plane);

 private:
  int64_t FirstKey(int64_t device, StringId group);
  store::TrackId Thread(int64_t device, int64_t key, std::string_view name);

  const store::TraceStore& out_;
  TrackBuilder& tracks_;
  bool is_hccl_era_;
  std::map<std::pair<int64_t, StringId>, int64_t> first_keys_;
};

}  // namespace steplens::readers
