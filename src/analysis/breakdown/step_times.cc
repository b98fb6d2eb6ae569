#include "analysis/breakdown/step_times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNone;

// Ranks without a timeline; rows of the devices of a step are one step.
std::vector<StepTime> FromStepTable(const store::StepTraceTable& traces) {
  constexpr double kAbsurdUs = 1e15;  // thirty years
  std::vector<StepTime> out;
  for (size_t i = 0; i < traces.size(); ++i) {
    const double us =
        traces.stage_us[i] + (std::isnan(traces.bubble_us[i]) ? 0 : traces.bubble_us[i]);
    if (traces.step[i] == kNone || !(std::fabs(us) < kAbsurdUs)) continue;
    const auto ns = static_cast<int64_t>(std::llround(us * 1000));
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const StepTime& one) { return one.step == traces.step[i]; });
    if (same == out.end()) {
      out.push_back({traces.step[i], kNone, ns});
    } else {
      same->device_ns = std::max(same->device_ns, ns);
    }
  }
  return out;
}

}  // namespace

std::vector<std::optional<Interval>> WorkOfSteps(const RankView& rank) {
  const std::vector<StepRange>& steps = rank.steps();
  std::vector<std::optional<Interval>> hulls(steps.size());
  for (const DeviceWork& work : rank.device_work()) {
    for (const auto* list : {&work.compute, &work.communication, &work.memory}) {
      StepFinder finder(steps);
      for (const Interval& in : *list) {
        const auto step = finder.Find(in.begin_ns);
        if (!step) continue;
        Interval& hull = hulls[*step] ? *hulls[*step] : hulls[*step].emplace(in);
        hull.begin_ns = std::min(hull.begin_ns, in.begin_ns);
        hull.end_ns = std::max(hull.end_ns, in.end_ns);
      }
    }
  }
  return hulls;
}

std::vector<StepTime> StepTimesOf(const RankView& rank) {
  const std::vector<StepRange>& steps = rank.steps();
  if (rank.store().slices.size() == 0) return FromStepTable(rank.store().step_traces);
  const std::vector<std::optional<Interval>> work = WorkOfSteps(rank);
  std::vector<StepTime> out;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool is_last = i + 1 == steps.size();
    StepTime& time = out.emplace_back();
    time.step = steps[i].step;
    time.host_ns =
        (is_last ? steps[i].host_end_ns : steps[i + 1].host_begin_ns) - steps[i].host_begin_ns;
    if (!work[i]) continue;
    const bool has_next = !is_last && work[i + 1] && work[i + 1]->begin_ns > work[i]->begin_ns;
    time.device_ns = (has_next ? work[i + 1]->begin_ns : work[i]->end_ns) - work[i]->begin_ns;
  }
  return out;
}

StepTime MeanStepTime(const std::vector<StepTime>& steps) {
  // Rows of a step table are whole steps, the last one, too.
  const bool has_marks = !steps.empty() && steps.front().host_ns != kNone;
  const std::span<const StepTime> periods(steps.data(),
                                          steps.size() - (has_marks && steps.size() > 1 ? 1 : 0));
  const auto mean = [&](int64_t StepTime::* ns) {
    int64_t sum_ns = 0;
    int64_t count = 0;
    for (const StepTime& step : periods) {
      if (step.*ns == kNone) continue;
      sum_ns = AddNs(sum_ns, step.*ns);
      ++count;
    }
    return count == 0 ? kNone : DivideNs(sum_ns, count);
  };
  return {kNone, mean(&StepTime::host_ns), mean(&StepTime::device_ns)};
}

table::Table StepTimeTable(const store::Job& job) {
  table::Table table("step_times");
  table.AddColumn("Rank", table::CellType::kInt);
  table.AddColumn("Step", table::CellType::kInt);
  for (const char* name : {"Step Time(us)", "Host(us)", "Device(us)"})
    table.AddColumn(name, table::CellType::kTimeUs);
  for (const store::TraceStore& store : job.ranks) {
    const RankView rank(store);
    std::vector<StepTime> steps = StepTimesOf(rank);
    if (steps.empty()) continue;
    steps.push_back(MeanStepTime(steps));
    for (const StepTime& step : steps) {
      table.AppendInt(0, rank.rank());
      table.AppendInt(1, step.step);
      table.AppendInt(2, step.ns());
      table.AppendInt(3, step.host_ns);
      table.AppendInt(4, step.device_ns);
    }
  }
  return table;
}

}  // namespace steplens::analysis
