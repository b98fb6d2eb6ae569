#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/advice/rules/beyond.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"

namespace steplens::analysis {
namespace {

constexpr size_t kFewestSteps = 5;
constexpr double kUnevenSteps = 0.05;  // deviation against the mean
constexpr double kOutlier = 1.2;       // of the median step
constexpr double kJitterCost = 0.03;   // of the step

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double DeviationOf(const std::vector<double>& times, double mean) {
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / static_cast<double>(times.size()));
}

bool IsUneven(const std::vector<double>& times) {
  const double mean =
      std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  return mean > 0 && DeviationOf(times, mean) >= kUnevenSteps * mean;
}

// One clock for all steps: a pause of the host is in one of its periods, but may begin in the
// device's period before. Of a host whose pauses the device hides nothing is said.
std::vector<double> TimesToJudge(const std::vector<StepTime>& steps) {
  const auto times = [&](int64_t StepTime::* ns) {
    std::vector<double> out;
    for (const StepTime& step : steps) {
      if (step.*ns != store::kNone) out.push_back(static_cast<double>(step.*ns));
    }
    return out;
  };
  std::vector<double> host = times(&StepTime::host_ns);
  std::vector<double> device = times(&StepTime::device_ns);
  if (device.size() == steps.size() && !IsUneven(device)) return {};
  if (host.size() == steps.size()) return host;
  return device.size() == steps.size() ? device : std::vector<double>{};
}

// The part of a step that grew most against the median of the others.
std::pair<std::string, double> GrownPart(const RankEvidence& rank, int64_t step) {
  const std::vector<std::pair<std::string, int64_t StepParts::*>> parts = {
      {"work.computing", &StepParts::computing_ns},
      {"work.exposed", &StepParts::comm_not_overlapped_ns},
      {"work.free", &StepParts::free_ns}};
  const std::vector<StepParts> rows = BreakDown(rank.view());
  std::pair<std::string, double> most{"work.free", 0};
  for (const auto& [name, member] : parts) {
    std::vector<double> others;
    double own = 0;
    for (const StepParts& row : rows) {
      if (row.step == step) {
        own += static_cast<double>(row.*member);
      } else {
        others.push_back(static_cast<double>(row.*member));
      }
    }
    const double grown = own - MedianOf(std::move(others));
    if (grown > most.second) most = {name, grown};
  }
  return most;
}

}  // namespace

std::vector<Finding> FindStepJitter(const RankEvidence& rank) {
  std::vector<StepTime> steps = StepTimesOf(rank.view());
  if (steps.size() < kFewestSteps + 1) return {};
  steps.pop_back();  // of the last one nobody knows when the next began
  const std::vector<double> times = TimesToJudge(steps);
  if (times.empty() || !IsUneven(times)) return {};
  const double median = MedianOf(times);
  if (median <= 0) return {};
  // Steps that are slow now and then; a first step that warms up is another matter.
  std::vector<size_t> slow;
  double extra_ns = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    if (times[i] < kOutlier * median) continue;
    slow.push_back(i);
    extra_ns += times[i] - median;
  }
  if (slow.empty() || extra_ns < kJitterCost * median * static_cast<double>(times.size()))
    return {};
  const size_t worst = *std::max_element(slow.begin(), slow.end(),
                                         [&](size_t a, size_t b) { return times[a] < times[b]; });
  const auto [part, grown_ns] = GrownPart(rank, steps[worst].step);
  Finding finding = rank.Make(RuleId::kStepJitter,
                              {"finding.step", {{"step", std::to_string(steps[worst].step)}}},
                              {"finding.step_jitter.reason",
                               {{"count", std::to_string(slow.size())},
                                {"steps", std::to_string(times.size())},
                                {"ratio", fmt::format("{:.1f}", times[worst] / median)},
                                {"part", Message{part}}}},
                              {"finding.step_jitter.advice"});
  const double extra_ms = extra_ns / 1e6 / static_cast<double>(times.size());
  finding.saving = Saving{.ms = std::nullopt, .at_most_ms = extra_ms};
  finding.confidence = Confidence::kEstimated;
  for (const StepRange& range : rank.view().steps()) {
    if (range.step == steps[worst].step)
      finding.places = {rank.PlaceOf({range.host_begin_ns, range.host_end_ns})};
  }
  finding.evidence = {
      {{"evidence.step_time",
        {{"time", SentenceTime(times[worst] / 1000)}, {"usual", SentenceTime(median / 1000)}}},
       fmt::format("SELECT * FROM step_times WHERE rank = {}", rank.rank())},
      {{"evidence.grown", {{"part", Message{part}}, {"time", SentenceTime(grown_ns / 1000)}}},
       fmt::format("SELECT * FROM breakdown WHERE rank = {}", rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
