#include "analysis/compare/runs/rank_calls.h"

#include <fmt/format.h>

#include <optional>

#include "analysis/collectives/call_times.h"
#include "analysis/collectives/job_call_times.h"
#include "analysis/compare/call_groups.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::runs {
namespace {

// "hcom_allReduce__586_0_1" -> "allReduce"; of other libraries the name as it is.
std::string TypeOf(std::string_view name) {
  const size_t number = name.find("__");
  if (number != std::string_view::npos) name = name.substr(0, number);
  if (name.starts_with("hcom_")) name.remove_prefix(5);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

class CallSums {
 public:
  CallSums(const store::TraceStore& store, const cluster::RankFacts& facts, SummarySteps& steps)
      : store_(store),
        steps_(steps),
        groups_(store, facts),
        collectives_(RowKind::kCollective, steps.size()),
        by_group_(RowKind::kGroup, steps.size()) {
    calls_.wait_ns.resize(steps.size(), store::kNone);
  }

  RankCalls Sum() {
    store_.comm_times.size() > 0 ? AddResults() : AddTimeline();
    collectives_.MoveTo(calls_.rows);
    by_group_.MoveTo(calls_.rows);
    return std::move(calls_);
  }

 private:
  void Add(StringId name, StringId group, size_t step, int64_t dur_ns) {
    const CallGroup& of = groups_.Of(group);
    collectives_.Add(fmt::format("{} ({})", TypeOf(store_.Text(name)), of.kind), step, dur_ns);
    by_group_.Add(of.name, step, dur_ns);
  }

  void AddWait(size_t step, int64_t wait_ns) {
    if (wait_ns == store::kNone) return;
    int64_t& sum_ns = calls_.wait_ns[step];
    sum_ns = AddNs(sum_ns == store::kNone ? 0 : sum_ns, wait_ns);
  }

  void AddResults() {
    const store::CommTimeTable& times = store_.comm_times;
    for (size_t i = 0; i < times.size(); ++i) {
      if (store_.Text(times.op_name[i]).starts_with("Total")) continue;
      std::string_view text = store_.Text(times.step[i]);
      if (text.starts_with("step")) text.remove_prefix(4);
      const std::optional<int64_t> number = ParseInt64(text);
      const std::optional<size_t> step =
          number ? steps_.OfNumber(*number)
                 : steps_.OfDeviceTime(NsOfResult(times.start_us[i] / 1000));
      if (!step) continue;
      Add(times.op_name[i], times.group_name[i], *step, NsOfResult(times.elapse_ms[i]));
      // A record that gives all time to the transfer was written without a look at tasks.
      const int64_t wait_ns = NsOfResult(times.wait_ms[i]);
      const int64_t transit_ns = NsOfResult(times.transit_ms[i]);
      if (wait_ns > 0 || transit_ns > 0) AddWait(*step, wait_ns);
    }
  }

  void AddTimeline() {
    const store::CommOpTable& ops = store_.comm_ops;
    const std::vector<std::optional<RecordedTimes>> recorded = RecordedCalls(store_);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.begin_ns[i] == store::kNone || ops.dur_ns[i] == store::kNone) continue;
      const std::optional<size_t> step = steps_.OfDeviceTime(ops.begin_ns[i]);
      if (!step) continue;
      Add(ops.name[i], ops.group_name[i], *step, ops.dur_ns[i]);
      if (recorded[i]) AddWait(*step, recorded[i]->wait_ns);
    }
  }

  const store::TraceStore& store_;
  SummarySteps& steps_;
  CallGroups groups_;
  StepRows collectives_;
  StepRows by_group_;
  RankCalls calls_;
};

}  // namespace

RankCalls SumCalls(const store::TraceStore& store, const cluster::RankFacts& facts,
                   SummarySteps& steps) {
  return CallSums(store, facts, steps).Sum();
}

}  // namespace steplens::analysis::runs
