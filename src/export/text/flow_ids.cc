#include "export/text/flow_ids.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace steplens::exporting {
namespace {

using store::kNone;
using store::TraceStore;

// Facts about slices by the point they start at.
class StartIndex {
 public:
  void Reserve(size_t count) { facts_.reserve(count); }
  void Add(store::TrackId track, int64_t ns, int64_t fact) { facts_.emplace_back(track, ns, fact); }
  void Build() { std::sort(facts_.begin(), facts_.end()); }
  // The smallest fact of a slice that starts there; kNone if none does.
  int64_t Find(store::TrackId track, int64_t ns) const {
    const auto found = std::lower_bound(facts_.begin(), facts_.end(), Fact(track, ns, kNone));
    if (found == facts_.end() || std::get<0>(*found) != track || std::get<1>(*found) != ns)
      return kNone;
    return std::get<2>(*found);
  }

 private:
  using Fact = std::tuple<store::TrackId, int64_t, int64_t>;
  std::vector<Fact> facts_;
};

// Connections of the slices on tracks that flows end on.
StartIndex IndexConnections(const TraceStore& store) {
  std::vector<bool> is_target(store.tracks.size(), false);
  for (const store::TrackId track : store.flows.to_track) {
    if (static_cast<size_t>(track) < is_target.size()) is_target[static_cast<size_t>(track)] = true;
  }
  StartIndex index;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= is_target.size() || !is_target[track]) continue;
    if (store.slices.correlation[i] == kNone) continue;
    index.Add(store.slices.track[i], store.slices.begin_ns[i], store.slices.correlation[i]);
  }
  index.Build();
  return index;
}

StartIndex IndexSequences(const TraceStore& store) {
  StartIndex index;
  const auto& numbers = store.host_ops.sequence_number;
  index.Reserve(static_cast<size_t>(
      std::count_if(numbers.begin(), numbers.end(), [](int64_t number) { return number >= 0; })));
  for (size_t i = 0; i < store.host_ops.size(); ++i) {
    const auto slice = static_cast<size_t>(store.host_ops.slice[i]);
    if (store.host_ops.sequence_number[i] < 0 || slice >= store.slices.size()) continue;
    index.Add(store.slices.track[slice], store.slices.begin_ns[slice],
              store.host_ops.sequence_number[i]);
  }
  index.Build();
  return index;
}

// Hands out ids of one kind, each once.
class UniqueIds {
 public:
  // `wanted`, or the next free one. Ids that many flows want cost no more than others, and those
  // that ascend, as most do, cost nothing.
  uint64_t Take(uint64_t wanted) {
    if (ascending_.empty() || wanted > largest_) {
      ascending_.push_back(wanted);
      largest_ = wanted;
      return wanted;
    }
    uint64_t& next = next_.try_emplace(wanted, wanted).first->second;
    while (IsTaken(next)) ++next;
    const uint64_t id = next++;
    others_.insert(id);
    largest_ = std::max(largest_, id);
    return id;
  }
  uint64_t TakeAny() { return Take(kUnknown); }

 private:
  // Above all numbers the recorder gives.
  static constexpr uint64_t kUnknown = uint64_t{1} << 62;

  bool IsTaken(uint64_t id) const {
    return others_.contains(id) || std::binary_search(ascending_.begin(), ascending_.end(), id);
  }

  std::vector<uint64_t> ascending_;  // ids that were larger than all before them
  uint64_t largest_ = 0;             // of all ids taken
  std::unordered_set<uint64_t> others_;
  std::unordered_map<uint64_t, uint64_t> next_;  // where to look for an id wanted before
};

// Built when it is first asked.
class LazyIndex {
 public:
  LazyIndex(const TraceStore& store, StartIndex (*make)(const TraceStore&))
      : store_(store), make_(make) {}
  int64_t Find(store::TrackId track, int64_t ns) {
    if (!index_) index_ = make_(store_);
    return index_->Find(track, ns);
  }

 private:
  const TraceStore& store_;  // outlives this, which lives for one call
  StartIndex (*make_)(const TraceStore&);
  std::optional<StartIndex> index_;
};

}  // namespace

std::vector<uint64_t> MakeFlowIds(const TraceStore& store) {
  std::vector<uint64_t> ids(store.flows.size());
  if (ids.empty()) return ids;
  LazyIndex connections(store, IndexConnections);
  LazyIndex sequences(store, IndexSequences);
  std::unordered_map<StringId, UniqueIds> taken;  // by kind
  for (size_t i = 0; i < ids.size(); ++i) {
    const StringId kind_id = store.flows.kind[i];
    const std::string_view kind = store.Text(kind_id);
    int64_t wanted = kNone;
    if (kind == "async_npu" || kind == "mindspore_to_mstx") {
      wanted = store.flows.to_ns[i];
    } else if (kind == "fwdbwd") {
      wanted = sequences.Find(store.flows.from_track[i], store.flows.from_ns[i]);
    } else if (kind == "HostToDevice" || kind == "MsTx") {
      wanted = connections.Find(store.flows.to_track[i], store.flows.to_ns[i]);
      constexpr int64_t kLargestShifted = int64_t{1} << 30;
      if (kind == "HostToDevice" && wanted >= 0)
        wanted = wanted < kLargestShifted ? wanted << 32 : kNone;
    } else {
      wanted = static_cast<int64_t>(i);
    }
    UniqueIds& kind_ids = taken[kind_id];
    ids[i] = wanted < 0 ? kind_ids.TakeAny() : kind_ids.Take(static_cast<uint64_t>(wanted));
  }
  return ids;
}

}  // namespace steplens::exporting
