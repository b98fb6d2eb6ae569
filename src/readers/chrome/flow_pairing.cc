#include "readers/chrome/flow_pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

namespace steplens::readers {
namespace {

// Starts by key. Keys are mostly unique, so that all is one look-up and a step through two arrays.
class StartGroups {
 public:
  explicit StartGroups(const std::vector<FlowEnd>& starts)
      : starts_(starts), slots_(std::bit_ceil(2 * starts.size() + 1), kFree) {
    std::vector<uint32_t> group_of(starts.size());
    std::vector<uint32_t> next;  // counts first, then where the next start of the group goes
    for (uint32_t i = 0; i < starts.size(); ++i) {
      uint32_t& slot = slots_[SlotOf(starts[i])];
      if (slot == kFree) {
        slot = static_cast<uint32_t>(leaders_.size());
        leaders_.push_back(i);
        next.push_back(0);
      }
      group_of[i] = slot;
      ++next[slot];
    }
    for (const uint32_t count : next) first_.push_back(first_.back() + count);
    std::copy(first_.begin(), first_.end() - 1, next.begin());
    order_.resize(starts.size());
    for (uint32_t i = 0; i < starts.size(); ++i) order_[next[group_of[i]]++] = i;
    for (uint32_t group = 0; group < leaders_.size(); ++group) SortByTime(group);
  }

  static constexpr uint32_t kNoGroup = store::kNoId;

  size_t size() const { return leaders_.size(); }
  uint32_t Find(const FlowEnd& end) const { return slots_[SlotOf(end)]; }
  // Indices of the starts of a group, by time and then in file order.
  std::span<const uint32_t> operator[](uint32_t group) const {
    return std::span(order_).subspan(first_[group], first_[group + 1] - first_[group]);
  }

 private:
  static constexpr uint32_t kFree = kNoGroup;

  // The slot that holds the group of the key, or the free one where it belongs.
  size_t SlotOf(const FlowEnd& end) const {
    const size_t mask = slots_.size() - 1;
    size_t i = end.key_high & mask;  // a hash already
    while (slots_[i] != kFree) {
      const FlowEnd& leader = starts_[leaders_[slots_[i]]];
      if (leader.key_low == end.key_low && leader.key_high == end.key_high) break;
      i = (i + 1) & mask;
    }
    return i;
  }

  void SortByTime(uint32_t group) {
    const auto begin = order_.begin() + first_[group];
    const auto end = order_.begin() + first_[group + 1];
    if (end - begin < 2) return;
    std::stable_sort(begin, end,
                     [&](uint32_t a, uint32_t b) { return starts_[a].ts_ns < starts_[b].ts_ns; });
  }

  const std::vector<FlowEnd>& starts_;  // outlives this, which lives for one call
  std::vector<uint32_t> slots_;         // open addressing: groups
  std::vector<uint32_t> leaders_;       // the first start of each group
  std::vector<uint32_t> first_{0};      // group g owns order_[first_[g], first_[g + 1])
  std::vector<uint32_t> order_;
};

}  // namespace

LooseFlows PairFlows(const LooseFlows& loose, store::FlowTable& flows) {
  const auto& [starts, ends] = loose;
  LooseFlows left;
  const StartGroups groups(starts);
  std::vector<bool> used(groups.size(), false);
  flows.Reserve(flows.size() + ends.size());
  for (const FlowEnd& end : ends) {
    const uint32_t group = groups.Find(end);
    if (group == StartGroups::kNoGroup) {
      left.ends.push_back(end);
      continue;
    }
    used[group] = true;
    const auto candidates = groups[group];
    auto start = std::upper_bound(candidates.begin(), candidates.end(), end.ts_ns,
                                  [&](int64_t ts, uint32_t i) { return ts < starts[i].ts_ns; });
    if (start != candidates.begin()) --start;
    flows.Append({end.kind, starts[*start].track, starts[*start].ts_ns, end.track, end.ts_ns});
  }
  for (uint32_t group = 0; group < groups.size(); ++group) {
    if (used[group]) continue;
    for (const uint32_t i : groups[group]) left.starts.push_back(starts[i]);
  }
  return left;
}

void AppendLoose(const LooseFlows& part, const store::NewIds& ids, LooseFlows& into) {
  const auto append = [&ids](const std::vector<FlowEnd>& from, std::vector<FlowEnd>& to) {
    for (FlowEnd end : from) {
      end.track = ids(end.track);
      end.kind = ids(end.kind);
      to.push_back(end);
    }
  };
  append(part.starts, into.starts);
  append(part.ends, into.ends);
}

void CountLoose(const LooseFlows& loose, std::string_view name, store::TraceStore& out) {
  const auto count = [&](store::IssueKind kind, const std::vector<FlowEnd>& ends) {
    if (ends.empty()) return;
    const FlowEnd& first =
        *std::min_element(ends.begin(), ends.end(),
                          [](const FlowEnd& a, const FlowEnd& b) { return a.ts_ns < b.ts_ns; });
    out.issues.Add(kind,
                   fmt::format("{}: flow '{}' at {} ns", name, out.Text(first.kind), first.ts_ns),
                   ends.size());
  };
  count(store::IssueKind::kFlowWithoutStart, loose.ends);
  count(store::IssueKind::kFlowWithoutEnd, loose.starts);
}

}  // namespace steplens::readers
