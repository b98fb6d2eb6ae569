#include <algorithm>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/cluster/device_time.h"
#include "analysis/cluster/recipes/dispatches.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/overlap/sweep.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

// A gap in the device's work and what explains it.
struct Gap {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t pytorch_idle_ns = kNone;
  int64_t cann_idle_ns = kNone;
  std::string reason;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(begin_ns, end_ns, pytorch_idle_ns, cann_idle_ns, reason);
  }
};

struct Part {
  std::vector<Gap> gaps;  // the longest first
  bool has_device_work = false;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(gaps, has_device_work);
  }
};

// Anything a stream of the device ran: kernels, copies, waits.
struct Task {
  Interval time;
  int64_t correlation = kNone;
  StringId type = StringId::kEmpty;
};

// Microseconds without trailing zeros: "2773.248", "7900".
std::string UsText(int64_t ns) {
  std::string text = FormatNsAsUs(ns);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// The same with at least one decimal: "2112.0".
std::string UsWithPoint(int64_t ns) {
  const std::string text = UsText(ns);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

// The times without compute and communication between the first and the last of it.
std::vector<Interval> FindGaps(const store::TraceStore& rank) {
  const std::vector<Interval> busy = UnionOf(BusyTimes(rank));
  std::vector<Interval> gaps;
  for (size_t i = 1; i < busy.size(); ++i) gaps.push_back({busy[i - 1].end_ns, busy[i].begin_ns});
  return gaps;
}

std::vector<Task> CollectTasks(const store::TraceStore& rank,
                               const std::vector<TrackKind>& tracks) {
  const SliceKinds kinds(rank);
  const bool is_gpu = DetectPlatform(rank, tracks) == Platform::kGpu;
  const store::SliceTable& slices = rank.slices;
  std::vector<Task> tasks;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto track = static_cast<size_t>(slices.track[i]);
    if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
    if (is_gpu && !IsGpuWork(kinds[slices.category[i]])) continue;
    const Interval time{slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])};
    if (IsPlausible(time.begin_ns, time.end_ns))
      tasks.push_back({time, slices.correlation[i], slices.category[i]});
  }
  return tasks;
}

// Explains the gaps of one rank.
class GapAnalyst {
 public:
  GapAnalyst(const store::TraceStore& rank, bool compat)
      : rank_(rank), compat_(compat), tracks_(ClassifyTracks(rank)), dispatches_(rank, tracks_) {
    tasks_ = CollectTasks(rank, tracks_);
    if (DetectPlatform(rank, tracks_) == Platform::kGpu) words_ = {"runtime", "launch"};
    if (!compat) return;
    // A table of the reference holds times as doubles as soon as one of them is missing.
    for (const Task& task : tasks_) {
      rounds_operators_ |= !dispatches_.OperatorOf(task.correlation);
      rounds_apis_ |= !dispatches_.ApiOf(task.correlation);
    }
  }

  Gap Explain(Interval interval) const {
    Gap gap{interval.begin_ns, interval.end_ns, kNone, kNone, ""};
    gap.reason = RunningTasks(interval);
    if (gap.reason.empty()) CompareNeighbours(gap);
    return gap;
  }

 private:
  struct Words {
    std::string layer;
    std::string launch;
  };

  // "Device task running: ..."; empty if no task lies inside the gap.
  std::string RunningTasks(Interval gap) const {
    std::vector<Interval> inside;
    std::vector<std::pair<StringId, int64_t>> counts;  // in order of first appearance
    for (const Task& task : tasks_) {
      if (task.time.begin_ns <= gap.begin_ns || task.time.end_ns >= gap.end_ns) continue;
      inside.push_back(task.time);
      auto known = std::find_if(counts.begin(), counts.end(),
                                [&](const auto& count) { return count.first == task.type; });
      if (known == counts.end()) known = counts.insert(known, {task.type, 0});
      ++known->second;
    }
    if (inside.empty()) return "";
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [type, count] : counts) {
      text += (text.empty() ? "Device task running: " : ", ") + std::to_string(count) + " " +
              std::string(rank_.Text(type)) + " tasks";
    }
    const int64_t remaining_ns = LongestFree(inside, gap);
    if (remaining_ns == 0) return text + ".";
    return text + ", max remaining free " + UsWithPoint(remaining_ns) + " us";
  }

  static int64_t LongestFree(std::vector<Interval>& busy, Interval gap) {
    SortIntervals(busy);
    int64_t longest_ns = 0;
    ForEachPiece(busy, {}, gap, [&](PieceKind kind, Interval piece) {
      if (kind == PieceKind::kFree)
        longest_ns = std::max(longest_ns, piece.end_ns - piece.begin_ns);
    });
    return longest_ns;
  }

  // The last task that ends before the gap and the first that starts after it.
  std::pair<const Task*, const Task*> Neighbours(const Gap& gap) const {
    const Task* before = nullptr;
    const Task* after = nullptr;
    for (const Task& task : tasks_) {
      if (task.time.end_ns <= gap.begin_ns &&
          (before == nullptr || task.time.end_ns >= before->time.end_ns))
        before = &task;
      if (task.time.begin_ns >= gap.end_ns &&
          (after == nullptr || task.time.begin_ns < after->time.begin_ns))
        after = &task;
    }
    return {before, after};
  }

  std::optional<Interval> OperatorOf(const Task& task) const {
    const auto op = dispatches_.OperatorOf(task.correlation);
    // Operators' times are text in the db, of which 17 digits are read.
    constexpr int64_t kLostDigits = 100;
    if (!op || !rounds_operators_) return op;
    return Interval{ThroughDouble(op->begin_ns, kLostDigits),
                    ThroughDouble(op->end_ns, kLostDigits)};
  }
  std::optional<Interval> ApiOf(const Task& task) const {
    const auto api = dispatches_.ApiOf(task.correlation);
    if (!api || !rounds_apis_) return api;
    return Interval{ThroughDouble(api->begin_ns, 1), ThroughDouble(api->end_ns, 1)};
  }
  static int64_t ThroughDouble(int64_t ns, int64_t unit) {
    return static_cast<int64_t>(static_cast<double>(ns / unit) * static_cast<double>(unit));
  }

  // Whether the host was late to ask for the work behind the gap, or slow to pass it on.
  void CompareNeighbours(Gap& gap) const {
    const auto [before, after] = Neighbours(gap);
    if (before == nullptr || after == nullptr) {
      gap.reason = "Skip free analysis due to no prev or next task.";
      return;
    }
    const auto op_before = OperatorOf(*before);
    const auto op_after = OperatorOf(*after);
    if (!op_before || !op_after) {
      gap.reason = "Skip free analysis due to no pytorch dispatch time.";
      return;
    }
    gap.pytorch_idle_ns = op_after->end_ns - op_before->end_ns;
    const auto api_before = ApiOf(*before);
    const auto api_after = ApiOf(*after);
    if (!api_before || !api_after) {
      gap.reason = "Skip free analysis due to no " + words_.launch + " time.";
      return;
    }
    gap.cann_idle_ns = api_after->end_ns - api_before->end_ns;
    const int64_t wait_before_ns = api_before->begin_ns - op_before->end_ns;
    const int64_t wait_after_ns = api_after->begin_ns - op_after->end_ns;
    constexpr int64_t kLongerWaitNs = 50'000;
    if (gap.pytorch_idle_ns < 0 && !compat_) {
      gap.reason = "The next task was dispatched " + UsWithPoint(-gap.pytorch_idle_ns) +
                   " us before the previous one: it waited for another stream";
      return;
    }
    if (wait_after_ns - wait_before_ns < kLongerWaitNs) {
      gap.reason =
          "Idle Pytorch layer: no task dispatched in " + UsWithPoint(gap.pytorch_idle_ns) + " us";
      return;
    }
    gap.reason = SlowLaunch(*api_before, *api_after);
  }

  std::string SlowLaunch(Interval before, Interval after) const {
    const int64_t between_ns = after.begin_ns - before.end_ns;
    const int64_t launch_ns =
        std::max(before.end_ns - before.begin_ns, after.end_ns - after.begin_ns);
    const std::string text = "Abnormal " + words_.layer + " layer: long ";
    if (between_ns >= launch_ns)
      return text + "time between two " + words_.launch + " " + UsWithPoint(between_ns) + " us";
    return text + words_.launch + " " + UsWithPoint(launch_ns) + " us";
  }

  const store::TraceStore& rank_;
  bool compat_;
  std::vector<TrackKind> tracks_;
  Dispatches dispatches_;
  std::vector<Task> tasks_;
  Words words_{"CANN", "node@launch"};
  bool rounds_operators_ = false;
  bool rounds_apis_ = false;
};

class FreeAnalysis : public RecipeOf<Part> {
 public:
  explicit FreeAnalysis(const Options& options) : options_(options) {
    table_.AddColumn("rankId", CellType::kInt);
    table_.AddColumn("startTime(us)", CellType::kText);
    table_.AddColumn("endTime(us)", CellType::kText);
    for (const char* name : {"duration(us)", "pytorchIdleTime(us)", "cannIdleTime(us)"})
      table_.AddColumn(name, CellType::kDouble, 3);
    table_.AddColumn("reason", CellType::kText);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back({std::move(table_),
                             "free_analysis.csv",
                             {"Rank ID", "Start Time(us)", "End Time(us)", "Duration(us)",
                              "Pytorch Idle Time(us)", "Cann Idle Time(us)", "Reason"}});
    answer.Note(silent_ranks_, "{ranks} recorded no work of a device.");
    answer.suggestion = Message{"suggestion.free_analysis"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    constexpr int64_t kDefaultTop = 10;
    const StepWindow window = options_.compat ? StepWindow{} : FindStepWindow(rank, options_);
    std::vector<Interval> gaps = FindGaps(rank);
    Part part;
    part.has_device_work = rank.kernels.size() > 0 || !gaps.empty();
    std::erase_if(gaps, [&](const Interval& gap) { return !window.Contains(gap.begin_ns); });
    std::stable_sort(gaps.begin(), gaps.end(), [](const Interval& a, const Interval& b) {
      return SubtractSaturating(a.end_ns, a.begin_ns) > SubtractSaturating(b.end_ns, b.begin_ns);
    });
    gaps.resize(
        std::min(gaps.size(), static_cast<size_t>(options_.PositiveOr("top_num", kDefaultTop))));
    if (gaps.empty()) return part;
    const GapAnalyst analyst(rank, options_.compat);
    for (const Interval& gap : gaps) part.gaps.push_back(analyst.Explain(gap));
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (!part.has_device_work) ++silent_ranks_;
    const auto us = [](int64_t ns) {
      return ns == kNone ? std::numeric_limits<double>::quiet_NaN()
                         : static_cast<double>(ns) / 1000;
    };
    for (const Gap& gap : part.gaps) {
      table_.AppendInt(0, facts.rank);
      table_.AppendText(1, UsText(gap.begin_ns));
      table_.AppendText(2, UsText(gap.end_ns));
      table_.AppendDouble(3, us(SubtractSaturating(gap.end_ns, gap.begin_ns)));
      table_.AppendDouble(4, us(gap.pytorch_idle_ns));
      table_.AppendDouble(5, us(gap.cann_idle_ns));
      table_.AppendText(6, gap.reason);
    }
  }

 private:
  Options options_;
  table::Table table_{"FreeAnalysis"};  // grows rank by rank
  size_t silent_ranks_ = 0;
};

}  // namespace

RecipeSpec FreeAnalysisRecipe() {
  RecipeSpec spec;
  spec.name = "free_analysis";
  spec.folder = "FreeAnalysis";
  spec.summary = "The longest times in which a device had no work, and why";
  spec.needs.timeline = true;
  spec.options = {"top_num"};
  spec.make = MakeRecipe<FreeAnalysis>;
  return spec;
}

}  // namespace steplens::analysis::cluster
