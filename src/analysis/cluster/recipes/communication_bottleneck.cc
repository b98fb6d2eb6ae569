#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/rank_timeline.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;
using table::CellType;

constexpr double kLeastDifference = 0.05;   // of the longest duration
constexpr int64_t kDeviceWaitNs = 100'000;  // beyond the host's: the device is behind
constexpr double kDeviceBoundShare = 0.5;   // of the tasks before the operator
constexpr int64_t kAlignedNs = 1'000'000;
constexpr double kAlignedShareOfLag = 0.1;

// A communication operator of one rank.
struct Op {
  std::string group;
  std::string name;
  int64_t repeat = 0;  // how often the rank had an operator of this group and name before
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  bool is_in_step = true;  // the one asked for

  int64_t end_ns() const { return EndNs(begin_ns, dur_ns); }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(group, name, repeat, begin_ns, dur_ns, is_in_step);
  }
};

struct Part {
  std::vector<Op> ops;
  RankTimeline timeline;
  std::map<std::string, int64_t> group_sizes;  // as GroupSizesOf has them

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops, timeline, group_sizes);
  }
};

// What a rank did, unpacked.
struct RankView {
  std::vector<TimelineTask> device;
  std::vector<TimelineTask> operators;
  std::vector<TimelineTask> calls;
  std::vector<LaunchedTask> launched;
};

// One rank's side of an operator.
struct Side {
  int64_t rank = kNone;
  Op op;
  std::shared_ptr<const RankView> view;  // a rank may be a side of several operators
};

// An operator to explain.
struct Case {
  Op op;
  Side slow;  // arrived last, so it has the shortest duration
  Side fast;  // waited longest
  int64_t ranks = 0;
  int64_t members = 0;  // of the group; 0 if nobody says

  // The last to arrive may be a rank that was not captured.
  bool is_partial() const { return members > ranks; }
};

// The same task on both ranks.
struct Match {
  const TimelineTask* slow = nullptr;
  int64_t late_ns = 0;    // started that much later on the slow rank, on one clock
  int64_t longer_ns = 0;  // and ran that much longer
};

// Both lists walked back in time from their ends: each task of the slow rank with the next one of
// its name on the fast rank, until one is aligned.
struct Comparison {
  std::vector<Match> matches;  // latest first; the aligned one last
  bool is_aligned = false;
};
Comparison Compare(std::span<const TimelineTask> slow, std::span<const TimelineTask> fast,
                   int64_t shift_ns, int64_t aligned_ns) {
  Comparison comparison;
  size_t fast_end = fast.size();
  for (size_t i = slow.size(); i-- > 0 && !comparison.is_aligned;) {
    size_t at = fast_end;
    while (at > 0 && fast[at - 1].name != slow[i].name) --at;
    if (at == 0) continue;
    fast_end = at - 1;
    Match& match = comparison.matches.emplace_back();
    match.slow = &slow[i];
    match.late_ns = AddNs(slow[i].begin_ns - fast[fast_end].begin_ns, shift_ns);
    match.longer_ns = SubtractSaturating(slow[i].dur_ns, fast[fast_end].dur_ns);
    comparison.is_aligned = match.late_ns < aligned_ns;
  }
  return comparison;
}

std::span<const TimelineTask> Before(const std::vector<TimelineTask>& tasks, int64_t ts_ns) {
  const auto end = std::lower_bound(
      tasks.begin(), tasks.end(), ts_ns,
      [](const TimelineTask& task, int64_t limit_ns) { return task.begin_ns < limit_ns; });
  return {tasks.begin(), end};
}

// "405.0", as Python prints a float.
std::string UsText(int64_t ns) {
  const std::string text = FormatDouble(static_cast<double>(ns) / 1000);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

// "1700000000005200", "1736407068068042.86": all decimals there are.
std::string ExactUs(int64_t ns) {
  std::string text = FormatNsAsUs(ns);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Explains one operator.
class Explanation {
 public:
  Explanation(const Case& one, bool compat)
      : case_(one),
        compat_(compat),
        lag_ns_(SubtractSaturating(one.fast.op.dur_ns, one.slow.op.dur_ns)),
        shift_ns_(SubtractSaturating(one.fast.op.end_ns(), one.slow.op.end_ns())) {}

  bool HasSlowRank() const {
    if (case_.is_partial() && !compat_) return false;
    const auto longest = static_cast<double>(case_.fast.op.dur_ns);
    return longest > 0 && static_cast<double>(lag_ns_) / longest >= kLeastDifference;
  }

  std::string Reason() const {
    if (case_.ranks < 2 && !compat_)
      return "[Failed] Only one rank recorded the communication operator";
    if (case_.is_partial() && !compat_) {
      return fmt::format(
          "[Failed] {} of {} ranks captured: the last to arrive may be one of the others",
          case_.ranks, case_.members);
    }
    if (!HasSlowRank()) {
      return compat_ ? "[Completed] No slow NPU detected: execution time difference is less than "
                       "0.05%"
                     : "[Completed] No slow rank: the durations differ by less than 5 %";
    }
    const std::optional<bool> is_device = IsDeviceBound();
    if (!is_device) return "[Failed] Insufficient data for analyzing slow NPU bottleneck";
    if (compat_) return *is_device ? DeviceAsReference() : HostAsReference();
    const RankView& slow = *case_.slow.view;
    const RankView& fast = *case_.fast.view;
    if (*is_device) return "[Device-bound] " + Describe(slow.device, fast.device);
    return fmt::format("[Host-bound] PyTorch: {} | CANN: {}",
                       Describe(slow.operators, fast.operators), Describe(slow.calls, fast.calls));
  }

 private:
  // Whether the tasks that ran on the slow rank while the fast one waited had been launched long
  // before; nothing if no task tells.
  std::optional<bool> IsDeviceBound() const {
    const int64_t begin_ns = AddNs(case_.fast.op.begin_ns, -shift_ns_);
    int64_t all = 0;
    int64_t on_device = 0;
    for (const LaunchedTask& task : case_.slow.view->launched) {
      if (task.begin_ns <= begin_ns || task.begin_ns >= case_.slow.op.end_ns()) continue;
      ++all;
      on_device += task.excess_ns > kDeviceWaitNs ? 1 : 0;
    }
    if (all == 0) return std::nullopt;
    return static_cast<double>(on_device) > kDeviceBoundShare * static_cast<double>(all);
  }

  // Where the lag began and how large it is at the operator.
  std::string Describe(const std::vector<TimelineTask>& slow_tasks,
                       const std::vector<TimelineTask>& fast_tasks) const {
    const int64_t aligned_ns = std::min(
        kAlignedNs, static_cast<int64_t>(static_cast<double>(lag_ns_) * kAlignedShareOfLag));
    const Comparison comparison =
        Compare(Before(slow_tasks, case_.slow.op.begin_ns),
                Before(fast_tasks, case_.fast.op.begin_ns), shift_ns_, aligned_ns);
    if (comparison.matches.empty()) return "no task before the operator is on both ranks";
    const Match& oldest = comparison.matches.back();
    if (!comparison.is_aligned) {
      return fmt::format(
          "not aligned in the tasks before the operator: the first one, {}, starts {} us late "
          "already; lag {} us",
          oldest.slow->name, UsText(oldest.late_ns), UsText(lag_ns_));
    }
    // What comes after the aligned one; that one itself may be what held it up.
    const size_t count = comparison.matches.size();
    const Match& first = count == 1 ? oldest : comparison.matches[count - 2];
    const std::string before = count > 1 && oldest.longer_ns >= aligned_ns
                                   ? fmt::format(" (before it {} ran {} us longer)",
                                                 oldest.slow->name, UsText(oldest.longer_ns))
                                   : "";
    return fmt::format("first diverging task {}: starts {} us late, runs {} us longer{}; lag {} us",
                       first.slow->name, UsText(first.late_ns), UsText(first.longer_ns), before,
                       UsText(lag_ns_));
  }

  std::string DeviceAsReference() const {
    // All tasks of the capture are compared, those after the operator as well.
    const std::vector<TimelineTask>& slow = case_.slow.view->device;
    const std::vector<TimelineTask>& fast = case_.fast.view->device;
    const Comparison comparison = Compare(slow, fast, shift_ns_, kAlignedNs);
    if (slow.empty() || fast.empty())
      return "[Device-bound] Failed to find device task differences";
    if (!comparison.is_aligned)
      return "[Device-bound] Tasks are not aligned between slow and fast NPU from the beginning";
    return "[Device-bound]Device: " + Largest(comparison);
  }

  std::string HostAsReference() const {
    const auto describe = [&](const std::vector<TimelineTask>& slow,
                              const std::vector<TimelineTask>& fast) -> std::optional<std::string> {
      const Comparison comparison =
          Compare(Before(slow, case_.slow.op.begin_ns), Before(fast, case_.fast.op.begin_ns),
                  shift_ns_, kAlignedNs);
      if (!comparison.is_aligned) return std::nullopt;
      return Largest(comparison);
    };
    const RankView& slow = *case_.slow.view;
    const RankView& fast = *case_.fast.view;
    if (slow.operators.empty() || fast.operators.empty())
      return "[Host-bound] Failed to find host task differences";
    const auto operators = describe(slow.operators, fast.operators);
    const auto calls = describe(slow.calls, fast.calls);
    if (!operators || !calls)
      return "[Host-bound] Tasks are not aligned between slow and fast NPU from the beginning";
    return fmt::format("[Host-bound] PyTorch: {} | CANN: {}", *operators, *calls);
  }

  static std::string Largest(const Comparison& comparison) {
    const std::vector<Match>& matches = comparison.matches;
    const auto longer =
        std::max_element(matches.begin(), matches.end(),
                         [](const Match& a, const Match& b) { return a.longer_ns < b.longer_ns; });
    const auto later =
        std::max_element(matches.begin(), matches.end(),
                         [](const Match& a, const Match& b) { return a.late_ns < b.late_ns; });
    return fmt::format(
        "max duration-diff op {}, diff {} us, max start-time-diff op {}, diff {} us.",
        longer->slow->name, UsText(longer->longer_ns), later->slow->name, UsText(later->late_ns));
  }

  const Case& case_;
  bool compat_;
  int64_t lag_ns_;
  int64_t shift_ns_;  // clock of the fast rank minus that of the slow one: they end together
};

class CommunicationBottleneck : public RecipeOf<Part> {
 public:
  explicit CommunicationBottleneck(const Options& options)
      : options_(options), target_(options.PositiveOr("rank_id", 0)) {}

  Result<Answer> Finish(Form) override {
    if (!has_target_) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("--rank_id: there is no capture of rank {}", target_)};
    }
    Answer answer;
    if (!options_.compat) {
      for (Case& one : cases_) {
        one.members = IsPointToPoint(one.op.name) ? 2 : partly_.MembersOf(one.op.group);
        if (!IsPointToPoint(one.op.name))
          partly_.Count(one.op.group, static_cast<size_t>(one.ranks));
      }
      partly_.AddNotes(answer.notes);
    }
    answer.tables.push_back({Explain(),
                             "communication_bottleneck.csv",
                             {"Start Time(us)", "End Time(us)", "Duration(us)", "Communication Op",
                              "Slow Rank ID", "Fast Rank ID", "Reason"}});
    if (cases_.empty()) {
      answer.notes.push_back(
          fmt::format("rank {} has no communication operators in the time asked for", target_));
    }
    answer.suggestion = Message{"suggestion.communication_bottleneck"};
    return answer;
  }

 protected:
  Part MapWithFacts(const TraceStore& rank, const RankFacts& facts) const override {
    Part part;
    const GroupIds ids(facts);
    const StepWindow window = FindStepWindow(rank, options_);
    std::map<std::pair<StringId, StringId>, int64_t> repeats;
    const store::CommOpTable& ops = rank.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!IsPlausible(ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i]))) continue;
      part.ops.push_back({ids.Find(std::string(rank.Text(ops.group_name[i]))),
                          std::string(rank.Text(ops.name[i])),
                          repeats[{ops.group_name[i], ops.name[i]}]++, ops.begin_ns[i],
                          ops.dur_ns[i], window.Contains(ops.begin_ns[i])});
    }
    part.timeline = CollectTimeline(rank, options_.compat);
    if (!options_.compat) part.group_sizes = GroupSizesOf(rank);
    return part;
  }

  // Once the target's operators are known, of every operator only its two extremes are kept.
  void AddRank(const RankFacts& facts, Part part) override {
    // Without the option: rank 0 or, if it was not captured, the first that was.
    const bool is_first = !has_ranks_ && options_.Value("rank_id").empty();
    has_ranks_ = true;
    partly_.AddRank(part.group_sizes);
    for (Op& op : part.ops) op.group = groups_.Find(op.group);
    if (is_first) target_ = facts.rank;
    if (facts.rank == target_) {
      has_target_ = true;
      ChooseCases(part.ops);
    }
    if (!has_target_) {
      waiting_.emplace_back(facts.rank, std::move(part));
      return;
    }
    for (const auto& [rank, earlier] : waiting_) TakeSides(rank, earlier);
    waiting_.clear();
    TakeSides(facts.rank, part);
  }

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;
  // The reference knows operators by their name alone.
  Key KeyOf(const Op& op) const {
    return options_.compat ? Key{"", op.name, 0} : Key{op.group, op.name, op.repeat};
  }

  void ChooseCases(std::vector<Op> ops) {
    constexpr int64_t kDefaultTop = 10;
    std::erase_if(ops, [](const Op& op) { return !op.is_in_step; });
    std::stable_sort(ops.begin(), ops.end(),
                     [](const Op& a, const Op& b) { return a.dur_ns > b.dur_ns; });
    const auto top = static_cast<size_t>(options_.PositiveOr("top_num", kDefaultTop));
    ops.resize(std::min(ops.size(), top));
    for (Op& op : ops) cases_.emplace_back().op = std::move(op);
  }

  void TakeSides(int64_t rank, const Part& part) {
    std::map<Key, const Op*> ops;
    for (const Op& op : part.ops) ops.try_emplace(KeyOf(op), &op);
    std::shared_ptr<const RankView> view;
    const auto take = [&](Side& side, const Op& op) {
      if (!view) {
        view = std::make_shared<const RankView>(
            RankView{part.timeline.device.Unpack(), part.timeline.operators.Unpack(),
                     part.timeline.calls.Unpack(), part.timeline.launched});
      }
      side = {rank, op, view};
    };
    for (Case& one : cases_) {
      const auto place = ops.find(KeyOf(one.op));
      if (place == ops.end()) continue;
      const Op& op = *place->second;
      ++one.ranks;
      if (one.slow.rank == kNone || op.dur_ns < one.slow.op.dur_ns) take(one.slow, op);
      if (one.fast.rank == kNone || op.dur_ns > one.fast.op.dur_ns) take(one.fast, op);
    }
  }

  table::Table Explain() const {
    table::Table table("CommunicationBottleneck");
    table.AddColumn("startTime(us)", CellType::kText);
    table.AddColumn("endTime(us)", CellType::kText);
    table.AddColumn("duration(us)", CellType::kDouble);
    table.AddColumn("communicationOp", CellType::kText);
    table.AddColumn("slowRankId", CellType::kInt);
    table.AddColumn("fastRankId", CellType::kInt);
    table.AddColumn("reason", CellType::kText);
    for (const Case& one : cases_) {
      const Explanation explanation(one, options_.compat);
      const bool has_slow = explanation.HasSlowRank();
      table.AppendText(0, ExactUs(one.op.begin_ns));
      table.AppendText(1, ExactUs(one.op.end_ns()));
      table.AppendDouble(2, static_cast<double>(one.op.dur_ns) / 1000);
      table.AppendText(3, one.op.name);
      table.AppendInt(4, has_slow ? one.slow.rank : table::kNull);
      table.AppendInt(5, has_slow ? one.fast.rank : table::kNull);
      table.AppendText(6, explanation.Reason());
    }
    return table;
  }

  Options options_;
  int64_t target_;
  bool has_target_ = false;
  bool has_ranks_ = false;
  GroupSpellings groups_;
  PartlyCapturedCalls partly_;
  std::vector<std::pair<int64_t, Part>> waiting_;  // ranks before the target
  std::vector<Case> cases_;                        // longest first
};

}  // namespace

RecipeSpec CommunicationBottleneckRecipe() {
  RecipeSpec spec;
  spec.name = "communication_bottleneck";
  spec.folder = "CommunicatonBottleneckAnalysis";  // the name users know, with its misspelling
  spec.summary = "Why the longest communication operators of a rank take so long";
  spec.needs.timeline = true;
  spec.options = {"rank_id", "top_num"};
  spec.make = MakeRecipe<CommunicationBottleneck>;
  return spec;
}

}  // namespace steplens::analysis::cluster
