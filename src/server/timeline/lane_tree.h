#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/overlap/overlap.h"
#include "server/timeline/rank_timeline.h"

namespace steplens::server {

// Builds the lanes of a rank from its store; lives for that long. One file a kind of lane:
// lane_tree.cc tracks with slices, lane_tree_overlap.cc what is derived, lane_tree_counters.cc
// counters and memory.
class TreeBuilder {
 public:
  TreeBuilder(const store::TraceStore& store, ThreadPool& pool, RankTimeline& out);
  void Build();

 private:
  struct GroupName {
    std::string name;
    std::string path;
  };
  // The slices of a lane before they are stacked.
  struct Content {
    SliceColumns columns;
    std::vector<uint32_t> slices;
  };

  size_t TrackCount() const { return store_.tracks.size(); }
  std::string_view Text(StringId id) const { return store_.Text(id); }
  size_t ParentOf(size_t track) const { return static_cast<size_t>(store_.tracks.parent[track]); }
  bool IsCounter(size_t track) const { return Text(store_.tracks.kind[track]) == "counter"; }
  int64_t SortIndex(size_t track) const;
  // Root of the lane paths of this rank.
  const std::string& Root() const { return out_.lanes_.front()->path; }
  // A new lane below `parent`; a path that is taken gets a number.
  Lane& Add(LaneKind kind, uint32_t parent, std::string name, std::string path);

  void SortSlices();
  std::vector<size_t> Processes();
  void Order(std::vector<size_t>& tracks) const;
  GroupName NameGroup(size_t process, uint32_t flags) const;
  void AddProcess(size_t process);
  void AddThread(size_t track, uint32_t group, const std::string& path, int64_t device);
  void BuildRows(size_t i);
  void SetWorkApart(Lane& lane) const;
  void Summarize();
  std::vector<const Lane*> LanesBelow(size_t top) const;
  bool IsBelow(size_t lane, size_t top) const;

  std::vector<analysis::DeviceWork> WorkOfDevices() const;
  void AddDerivedOverlap(const std::vector<analysis::DeviceWork>& devices);
  void AddWaits();
  analysis::Interval DeviceHull() const;
  void AddDerivedLane(RankTimeline::Derived& part, uint32_t group, const std::string& path);

  void AddCounters();
  bool IsHostCounter(size_t process) const;
  void AddCounterProcess(size_t process, const std::vector<size_t>& series, uint32_t half,
                         std::vector<std::vector<uint32_t>>& samples);
  void AddMemory();

  const store::TraceStore& store_;
  ThreadPool& pool_;
  RankTimeline& out_;
  std::vector<analysis::TrackKind> kinds_;
  SliceColumns columns_;
  std::vector<std::vector<uint32_t>> slices_;  // by track
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<std::vector<uint32_t>> annotations_;
  std::vector<bool> is_wait_;  // by text: the name or category of a task that waits
  bool is_cpu_ = false;
  std::vector<std::vector<size_t>> children_;
  std::vector<Content> content_;  // by lane
  std::set<std::string> paths_;
  bool has_overlap_ = false;
};

// A name as part of a path: "Stream 2" -> "stream2", "Communication(Not Overlapped)" ->
// "communication-notoverlapped".
std::string Slug(std::string_view name);

}  // namespace steplens::server
