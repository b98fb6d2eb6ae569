#include "analysis/cluster/summary/wait_pairs.h"

#include <algorithm>

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// In the order of arrival: who stayed longest came first.
std::vector<CallMember> ByArrival(std::span<const CallMember> members) {
  std::vector<CallMember> order(members.begin(), members.end());
  std::sort(order.begin(), order.end(), [](const CallMember& a, const CallMember& b) {
    return std::pair(-a.dur_ns, a.rank) < std::pair(-b.dur_ns, b.rank);
  });
  return order;
}

}  // namespace

WaitPairs::Sum& WaitPairs::SumOf(const Pair& pair) {
  Sum* sum = &PlaceOf(pair);
  if (sum->calls > 0) return *sum;
  if (++used_ > sums_.size() / 2) {
    Grow();
    sum = &PlaceOf(pair);
  }
  sum->pair = pair;
  return *sum;
}

// Where the pair is, or the free place where it belongs.
WaitPairs::Sum& WaitPairs::PlaceOf(const Pair& pair) {
  uint64_t hash = static_cast<uint64_t>(pair.waiting) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ static_cast<uint64_t>(pair.blamed)) * 0xC2B2AE3D27D4EB4Fu;
  hash = (hash ^ pair.dimension) * 0x165667B19E3779F9u >> 20;
  for (size_t at = hash;; ++at) {
    Sum& sum = sums_[at & (sums_.size() - 1)];
    if (sum.calls == 0 || sum.pair == pair) return sum;
  }
}

void WaitPairs::Grow() {
  std::vector<Sum> old(sums_.size() * 2);
  old.swap(sums_);
  for (const Sum& sum : old) {
    if (sum.calls > 0) PlaceOf(sum.pair) = sum;
  }
}

void WaitPairs::AddCall(const std::string& dimension, std::span<const CallMember> members,
                        double least_ns) {
  const std::vector<CallMember> order = ByArrival(members);
  const size_t n = order.size();
  if (n < 2) return;
  const auto [place, is_new] =
      numbers_.try_emplace(dimension, static_cast<uint32_t>(dimensions_.size()));
  if (is_new) dimensions_.push_back(dimension);
  // blame[j] is what each of the first waiters waited for member j, summed over the gaps before j
  // came; a waiter that itself came at gap i shares only the gaps from there on. The last to come
  // caused most.
  std::vector<double> blame(n, 0);
  for (size_t i = 0; i + 1 < n; ++i) {
    const auto gap_ns = static_cast<double>(order[i].dur_ns - order[i + 1].dur_ns);
    blame[i + 1] = blame[i] + gap_ns / static_cast<double>(n - i - 1);
  }
  const double ignored_ns = n > kAllPairs ? least_ns / 10 : 0;
  for (size_t j = n - 1; j > 0; --j) {
    if (blame[j] <= ignored_ns) break;  // those who came earlier are blamed for less
    for (size_t i = 0; i < j; ++i) {
      const double wait_ns = blame[j] - blame[i];
      if (wait_ns <= ignored_ns) break;  // those who came later waited less
      Sum& sum = SumOf({order[i].rank, order[j].rank, place->second});
      sum.wait_ns += wait_ns;
      ++sum.calls;
    }
  }
}

table::Table WaitPairs::ToTable(const std::map<int64_t, size_t>& steps_of, double least_ms) const {
  struct Row {
    Pair pair;
    double ms = 0;
    int64_t calls = 0;
  };
  std::vector<Row> rows;
  for (const Sum& sum : sums_) {
    if (sum.calls == 0) continue;
    const Pair& pair = sum.pair;
    const auto steps = steps_of.find(pair.waiting);
    const double count = steps == steps_of.end() ? 1 : static_cast<double>(steps->second);
    const double ms = sum.wait_ns / 1e6 / count;
    if (ms >= least_ms) rows.push_back({pair, ms, sum.calls});
  }
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto key = [&](const Row& row) {
      return std::tuple(-row.ms, row.pair.waiting, row.pair.blamed,
                        std::string_view(dimensions_[row.pair.dimension]));
    };
    return key(a) < key(b);
  });
  table::Table table("ClusterWaitPairs");
  table.AddColumn("waitingRank", CellType::kInt);
  table.AddColumn("blamedRank", CellType::kInt);
  table.AddColumn("dimension", CellType::kText);
  table.AddColumn("wait(ms/step)", CellType::kDouble);
  table.AddColumn("calls", CellType::kInt);
  for (const Row& row : rows) {
    table.AppendInt(0, row.pair.waiting);
    table.AppendInt(1, row.pair.blamed);
    table.AppendText(2, dimensions_[row.pair.dimension]);
    table.AppendDouble(3, row.ms);
    table.AppendInt(4, row.calls);
  }
  return table;
}

void GroupWaits::AddCall(const std::string& group, std::span<const CallMember> members,
                         std::span<const CallTimes> times, bool is_whole) {
  bool is_known = false;
  for (const CallTimes& time : times) is_known |= time.wait_ns != store::kNone;
  if (!is_known) return;
  Group& entry = groups_[group];
  ++entry.calls;
  for (const CallMember& member : members) entry.ranks.insert(member.rank);
  if (is_whole) AttributeWaits(members, entry.shares);
  for (const CallTimes& time : times) {
    if (time.wait_ns != store::kNone) entry.wait_ns += static_cast<double>(time.wait_ns);
  }
}

}  // namespace steplens::analysis::cluster
