#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/spread.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// The collective calls of one rank.
struct Part {
  std::vector<CommCall> calls;
  std::map<std::string, int64_t> group_sizes;  // as GroupSizesOf has them

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(calls, group_sizes);
  }
};

// One rank's side of a collective call. Ranks leave a collective together, so who arrived last has
// the shortest duration, whatever the clocks of the machines say.
struct Side {
  int64_t rank = 0;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};
using Sides = std::vector<Side>;  // by duration: the last to arrive is first

void SortByArrival(Sides& sides) {
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.dur_ns, a.rank) < std::tie(b.dur_ns, b.rank);
  });
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// How many of the first sides were late: further from the median of the others than three times
// their scatter (median absolute deviation, scaled to a standard deviation), and by an amount that
// matters to the call. The last to arrive is judged by the others alone, so two ranks are enough.
size_t CountLate(const Sides& sides) {
  constexpr double kScatters = 3 * 1.4826;
  constexpr double kLeastShare = 0.05;
  if (sides.size() < 2) return 0;
  std::vector<double> others;
  for (size_t i = 1; i < sides.size(); ++i) others.push_back(static_cast<double>(sides[i].dur_ns));
  const double median = MedianOf(others);
  for (double& value : others) value = std::abs(value - median);
  const double limit = std::max(kScatters * MedianOf(others), kLeastShare * median);
  size_t late = 0;
  while (late < sides.size() && median - static_cast<double>(sides[late].dur_ns) > limit) ++late;
  return late;
}

// The reference's two tests.
// Dixon's r for the low end of n values, n = 3 ... 100, one-sided, 99.5 %.
constexpr std::array kDixonLimits = {
    .994, .920, .823, .744, .680, .723, .676, .638, .707, .675, .649, .672, .649, .629,
    .611, .595, .580, .568, .556, .545, .536, .526, .519, .510, .503, .496, .489, .484,
    .478, .473, .468, .463, .458, .454, .450, .446, .442, .439, .435, .432, .429, .425,
    .423, .420, .417, .414, .412, .409, .407, .405, .402, .400, .398, .396, .394, .392,
    .391, .388, .387, .385, .383, .382, .380, .379, .377, .376, .374, .372, .371, .370,
    .368, .368, .366, .365, .364, .363, .361, .360, .359, .358, .356, .356, .355, .353,
    .352, .352, .351, .350, .349, .348, .347, .346, .345, .344, .344, .343, .341, .341};
constexpr size_t kLargestDixon = kDixonLimits.size() + 2;

bool IsDixonOutlier(const Sides& sides) {
  const size_t n = sides.size();
  std::set<int64_t> distinct;
  for (const Side& side : sides) distinct.insert(side.dur_ns);
  if (n <= 2 || distinct.size() <= 3) return false;
  const size_t next = n <= 10 ? 1 : 2;
  const size_t last = n <= 7 ? n - 1 : (n <= 13 ? n - 2 : n - 3);
  const auto at = [&](size_t i) { return static_cast<double>(sides[i].dur_ns); };
  const double range = at(last) - at(0);
  return range != 0 && (at(next) - at(0)) / range > kDixonLimits[n - 3];
}

size_t CountBelowThreeSigma(const Sides& sides) {
  Spread spread;
  for (const Side& side : sides) spread.Add(side.dur_ns);
  const double three_sigma = 3 * spread.population_std_ns();
  const double low = spread.mean_ns() - three_sigma;
  size_t late = 0;
  while (late < sides.size() && static_cast<double>(sides[late].dur_ns) < low) ++late;
  const bool has_high = static_cast<double>(spread.max_ns()) > spread.mean_ns() + three_sigma;
  return late == 0 && has_high ? 1 : late;
}

size_t CountLateAsReference(const Sides& sides) {
  if (sides.size() > kLargestDixon) return CountBelowThreeSigma(sides);
  return IsDixonOutlier(sides) ? 1 : 0;
}

// The reference writes microseconds under the names of nanoseconds.
table::Table InMicroseconds(const table::Table& table) {
  table::Table out(table.name());
  for (table::Column column : table.columns()) {
    for (double& value : column.doubles) value /= 1000;
    out.AddColumn(std::move(column));
  }
  return out;
}

// A call some rank was late for.
struct SlowCall {
  std::string group;
  std::string name;
  int64_t ts_ns = 0;  // the first start among the late ranks
  std::vector<int64_t> late_ranks;
  Spread durations;
};

// What a rank's arrivals cost.
struct RankWait {
  int64_t votes = 0;        // calls it was late for
  int64_t calls = 0;        // calls it took part in
  int64_t last = 0;         // of them, how often it was the last
  int64_t caused_ns = 0;    // time the others waited for it as the last
  int64_t suffered_ns = 0;  // time it waited for the last
};

class SlowRank : public RecipeOf<Part> {
 public:
  explicit SlowRank(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    if (options_.compat) DropUnevenGroups();
    for (auto& [key, sides] : open_) {
      if (!options_.compat && partly_.Count(std::get<0>(key), sides.size())) continue;
      const bool is_matched =
          options_.compat || sides.size() == ranks_of_group_[std::get<0>(key)].size();
      if (is_matched) {
        Judge(key, sides);
      } else {
        ++unmatched_;
      }
    }
    open_.clear();
    Answer answer;
    answer.had_input = !ranks_of_group_.empty() && !options_.compat;
    answer.tables.push_back({Votes(), "rank_stats.csv"});
    answer.tables.push_back({SlowCalls(), "slow_op_stats.csv"});
    if (!options_.compat) answer.tables.push_back({Waits(), "rank_wait.csv"});
    AddNotes(answer);
    answer.suggestion = Message{"suggestion.slow_rank"};
    return answer;
  }

 protected:
  Part MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    Part part;
    part.calls = rank.comm_ops.size() == 0 && !options_.compat
                     ? CommCallsOfResults(rank, facts, options_)
                     : CollectCommCalls(rank, facts, HostCalls(rank), options_);
    std::erase_if(part.calls, [](const CommCall& call) { return IsPointToPoint(call.name); });
    if (!options_.compat) part.group_sizes = GroupSizesOf(rank);
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    std::map<std::string, size_t> sizes;
    partly_.AddRank(part.group_sizes);
    for (const auto& [id, size] : SizesByMetadata(facts)) sizes[groups_.Find(id)] = size;
    std::map<Key, int64_t> repeats;
    for (CommCall& call : part.calls) {
      const std::string& group = groups_.Find(call.group);
      ranks_of_group_[group].insert(facts.rank);
      Key key(group, std::move(call.name), options_.compat ? 0 : call.step, 0);
      // The number in an operator's name may start again within a step.
      if (!options_.compat) std::get<3>(key) = repeats[key]++;
      Sides& sides = open_[key];
      sides.push_back({facts.rank, call.begin_ns, call.dur_ns});
      const auto size = sizes.find(std::get<0>(key));
      if (options_.compat || size == sizes.end() || sides.size() < size->second) continue;
      Judge(key, sides);  // all members told of it: no need to keep it
      open_.erase(key);
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, int64_t, int64_t>;  // group, name, step, repeat

  void Judge(const Key& key, Sides& sides) {
    if (sides.size() < 2) return;
    SortByArrival(sides);
    const size_t late = options_.compat ? CountLateAsReference(sides) : CountLate(sides);
    CountWaits(sides);
    if (late == 0) return;
    SlowCall call;
    std::tie(call.group, call.name, std::ignore, std::ignore) = key;
    call.ts_ns = sides.front().begin_ns;
    for (size_t i = 0; i < late; ++i) {
      call.ts_ns = std::min(call.ts_ns, sides[i].begin_ns);
      call.late_ranks.push_back(sides[i].rank);
      ++waits_[sides[i].rank].votes;
    }
    for (const Side& side : sides) call.durations.Add(side.dur_ns, side.rank);
    slow_.push_back(std::move(call));
  }

  void CountWaits(const Sides& sides) {
    int64_t caused_ns = 0;
    for (const Side& side : sides) {
      RankWait& wait = waits_[side.rank];
      ++wait.calls;
      wait.suffered_ns =
          AddNs(wait.suffered_ns, SubtractSaturating(side.dur_ns, sides.front().dur_ns));
      caused_ns = AddNs(caused_ns, SubtractSaturating(side.dur_ns, sides.front().dur_ns));
    }
    if (sides[0].dur_ns == sides[1].dur_ns) return;  // they came together
    RankWait& last = waits_[sides.front().rank];
    ++last.last;
    last.caused_ns = AddNs(last.caused_ns, caused_ns);
  }

  // The reference drops a group when one of its operators has more rows than another.
  void DropUnevenGroups() {
    std::map<std::string, std::set<size_t>> counts;
    for (const auto& [key, sides] : open_) counts[std::get<0>(key)].insert(sides.size());
    std::erase_if(open_,
                  [&](const auto& call) { return counts[std::get<0>(call.first)].size() > 1; });
  }

  table::Table Votes() const {
    table::Table table("SlowRank");
    table.AddColumn("rankId", CellType::kInt);
    table.AddColumn("slowAffectCount", CellType::kInt);
    for (const auto& [rank, wait] : waits_) {
      if (wait.votes == 0) continue;
      table.AppendInt(0, rank);
      table.AppendInt(1, wait.votes);
    }
    return table;
  }

  table::Table SlowCalls() {
    std::sort(slow_.begin(), slow_.end(), [](const SlowCall& a, const SlowCall& b) {
      return std::tie(a.ts_ns, a.group, a.name) < std::tie(b.ts_ns, b.group, b.name);
    });
    table::Table table("SlowOpStats");
    for (const char* name : {"SlowRank", "OpName", "GroupName"})
      table.AddColumn(name, CellType::kText);
    table.AddColumn("Timestamp", CellType::kInt);
    SpreadColumns stats(table);
    for (const SlowCall& call : slow_) {
      table.AppendText(0, fmt::format("{}", fmt::join(call.late_ranks, ",")));
      table.AppendText(1, call.name);
      table.AppendText(2, call.group);
      table.AppendInt(3, call.ts_ns);
      stats.Append(call.durations);
    }
    return options_.compat ? InMicroseconds(table) : table;
  }

  table::Table Waits() const {
    table::Table table("RankWait");
    for (const char* name : {"rankId", "calls", "lastCount", "causedWaitNs", "sufferedWaitNs"})
      table.AddColumn(name, CellType::kInt);
    for (const auto& [rank, wait] : waits_) {
      size_t column = 0;
      for (const int64_t value : {rank, wait.calls, wait.last, wait.caused_ns, wait.suffered_ns})
        table.AppendInt(column++, value);
    }
    return table;
  }

  void AddNotes(Answer& answer) const {
    if (unmatched_ > 0) {
      answer.notes.push_back(
          fmt::format("{} calls were recorded by some members of their group only and are left out",
                      unmatched_));
    }
    partly_.AddNotes(answer.notes);
    const bool has_judged = options_.compat || !waits_.empty();
    if (slow_.empty() && has_judged)
      answer.notes.emplace_back("no rank arrived late for a collective");
  }

  Options options_;
  std::map<Key, Sides> open_;  // calls that wait for further members
  PartlyCapturedCalls partly_;
  GroupSpellings groups_;
  std::map<std::string, std::set<int64_t>> ranks_of_group_;
  std::map<int64_t, RankWait> waits_;
  std::vector<SlowCall> slow_;
  int64_t unmatched_ = 0;
};

}  // namespace

RecipeSpec SlowRankRecipe() {
  RecipeSpec spec;
  spec.name = "slow_rank";
  spec.folder = "SlowRankAnalysis";
  spec.summary = "Ranks that others wait for in collectives";
  spec.needs.timeline = true;
  spec.needs.calls = true;
  spec.make = MakeRecipe<SlowRank>;
  return spec;
}

}  // namespace steplens::analysis::cluster
