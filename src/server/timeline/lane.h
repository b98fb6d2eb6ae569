#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/timeline/busy.h"
#include "server/timeline/counter_lane.h"
#include "server/timeline/lane_rows.h"
#include "server/timeline/summary.h"
#include "store/trace_store.h"

namespace steplens::server {

enum class LaneKind : uint8_t { kRank, kGroup, kSlices, kCounter };

// What a lane shows, as bits: of a group, what its lanes show.
enum LaneFlag : uint32_t {
  kHostLane = 1,
  kDeviceLane = 2,
  kCommGroupLane = 4,
  kCommPlaneLane = 8,
  kOverlapLane = 16,
  kCannLane = 32,
  kPythonStackLane = 64,
  kDerivedLane = 128,
  kCounterLane = 256,
  kMemoryLane = 512,
  kAsideLane = 1024,       // repeats what other lanes show: counts only where it is named itself
  kQueryLane = 2048,       // rows that a query found; not in the tree of its rank
  kAnnotationLane = 4096,  // ranges of the host over its work on a device: not work themselves
};

// A node of the lane tree: a rank, a group of lanes, or a lane with data. Immutable once its rank
// is shown.
struct Lane {
  uint32_t id = 0;      // within this run of the server; from 1
  uint32_t parent = 0;  // id of the lane above; 0 for a rank
  LaneKind kind = LaneKind::kGroup;
  std::string name;
  std::string path;  // "r0/hw/stream2": the same whenever the data is opened
  size_t rank_slot = 0;
  int64_t device = 0;
  uint32_t flags = 0;
  uint64_t count = 0;             // slices or samples, of a group all below it
  std::vector<uint32_t> parts{};  // of a merged lane: ids of those it shows together

  store::TrackId track = store::kNoTrack;  // of lanes that show a track of the store
  LaneRows rows;                           // of kSlices
  LaneRows work;                           // of a stream with waits: its other slices
  bool has_waits = false;                  // some slices wait for an event: they are not work
  LaneCover cover;                         // of busy_rows()
  LaneCover whole;                         // of a stream with waits: of rows
  CounterLane counter;                     // of kCounter
  Summary summary;                         // of kRank and kGroup
  std::optional<Summary> with_waits;       // likewise; only if a stream below has waits

  bool is_merged() const { return !parts.empty(); }
  bool is_derived() const { return (flags & kDerivedLane) != 0; }
  bool is_query() const { return (flags & kQueryLane) != 0; }
  bool is_python() const { return (flags & kPythonStackLane) != 0; }
  bool is_annotation() const { return (flags & kAnnotationLane) != 0; }
  // The slices in which something is done.
  const LaneRows& busy_rows() const { return has_waits ? work : rows; }
};

}  // namespace steplens::server
