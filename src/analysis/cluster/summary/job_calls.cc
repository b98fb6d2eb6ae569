#include "analysis/cluster/summary/job_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/cluster/group_name.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

// "hcom_allReduce__210_0_1" -> "hcom_allReduce"
std::string OpOf(const std::string& name) {
  return name.substr(0, std::min(name.find("__"), name.find('#')));
}

bool Sends(const std::string& op) {
  return op.find("send") != op.npos || op.find("Send") != op.npos;
}

int64_t EndOf(const CallMember& member) { return EndNs(member.start_ns, member.dur_ns); }

int64_t UpperMiddle(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<RecordedTimes> RecordedOf(const CallPart& call) {
  if (call.wait_ns == store::kNone || call.transit_ns == store::kNone) return std::nullopt;
  return RecordedTimes{TimesSource::kResults, call.transit_ns, call.wait_ns, 0};
}

}  // namespace

void JobCalls::AddTo(JobCall& call, int64_t rank, const SummaryPart& part, const CallPart& own) {
  call.members.push_back({rank, own.dur_ns, own.start_ns});
  call.recorded.push_back(RecordedOf(own));
  if (own.small_ns <= call.small_ns) return;
  call.small_ns = own.small_ns;
  call.small_transport = part.Text(own.small_transport);
}

void JobCalls::Add(int64_t rank, const SummaryPart& part, const GroupBook& book) {
  for (const CallPart& call : part.calls) {
    const std::string group = GroupName(part.Text(call.group));
    const std::string& step = part.Text(call.step);
    std::string name = part.Text(call.op);
    const std::string op = OpOf(name);
    if (call.is_p2p) {
      const GroupFact* fact = book.FindFact(group);
      const size_t counter = name.find("__");
      if (fact == nullptr || fact->ranks.size() != 2 || counter == std::string::npos) {
        loose_[{group, step}].push_back(
            {{rank, call.dur_ns, call.start_ns}, RecordedOf(call), Sends(op), op});
        continue;
      }
      const std::vector<int64_t> members = fact->ranks.ranks();
      const int64_t other = members[0] == rank ? members[1] : members[0];
      name = fmt::format("{}>{}", Sends(op) ? rank : other, name.substr(counter));
    }
    JobCall& entry = named_[{group, std::move(name), step}];
    if (entry.members.empty()) {
      entry.group = group;
      entry.op = op;
      entry.step = step;
      entry.is_p2p = call.is_p2p;
    }
    AddTo(entry, rank, part, call);
  }
}

const std::vector<JobCall>& JobCalls::calls() {
  if (is_finished_) return calls_;
  is_finished_ = true;
  for (auto& [key, call] : named_) calls_.push_back(std::move(call));
  named_.clear();
  SetClocksRight();
  PairLoose();
  return calls_;
}

// From the largest group on: who shares a call with a rank whose clock is known has left it at the
// same time.
void JobCalls::SetClocksRight() {
  constexpr int kRounds = 4;                      // groups between two ranks that share none
  std::vector<std::pair<size_t, size_t>> groups;  // runs of calls_
  std::vector<size_t> sizes;
  for (size_t begin = 0; begin < calls_.size();) {
    size_t end = begin;
    size_t most = 0;
    while (end < calls_.size() && calls_[end].group == calls_[begin].group)
      most = std::max(most, calls_[end++].members.size());
    if (most > 1) groups.emplace_back(begin, end);
    sizes.resize(end, most);
    begin = end;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return sizes[a.first] > sizes[b.first]; });
  if (groups.empty()) return;
  offsets_ns_[calls_[groups[0].first].members[0].rank] = 0;
  for (int round = 0; round < kRounds; ++round) {
    bool is_new = false;
    for (const auto& [begin, end] : groups) {
      std::map<int64_t, std::vector<int64_t>> samples;
      for (size_t c = begin; c < end; ++c) {
        const auto& members = calls_[c].members;
        const auto known = std::find_if(members.begin(), members.end(), [&](const CallMember& m) {
          return offsets_ns_.contains(m.rank);
        });
        if (known == members.end()) continue;
        const int64_t end_ns = AddNs(EndOf(*known), offsets_ns_[known->rank]);
        for (const CallMember& member : members) {
          if (!offsets_ns_.contains(member.rank))
            samples[member.rank].push_back(SubtractSaturating(end_ns, EndOf(member)));
        }
      }
      for (auto& [rank, values] : samples) offsets_ns_[rank] = UpperMiddle(values);
      is_new |= !samples.empty();
    }
    if (!is_new) return;
  }
}

void JobCalls::PairLoose() {
  constexpr int64_t kSameEndNs = 500'000;
  const auto end_of = [&](const Loose& one) {
    const auto offset = offsets_ns_.find(one.member.rank);
    return EndOf(one.member) + (offset == offsets_ns_.end() ? 0 : offset->second);
  };
  for (auto& [key, all] : loose_) {
    std::stable_sort(all.begin(), all.end(),
                     [&](const Loose& a, const Loose& b) { return end_of(a) < end_of(b); });
    std::vector<bool> is_paired(all.size(), false);
    const auto add = [&](size_t i, JobCall& call) {
      is_paired[i] = true;
      call.members.push_back(all[i].member);
      call.recorded.push_back(all[i].recorded);
    };
    for (size_t i = 0; i < all.size(); ++i) {
      if (is_paired[i]) continue;
      JobCall& call = calls_.emplace_back();
      call.group = key.first;
      call.step = key.second;
      call.op = all[i].op;
      call.is_p2p = true;
      add(i, call);
      for (size_t j = i + 1; j < all.size() && end_of(all[j]) - end_of(all[i]) <= kSameEndNs; ++j) {
        if (is_paired[j] || all[j].sends == all[i].sends ||
            all[j].member.rank == all[i].member.rank)
          continue;
        add(j, call);
        break;
      }
    }
  }
  loose_.clear();
}

}  // namespace steplens::analysis::cluster
