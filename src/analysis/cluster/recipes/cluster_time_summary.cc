#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

#include "analysis/breakdown/breakdown.h"
#include "analysis/classify/device_work.h"
#include "analysis/cluster/recipes/cluster_time_columns.h"
#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/memory_time.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;
using table::CellType;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// One step of one rank, in microseconds.
struct StepFigures {
  double step_us = kNotKnown;
  double computing_us = kNotKnown;
  double comm_not_overlapped_us = kNotKnown;
  double overlapped_us = kNotKnown;
  double communication_us = kNotKnown;
  double free_us = kNotKnown;      // neither of them: copies included
  double wait_us = kNotKnown;      // as communication results have it
  double transmit_us = kNotKnown;  // likewise
  double copies_us = kNotKnown;
  double copies_alone_us = kNotKnown;  // while neither computation nor communication ran
  std::vector<CommCall> calls;         // where wait and transmit have to be found out by comparison

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step_us, computing_us, comm_not_overlapped_us, overlapped_us, communication_us, free_us,
            wait_us, transmit_us, copies_us, copies_alone_us, calls);
  }
};

struct Part {
  std::map<int64_t, StepFigures> steps;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(steps);
  }
};

double UsOf(int64_t ns) { return static_cast<double>(ns) / 1000; }

void AddStepTimes(const TraceStore& rank, bool compat, Part& part) {
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    if (!IsPlausible(rank.steps.begin_ns[i], rank.steps.end_ns[i])) continue;
    part.steps[rank.steps.step[i]].step_us = UsOf(rank.steps.end_ns[i] - rank.steps.begin_ns[i]);
  }
  // The reference lists a rank without steps in any case.
  if (rank.steps.size() == 0 && compat) part.steps[kNoStep];
}

// The step trace the collector delivered.
void AddStepTraces(const TraceStore& rank, Part& part) {
  const store::StepTraceTable& traces = rank.step_traces;
  for (size_t i = 0; i < traces.size(); ++i) {
    StepFigures& step = part.steps[traces.step[i] == kNone ? kNoStep : traces.step[i]];
    step.computing_us = traces.computing_us[i];
    step.comm_not_overlapped_us = traces.comm_not_overlapped_us[i];
    step.overlapped_us = traces.overlapped_us[i];
    step.communication_us = traces.communication_us[i];
    step.free_us = traces.free_us[i];
  }
}

// The same figures from the timeline, for captures without a step trace.
void AddBreakdown(const TraceStore& rank, Part& part) {
  const RankView view(rank);
  for (const StepParts& parts : BreakDown(view)) {
    StepFigures& step = part.steps[parts.step == kNone ? kNoStep : parts.step];
    step.computing_us = UsOf(parts.computing_ns);
    step.comm_not_overlapped_us = UsOf(parts.comm_not_overlapped_ns);
    step.overlapped_us = UsOf(parts.overlapped_ns);
    step.communication_us = UsOf(parts.communication_ns);
    step.free_us = UsOf(parts.free_ns);
    if (view.platform() != Platform::kGpu) continue;
    // Of a GPU, the breakdown tells copies from free time.
    step.free_us = UsOf(parts.free_ns + parts.memory_ns);
    step.copies_alone_us = UsOf(parts.memory_ns);
  }
}

// Copies are seen on the timeline only.
void AddCopies(const TraceStore& rank, const std::map<int64_t, MemoryTime>& times, Part& part) {
  if (rank.slices.size() == 0) return;
  for (const auto& [step, time] : times) part.steps.try_emplace(step);
  for (auto& [step, figures] : part.steps) {
    const auto found = times.find(step);
    const MemoryTime time = found == times.end() ? MemoryTime{} : found->second;
    figures.copies_us = UsOf(time.total_ns);
    if (std::isnan(figures.copies_alone_us)) figures.copies_alone_us = UsOf(time.alone_ns);
  }
}

// Wait and transmit as communication.json and CommAnalyzerTime have them.
void AddCommunicationResults(const TraceStore& rank, Part& part) {
  constexpr double kUsPerMs = 1000;
  const store::CommTimeTable& times = rank.comm_times;
  for (size_t i = 0; i < times.size(); ++i) {
    if (rank.Text(times.op_name[i]).starts_with("Total")) continue;
    std::string_view text = rank.Text(times.step[i]);
    if (text.starts_with("step")) text.remove_prefix(4);
    StepFigures& step = part.steps[ParseInt64(text).value_or(kNoStep)];
    if (std::isnan(step.wait_us)) step.wait_us = step.transmit_us = 0;
    step.wait_us += times.wait_ms[i] * kUsPerMs;
    step.transmit_us += times.transit_ms[i] * kUsPerMs;
  }
}

// The same call as its members see it: ranks are counted, the shortest time is the transmission.
struct CallFacts {
  int64_t transmit_ns = std::numeric_limits<int64_t>::max();
  size_t ranks = 0;
};

// "20240131235959", for the csv file the reference names after the moment it is written.
std::string UtcStamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

class ClusterTimeSummary : public RecipeOf<Part> {
 public:
  explicit ClusterTimeSummary(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    Answer answer;
    ResultTable result{table::Table("ClusterTimeSummary")};
    result.table.AddColumn("rank", CellType::kInt);
    result.table.AddColumn("step", CellType::kInt);
    for (const TimeColumn& column : kTimeColumns)
      result.table.AddColumn(column.name, CellType::kDouble);
    // The reference takes the groups from communication results and gives up without any.
    if (!options_.compat || has_results_) {
      for (const RankSteps& rank : ranks_) AppendRank(rank, result.table);
    }
    result.csv_name = options_.compat ? fmt::format("cluster_time_summary_{}.csv", UtcStamp())
                                      : "cluster_time_summary.csv";
    result.csv_headers = {"Rank", "Step"};
    for (const TimeColumn& column : kTimeColumns) result.csv_headers.emplace_back(column.header);
    answer.tables.push_back(std::move(result));
    if (unknown_ > 0) {
      answer.notes.push_back(fmt::format(
          "wait and transmit times of {} steps are not known: the captures have no communication "
          "results, and members of their groups are missing",
          unknown_));
    }
    answer.suggestion = Message{"suggestion.cluster_time_summary"};
    return answer;
  }

 protected:
  Part MapWithFacts(const TraceStore& rank, const RankFacts& facts) const override {
    Part part;
    AddStepTimes(rank, options_.compat, part);
    AddStepTraces(rank, part);
    if (rank.step_traces.size() == 0 && !options_.compat) AddBreakdown(rank, part);
    const HostCalls host(rank);
    const StepWindow window = FindStepWindow(rank, options_);
    if (options_.compat || rank.comm_times.size() == 0) {
      for (CommCall& call : CollectCommCalls(rank, facts, host, options_)) {
        if (call.step != kNone) part.steps[call.step].calls.push_back(std::move(call));
      }
    } else {
      AddCommunicationResults(rank, part);
    }
    AddCopies(
        rank,
        options_.compat ? MemoryTimesAsReference(rank, host, window) : MemoryTimes(rank, host),
        part);
    if (options_.step)
      std::erase_if(part.steps, [&](const auto& one) { return one.first != *options_.step; });
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    has_results_ = has_results_ || facts.has_communication_results;
    for (const auto& [id, size] : SizesByMetadata(facts)) group_sizes_[groups_.Find(id)] = size;
    RankSteps& rank = ranks_.emplace_back();
    rank.rank = facts.rank;
    for (auto& [number, figures] : part.steps) {
      Step& step = rank.steps.emplace_back();
      step.number = number;
      for (CommCall& call : figures.calls) {
        Key key = KeyOf(facts, call);
        std::get<0>(key) = groups_.Find(call.group);
        const auto place = calls_.try_emplace(std::move(key)).first;
        place->second.transmit_ns = std::min(place->second.transmit_ns, call.dur_ns);
        ++place->second.ranks;
        step.own_ns = AddNs(step.own_ns, call.dur_ns);
        step.calls.push_back(&*place);
      }
      figures.calls = {};
      step.figures = std::move(figures);
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;  // group, operator, step
  using CallMap = std::map<Key, CallFacts>;
  struct Step {
    int64_t number = 0;
    StepFigures figures;
    int64_t own_ns = 0;                             // its calls together
    std::vector<const CallMap::value_type*> calls;  // of calls_
  };
  struct RankSteps {
    int64_t rank = 0;
    std::vector<Step> steps;
  };

  // A send and its receive are one call: in a group of two, what one sends the other receives.
  Key KeyOf(const RankFacts& facts, const CommCall& call) const {
    if (options_.compat || !IsPointToPoint(call.name)) return {call.group, call.name, call.step};
    const auto group = std::find_if(facts.groups.begin(), facts.groups.end(),
                                    [&](const GroupFact& one) { return one.id == call.group; });
    const size_t counter = call.name.find("__");
    if (group == facts.groups.end() || group->ranks.size() != 2 || counter == call.name.npos)
      return {call.group, call.name, call.step};
    const std::vector<int64_t> members = group->ranks.ranks();
    const int64_t other = members[members[0] == facts.rank ? 1 : 0];
    const int64_t sender = call.name.find("receive") == call.name.npos ? facts.rank : other;
    return {call.group, fmt::format("from {}{}", sender, call.name.substr(counter)), call.step};
  }

  bool IsComplete(const CallMap::value_type& call) const {
    const auto size = group_sizes_.find(std::get<0>(call.first));
    return options_.compat || (size != group_sizes_.end() && call.second.ranks == size->second);
  }

  // By comparison of the ranks, if every member of every call is there.
  void CompareCalls(Step& step) {
    if (!std::isnan(step.figures.transmit_us) || step.calls.empty()) return;
    int64_t transmit_ns = 0;
    for (const CallMap::value_type* call : step.calls) {
      if (!IsComplete(*call)) {
        ++unknown_;
        return;
      }
      transmit_ns = AddNs(transmit_ns, call->second.transmit_ns);
    }
    const bool is_alone = options_.compat && ranks_.size() == 1;
    step.figures.transmit_us = is_alone ? 0 : UsOf(transmit_ns);
    step.figures.wait_us = is_alone ? 0 : UsOf(SubtractSaturating(step.own_ns, transmit_ns));
  }

  void AppendRank(RankSteps rank, table::Table& table) {
    for (Step& step : rank.steps) {
      CompareCalls(step);
      AppendStep(rank.rank, step, table);
    }
  }

  void AppendStep(int64_t rank, const Step& step, table::Table& table) const {
    const StepFigures& figures = step.figures;
    const double step_us =
        std::isnan(figures.step_us)
            ? figures.computing_us + figures.comm_not_overlapped_us + figures.free_us
            : figures.step_us;
    const double copies_alone_us =
        std::isnan(figures.copies_alone_us) ? 0 : figures.copies_alone_us;
    const double values[] = {step_us,
                             figures.computing_us,
                             figures.comm_not_overlapped_us,
                             figures.overlapped_us,
                             figures.communication_us,
                             figures.free_us - copies_alone_us,
                             figures.wait_us,
                             figures.transmit_us,
                             figures.copies_us,
                             figures.copies_alone_us};
    table.AppendInt(0, rank);
    table.AppendInt(1, step.number);
    size_t column = 2;
    for (const double value : values)
      table.AppendDouble(column++, options_.compat && std::isnan(value) ? 0 : value);
  }

  Options options_;
  CallMap calls_;
  GroupSpellings groups_;
  std::map<std::string, size_t> group_sizes_;
  std::vector<RankSteps> ranks_;
  bool has_results_ = false;
  int64_t unknown_ = 0;  // steps without wait and transmit
};

}  // namespace

RecipeSpec ClusterTimeSummaryRecipe() {
  RecipeSpec spec;
  spec.name = "cluster_time_summary";
  spec.folder = "ClusterTimeSummary";
  spec.summary = "Where the time of each step of each rank went";
  spec.needs.timeline = true;
  spec.needs.communication = true;
  spec.make = MakeRecipe<ClusterTimeSummary>;
  return spec;
}

}  // namespace steplens::analysis::cluster
