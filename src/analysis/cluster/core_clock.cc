#include "analysis/cluster/core_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/cluster/device_time.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

struct ClockSample {
  int64_t ts_ns = 0;
  int64_t mhz = 0;
};

// The samples of each device of a rank, in time order.
std::map<store::TrackId, std::vector<ClockSample>> CollectClockSamples(
    const store::TraceStore& rank) {
  std::map<store::TrackId, std::vector<ClockSample>> samples;
  const auto series = rank.strings.Find("AI Core Freq");
  if (!series) return samples;
  const store::CounterTable& counters = rank.counters;
  for (size_t i = 0; i < counters.size(); ++i) {
    const auto track = static_cast<size_t>(counters.track[i]);
    if (track >= rank.tracks.size() || rank.tracks.name[track] != *series) continue;
    const double mhz = counters.value[i];
    if (mhz > 0 && mhz < 1e6 && IsPlausible(counters.ts_ns[i], counters.ts_ns[i]))
      samples[counters.track[i]].push_back({counters.ts_ns[i], std::lround(mhz)});
  }
  for (auto& [track, list] : samples) {
    std::stable_sort(list.begin(), list.end(),
                     [](const ClockSample& a, const ClockSample& b) { return a.ts_ns < b.ts_ns; });
  }
  return samples;
}

// How much of an interval is covered.
int64_t CoveredNs(const std::vector<Interval>& runs, const Interval& by) {
  auto run =
      std::lower_bound(runs.begin(), runs.end(), by.begin_ns,
                       [](const Interval& in, int64_t begin_ns) { return in.end_ns <= begin_ns; });
  int64_t covered_ns = 0;
  for (; run != runs.end() && run->begin_ns < by.end_ns; ++run)
    covered_ns =
        AddNs(covered_ns, std::min(run->end_ns, by.end_ns) - std::max(run->begin_ns, by.begin_ns));
  return covered_ns;
}

}  // namespace

ClockTimes MeasureClock(const store::TraceStore& rank, const StepWindow& window) {
  ClockTimes times;
  const auto samples_of = CollectClockSamples(rank);
  if (samples_of.empty()) return times;
  const int64_t last_ns = std::min(store::ComputeExtent(rank).end_ns, kLatestNs);
  const std::vector<Interval> computing = UnionOf(ComputingTimes(rank));
  for (const auto& [track, samples] : samples_of) {
    for (size_t i = 0; i < samples.size(); ++i) {
      // A frequency holds until the next sample.
      const int64_t next_ns = i + 1 < samples.size() ? samples[i + 1].ts_ns : last_ns;
      const Interval at{std::max(samples[i].ts_ns, window.begin_ns),
                        std::min(std::max(next_ns, samples[i].ts_ns), window.end_ns)};
      if (at.begin_ns > at.end_ns) continue;
      int64_t& all_ns = times.all_ns[samples[i].mhz];
      all_ns = AddNs(all_ns, at.end_ns - at.begin_ns);
      int64_t& computing_ns = times.computing_ns[samples[i].mhz];
      computing_ns = AddNs(computing_ns, CoveredNs(computing, at));
    }
  }
  return times;
}

double MeanMhz(const std::map<int64_t, int64_t>& ns_at_mhz) {
  double all_ns = 0;
  double cycles = 0;
  for (const auto& [mhz, ns] : ns_at_mhz) {
    all_ns += static_cast<double>(ns);
    cycles += static_cast<double>(ns) * static_cast<double>(mhz);
  }
  return all_ns > 0 ? cycles / all_ns : 0;
}

}  // namespace steplens::analysis::cluster
