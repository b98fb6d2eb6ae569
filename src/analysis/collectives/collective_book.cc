#include "analysis/collectives/collective_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/group_name.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

constexpr uint32_t kNoCall = UINT32_MAX;

// "hcom_allReduce__586_0_1" -> "586": part of the group's hash; empty for other names.
std::string_view SuffixInName(std::string_view name) {
  const size_t mark = name.find("__");
  if (mark == name.npos) return {};
  name.remove_prefix(mark + 2);
  const std::string_view suffix = name.substr(0, name.find('_'));
  return suffix.find_first_not_of("0123456789") == suffix.npos ? suffix : std::string_view();
}

// "hcom_allReduce__586_0_1" -> "hcom_allReduce_"; other names are kinds already.
std::string_view KindOfName(std::string_view name) {
  const size_t mark = name.find("__");
  return mark == name.npos ? name : name.substr(0, mark + 1);
}

// comm_ops rows in order of begin: ordinals count in time.
std::vector<uint32_t> RowsInOrder(const store::CommOpTable& ops) {
  std::vector<uint32_t> rows(ops.size());
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return ops.begin_ns[a] < ops.begin_ns[b]; });
  return rows;
}

// A call is what most of its parts say it is: parts with another element count were paired wrongly.
void DropStrangers(std::vector<CollectivePart>& parts) {
  std::map<int64_t, size_t> votes;
  for (const CollectivePart& part : parts) ++votes[part.count];
  if (votes.size() < 2) return;
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::erase_if(parts, [&](const CollectivePart& part) { return part.count != most->first; });
}

// A rank's part in some call of a group and kind.
struct Member {
  uint32_t row = 0;
  std::string group;
  std::string stem;  // "group/kind"
};

// The collectives of a rank in order of begin.
std::vector<Member> FindMembers(const TraceStore& store) {
  std::vector<Member> members;
  const GroupNames groups(store);
  for (const uint32_t row : RowsInOrder(store.comm_ops)) {
    const std::string_view name = store.Text(store.comm_ops.name[row]);
    const int64_t dur_ns = store.comm_ops.dur_ns[row];
    if (cluster::IsP2pName(name) || store.comm_ops.begin_ns[row] == store::kNone || dur_ns < 0) {
      continue;
    }
    std::string group = groups.Of(row);
    std::string stem = fmt::format("{}/{}", group, KindOfName(name));
    members.push_back({row, std::move(group), std::move(stem)});
  }
  return members;
}

// Whether all ranks of a group have as many calls of each kind: then their ordinals agree without a
// look at the steps, which costs a walk over the whole timeline.
bool CountsAgree(const std::vector<std::vector<Member>>& ranks) {
  std::map<std::string, size_t> counts;
  for (const std::vector<Member>& members : ranks) {
    std::map<std::string, size_t> own;
    for (const Member& member : members) ++own[member.stem];
    for (const auto& [stem, count] : own) {
      if (counts.try_emplace(stem, count).first->second != count) return false;
    }
  }
  return true;
}

}  // namespace

int64_t CollectivePart::end_ns() const { return EndNs(begin_ns, dur_ns); }

std::optional<uint32_t> CommOpOf(const TraceStore& store, store::SliceId slice) {
  const auto row = static_cast<size_t>(slice);
  for (uint32_t i = 0; i < store.comm_ops.size(); ++i) {
    if (store.comm_ops.begin_ns[i] == store.slices.begin_ns[row] &&
        store.comm_ops.name[i] == store.slices.name[row]) {
      return i;
    }
  }
  return std::nullopt;
}

GroupNames::GroupNames(const TraceStore& store) : store_(store) {
  for (size_t i = 0; i < store.comm_times.size(); ++i) {
    const std::string_view group = store.Text(store.comm_times.group_name[i]);
    if (group.empty()) continue;
    by_op_name_.try_emplace(static_cast<uint32_t>(store.comm_times.op_name[i]),
                            cluster::GroupName(group));
  }
}

std::string GroupNames::Of(uint32_t comm_op_row) const {
  const StringId name = store_.comm_ops.name[comm_op_row];
  const auto known = by_op_name_.find(static_cast<uint32_t>(name));
  if (known != by_op_name_.end()) return known->second;
  const std::string_view group = store_.Text(store_.comm_ops.group_name[comm_op_row]);
  // A trace that numbers its groups ("0") says nothing another rank could agree with.
  const std::string_view suffix = SuffixInName(store_.Text(name));
  if (group.size() < 6 && !suffix.empty()) return std::string(suffix);
  return cluster::GroupName(group);
}

CollectiveBook::CollectiveBook(const store::Job& job) {
  std::vector<std::vector<Member>> members(job.ranks.size());
  for (size_t r = 0; r < job.ranks.size(); ++r) members[r] = FindMembers(job.ranks[r]);
  const bool with_steps = !CountsAgree(members);
  std::map<std::string, Call> by_key;
  std::vector<std::vector<const Call*>> of_row(job.ranks.size());
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    const TraceStore& store = job.ranks[r];
    const store::CommOpTable& ops = store.comm_ops;
    of_row[r].assign(ops.size(), nullptr);
    if (members[r].empty()) continue;
    const std::vector<StepRange> steps =
        with_steps ? ComputeStepRanges(store) : std::vector<StepRange>();
    StepFinder finder(steps);
    std::unordered_map<std::string, int64_t> ordinals;
    for (const Member& member : members[r]) {
      const auto step = finder.Find(ops.begin_ns[member.row]);
      const std::string stem =
          fmt::format("{}/{}", member.stem, step ? std::to_string(steps[*step].step) + "/" : "");
      Call& call = by_key[fmt::format("{}{:06}", stem, ordinals[stem]++)];
      call.group = member.group;
      call.parts.push_back(
          {r, member.row, ops.begin_ns[member.row], ops.dur_ns[member.row], ops.count[member.row]});
      of_row[r][member.row] = &call;
    }
  }
  std::unordered_map<const Call*, uint32_t> index;
  calls_.reserve(by_key.size());
  for (auto& [key, call] : by_key) {
    index.emplace(&call, static_cast<uint32_t>(calls_.size()));
    call.key = key;
    DropStrangers(call.parts);
    calls_.push_back(std::move(call));
  }
  call_of_row_.resize(job.ranks.size());
  for (size_t r = 0; r < of_row.size(); ++r) {
    for (const Call* call : of_row[r]) {
      call_of_row_[r].push_back(call == nullptr ? kNoCall : index.at(call));
    }
  }
}

int64_t CollectiveBook::Call::ShortestNs() const {
  int64_t shortest_ns = store::kNone;
  for (const CollectivePart& part : parts) {
    if (shortest_ns == store::kNone || part.dur_ns < shortest_ns) shortest_ns = part.dur_ns;
  }
  return shortest_ns == store::kNone ? 0 : shortest_ns;
}

const CollectiveBook::Call* CollectiveBook::Find(uint32_t rank_index, uint32_t row) const {
  if (rank_index >= call_of_row_.size() || row >= call_of_row_[rank_index].size()) return nullptr;
  const uint32_t call = call_of_row_[rank_index][row];
  return call == kNoCall ? nullptr : &calls_[call];
}

}  // namespace steplens::analysis
