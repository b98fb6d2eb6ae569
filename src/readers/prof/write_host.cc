#include "readers/prof/write_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "format/prof/host_records.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

std::string_view LayerOf(uint16_t level) {
  switch (level) {
    case raw::kLevelRuntime:
      return "Runtime";
    case raw::kLevelCommunication:
      return "Communication";
    case raw::kLevelNode:
      return "Node";
    case raw::kLevelModel:
      return "Model";
    case raw::kLevelAcl:
      return "AscendCL";
    default:
      return {};
  }
}

// The family of acl calls, which stands in the upper half of their type.
std::string ModeOfAcl(uint32_t type) {
  constexpr std::string_view kModes[] = {"",           "ACL_OP",   "ACL_MODEL",   "ACL_RTS",
                                         "ACL_OTHERS", "ACL_NN",   "ACL_ASCENDC", "HOST_HCCL",
                                         "",           "ACL_DVPP", "ACL_GRAPH",   "ACL_ATB"};
  const uint32_t mode = type >> 16;
  return mode < std::size(kModes) && !kModes[mode].empty() ? std::string(kModes[mode])
                                                           : fmt::to_string(mode);
}

// What a call says beside its name and times.
class CallFacts {
 public:
  CallFacts(Dictionary& names, store::TraceStore& out) : names_(names), out_(out) {}
  void Write(const Api& api, store::SliceId slice) {
    store::CannCallTable::Row row;
    row.slice = slice;
    if (api.level == raw::kLevelAcl) {
      StringId& mode = modes_[api.type >> 16];
      if (mode == StringId::kEmpty) mode = out_.strings.Intern(ModeOfAcl(api.type));
      row.mode = mode;
    } else if (api.level == raw::kLevelCommunication) {
      row.mode = names_.Type(api.level, api.type);
    }
    if (api.item != 0) row.item = names_.Hash(api.item);
    if (row.mode != StringId::kEmpty || row.item != StringId::kEmpty) out_.cann_calls.Append(row);
  }

 private:
  Dictionary& names_;
  store::TraceStore& out_;
  std::unordered_map<uint32_t, StringId> modes_;
};

// "Node@launch"; each made once.
class CallNames {
 public:
  CallNames(Dictionary& names, store::TraceStore& out) : names_(names), out_(out) {}
  StringId operator()(const Api& api) {
    const bool by_item = api.level == raw::kLevelCommunication;
    const StringId call = by_item ? names_.Hash(api.item) : names_.Type(api.level, api.type);
    const uint64_t key = uint64_t{api.level} << 32 | static_cast<uint32_t>(call);
    const auto [place, is_new] = cached_.try_emplace(key, StringId::kEmpty);
    if (is_new) {
      const std::string text = fmt::format("{}@{}", LayerOf(api.level), out_.Text(call));
      place->second = out_.strings.Intern(text);
    }
    return place->second;
  }

 private:
  Dictionary& names_;
  store::TraceStore& out_;
  std::unordered_map<uint64_t, StringId> cached_;
};

// When models were loaded: calls inside count although the capture had not begun.
class ModelLoads {
 public:
  ModelLoads(const ApiTree& tree, Dictionary& names) {
    for (const Api& api : tree.apis()) {
      if (api.level == raw::kLevelModel && names.TypeText(api.level, api.type) == "ModelLoad")
        spans_.emplace_back(api.begin, api.end);
    }
  }
  bool Holds(const Api& api) const {
    return std::any_of(spans_.begin(), spans_.end(), [&](const auto& span) {
      return span.first <= api.begin && api.end <= span.second;
    });
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> spans_;
};

int64_t GlobalThread(int64_t pid, uint32_t thread) {
  return static_cast<int64_t>(static_cast<uint64_t>(pid) << 32 | thread);
}

void WriteApis(const ApiTree& tree, int64_t pid, const SideClock& clock, Dictionary& names,
               TrackBuilder& tracks, store::TraceStore& out, HostPlaces& places) {
  CallNames call_name(names, out);
  CallFacts call_facts(names, out);
  const ModelLoads loads(tree, names);
  std::unordered_map<uint32_t, store::TrackId> threads;
  const std::vector<Api>& apis = tree.apis();
  places.api_tracks.assign(apis.size(), store::kNoTrack);
  out.slices.Reserve(out.slices.size() + apis.size());
  for (size_t i = 0; i < apis.size(); ++i) {
    const Api& api = apis[i];
    if (LayerOf(api.level).empty()) continue;
    const int64_t begin_ns = clock.HostUtc(api.begin);
    const int64_t end_ns = clock.HostUtc(api.end);
    if (end_ns < clock.begin_ns && !loads.Holds(api)) continue;
    store::TrackId& track = threads.try_emplace(api.thread, store::kNoTrack).first->second;
    if (track == store::kNoTrack) track = tracks.HostThread(kCann, GlobalThread(pid, api.thread));
    places.api_tracks[i] = track;
    store::SliceTable::Row slice;
    slice.track = track;
    slice.begin_ns = begin_ns;
    slice.dur_ns = DurationNs(begin_ns, end_ns);
    slice.name = call_name(api);
    slice.correlation = ApiTree::ConnectionOf(static_cast<uint32_t>(i));
    call_facts.Write(api, store::SliceId{static_cast<uint32_t>(out.slices.size())});
    out.slices.Append(slice);
  }
}

void WriteMarks(const std::vector<Mark>& marks, int64_t pid, const SideClock& clock,
                Dictionary& names, TrackBuilder& tracks, store::TraceStore& out,
                HostPlaces& places) {
  for (const Mark& mark : marks) {
    store::SliceTable::Row slice;
    slice.track = tracks.HostThread(kMarkers, GlobalThread(pid, mark.thread));
    slice.begin_ns = clock.HostUtc(mark.begin);
    slice.dur_ns = DurationNs(slice.begin_ns, clock.HostUtc(mark.end));
    slice.name = out.strings.Intern(mark.message);
    const int64_t connection = mark.is_linked ? MarkConnection(mark.id) : kPlainMark;
    const StringId domain = mark.is_linked ? names.Hash(mark.domain) : StringId::kEmpty;
    if (mark.is_linked) places.marks[connection] = {slice.track, slice.begin_ns, slice.name};
    store::MarkerTable::Row row;
    row.slice = store::SliceId{static_cast<uint32_t>(out.slices.size())};
    row.event_type = mark.event_type;
    row.domain = domain;
    row.correlation = connection;
    row.category = mark.category;
    row.payload_type = mark.payload_type;
    row.payload = static_cast<int64_t>(mark.payload);
    row.message_type = mark.message_type;
    out.markers.Append(row);
    out.slices.Append(slice);
  }
}

}  // namespace

HostPlaces WriteHost(const ApiTree& tree, const std::vector<Mark>& marks, int64_t pid,
                     const SideClock& clock, Dictionary& names, TrackBuilder& tracks,
                     store::TraceStore& out) {
  HostPlaces places;
  WriteApis(tree, pid, clock, names, tracks, out, places);
  WriteMarks(marks, pid, clock, names, tracks, out, places);
  return places;
}

void WriteOperatorMemory(std::vector<MemoryChange> changes, const SideClock& clock,
                         Dictionary& names, store::TraceStore& out) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const MemoryChange& a, const MemoryChange& b) { return a.time < b.time; });
  using Block = std::tuple<uint64_t, uint64_t, uint32_t>;  // operator, address and device
  std::map<Block, size_t> open;                            // -> row of `rows`
  std::vector<store::AllocationTable::Row> rows;
  const StringId ge = out.strings.Intern("GE");
  for (const MemoryChange& change : changes) {
    const int64_t time_ns = clock.HostUtc(change.time);
    if (time_ns < clock.begin_ns) continue;
    const StringId device = out.strings.Intern(fmt::format("NPU:{}", change.device));
    store::MemorySampleTable::Row sample;
    sample.component = ge;
    sample.ts_ns = time_ns;
    sample.allocated_bytes = static_cast<int64_t>(change.total_allocated);
    sample.reserved_bytes = static_cast<int64_t>(change.total_reserved);
    sample.device = device;
    out.memory_samples.Append(sample);
    const Block block(change.name, change.address, change.device);
    if (change.size > 0) {
      open[block] = rows.size();
      store::AllocationTable::Row& row = rows.emplace_back();
      row.name = names.Hash(change.name);
      row.size_bytes = change.size;
      row.alloc_ns = time_ns;
      row.alloc_total_allocated_bytes = sample.allocated_bytes;
      row.alloc_total_reserved_bytes = sample.reserved_bytes;
      row.device = device;
      row.address = static_cast<int64_t>(change.address);
      continue;
    }
    const auto found = open.find(block);
    if (change.size == 0 || found == open.end()) continue;
    store::AllocationTable::Row& row = rows[found->second];
    row.release_ns = time_ns;
    row.dur_ns = DurationNs(row.alloc_ns, time_ns);
    row.release_total_allocated_bytes = sample.allocated_bytes;
    row.release_total_reserved_bytes = sample.reserved_bytes;
    open.erase(found);
  }
  for (const store::AllocationTable::Row& row : rows) out.allocations.Append(row);
}

}  // namespace steplens::readers::prof
