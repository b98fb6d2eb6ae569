#include "analysis/advice/rules/frequency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/advice/rules/chip_cores.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// Which tracks are series of the AI Core's clock.
std::vector<bool> FrequencyTracks(const store::TraceStore& store) {
  std::vector<bool> is_frequency(store.tracks.size(), false);
  for (size_t t = 0; t < store.tracks.size(); ++t) {
    const auto parent = static_cast<size_t>(store.tracks.parent[t]);
    const std::string_view process =
        parent < store.tracks.size() ? store.Text(store.tracks.name[parent]) : std::string_view();
    is_frequency[t] = store.Text(store.tracks.name[t]).starts_with("AI Core Freq") ||
                      process.starts_with("AI Core Freq");
  }
  return is_frequency;
}

struct ClockSample {
  int64_t ts_ns = 0;
  double mhz = 0;
};

// The first series, by time.
std::vector<ClockSample> ClockSamples(const store::TraceStore& store) {
  const std::vector<bool> is_frequency = FrequencyTracks(store);
  std::vector<ClockSample> out;
  auto series = store::kNoTrack;
  for (size_t i = 0; i < store.counters.size(); ++i) {
    const store::TrackId track = store.counters.track[i];
    const auto t = static_cast<size_t>(track);
    if (t >= is_frequency.size() || !is_frequency[t]) continue;
    if (series == store::kNoTrack) series = track;
    if (track == series && std::isfinite(store.counters.value[i]))
      out.push_back({store.counters.ts_ns[i], store.counters.value[i]});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ClockSample& a, const ClockSample& b) { return a.ts_ns < b.ts_ns; });
  return out;
}

// The mean clock of an interval, weighted by time; a sample counts until the next one. NaN before
// the first sample.
double MeanClock(const std::vector<ClockSample>& samples, Interval times) {
  auto at = std::upper_bound(
      samples.begin(), samples.end(), times.begin_ns,
      [](int64_t ts_ns, const ClockSample& sample) { return ts_ns < sample.ts_ns; });
  if (at == samples.begin()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  int64_t from_ns = times.begin_ns;
  for (; at != samples.end() && at->ts_ns < times.end_ns; ++at) {
    sum += std::prev(at)->mhz * static_cast<double>(at->ts_ns - from_ns);
    from_ns = at->ts_ns;
  }
  if (times.end_ns <= times.begin_ns) return std::prev(at)->mhz;
  sum += std::prev(at)->mhz * static_cast<double>(times.end_ns - from_ns);
  return sum / static_cast<double>(times.end_ns - times.begin_ns);
}

// Kernels of one name and the clock they ran at.
struct KernelClock {
  int64_t count = 0;
  int64_t sum_ns = 0;
  double mhz_sum = 0;
  double high = 0;
  double low = 0;
};

bool RunsOnAiCore(std::string_view task_type) {
  return task_type == "AI_CORE" || task_type == "AI_VECTOR_CORE" || task_type == "MIX_AIC" ||
         task_type == "MIX_AIV";
}

// Names of kernels that ran at a clock well below the rated one, those that take longest first.
table::Table SlowKernelTable(const RankEvidence& rank, double rated_mhz) {
  const store::TraceStore& store = rank.store();
  const std::vector<ClockSample> samples = ClockSamples(store);
  TextMemo runs_on_ai_core(store, RunsOnAiCore);
  std::map<StringId, KernelClock> by_name;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (!runs_on_ai_core(store.slices.category[i])) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    const double mhz = MeanClock(samples, {begin_ns, EndNs(begin_ns, store.slices.dur_ns[i])});
    if (!std::isfinite(mhz) || !rank.IsInSteps(begin_ns)) continue;
    KernelClock& clock = by_name[store.slices.name[i]];
    clock.high = clock.count == 0 ? mhz : std::max(clock.high, mhz);
    clock.low = clock.count == 0 ? mhz : std::min(clock.low, mhz);
    ++clock.count;
    clock.sum_ns = AddNs(clock.sum_ns, store.slices.dur_ns[i]);
    clock.mhz_sum += mhz;
  }
  std::vector<std::pair<StringId, KernelClock>> slow;
  for (const auto& one : by_name) {
    const double mean = one.second.mhz_sum / static_cast<double>(one.second.count);
    if (rated_mhz > 0 && 1 - mean / rated_mhz >= rank.thresholds().frequency_drop)
      slow.push_back(one);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const auto& a, const auto& b) { return a.second.sum_ns > b.second.sum_ns; });
  TableRows rows(
      rank.DetailName(RuleId::kFrequency),
      {TextColumn("Operator name"), IntColumn("Count"), TimeColumn("Total duration(us)"),
       NumberColumn("AI CORE frequency decreased ratio", 4), NumberColumn("Average frequency", 1),
       NumberColumn("Max frequency", 1), NumberColumn("Min frequency", 1)});
  for (const auto& [name, clock] : slow) {
    const double mean = clock.mhz_sum / static_cast<double>(clock.count);
    rows.Add(store.Text(name), clock.count, clock.sum_ns, RoundTo(1 - mean / rated_mhz, 4), mean,
             clock.high, clock.low);
  }
  return rows.Take();
}

}  // namespace

std::vector<FrequencyRange> ListFrequencies(const store::TraceStore& store,
                                            const std::function<bool(int64_t)>& counts) {
  struct Range {
    double high = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();
    Interval lowest{};
    bool is_open = false;  // the sample after the lowest one is still to come
  };
  std::map<size_t, Range> series;  // by track
  const std::vector<bool> is_frequency = FrequencyTracks(store);
  for (size_t i = 0; i < store.counters.size(); ++i) {
    const auto t = static_cast<size_t>(store.counters.track[i]);
    if (t >= is_frequency.size() || !is_frequency[t]) continue;
    const int64_t ts_ns = store.counters.ts_ns[i];
    const double mhz = store.counters.value[i];
    Range& range = series[t];
    if (range.is_open && ts_ns > range.lowest.begin_ns) {
      range.lowest.end_ns = ts_ns;
      range.is_open = false;
    }
    if (counts && !counts(ts_ns)) continue;
    range.high = std::fmax(range.high, mhz);
    if (mhz >= range.low || std::isnan(mhz)) continue;
    range.low = std::fmin(range.low, mhz);
    range.lowest = {ts_ns, AddNs(ts_ns, 1)};
    range.is_open = true;
  }
  std::vector<FrequencyRange> out;
  for (const auto& [t, range] : series) {
    const double drop =
        range.high > 0 ? std::trunc(100 * (range.high - range.low) / range.high) : 0;
    out.push_back({t, range.high, range.low, drop, drop > 5, range.lowest});
  }
  return out;
}

std::vector<Finding> FindFrequencyDrops(const RankEvidence& rank) {
  const auto in_steps = [&](int64_t ts_ns) { return rank.IsInSteps(ts_ns); };
  for (const FrequencyRange& range : ListFrequencies(rank.store(), in_steps)) {
    if (!range.is_issue) continue;
    Finding finding = rank.Make(
        RuleId::kFrequency, {"finding.frequency"},
        {"finding.frequency.reason", {{"percent", fmt::format("{:.0f}", range.drop_percent)}}},
        {"finding.frequency.advice"});
    // What all computing at the lowest clock would lose.
    const double lost_ns =
        static_cast<double>(rank.times().computing_ns) * range.drop_percent / 100;
    finding.saving = rank.AtMost(static_cast<int64_t>(lost_ns), rank.times().computing_ns);
    finding.confidence = Confidence::kEstimated;
    finding.effort = Effort::kHardware;
    finding.least_priority = Priority::kMedium;
    finding.places = {rank.PlaceOf(range.lowest)};
    const double rated_mhz = ChipOf(rank).mhz;
    finding.details = {SlowKernelTable(rank, rated_mhz > 0 ? rated_mhz : range.high_mhz)};
    finding.evidence = {{{"evidence.frequency",
                          {{"high", fmt::format("{:.0f}", range.high_mhz)},
                           {"low", fmt::format("{:.0f}", range.low_mhz)}}},
                         fmt::format("SELECT min(value), max(value) FROM counters WHERE rank = {} "
                                     "AND track_id = {}",
                                     rank.rank(), range.track)}};
    return {finding};
  }
  return {};
}

}  // namespace steplens::analysis
