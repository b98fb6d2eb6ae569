#include "analysis/advice/rules/frequency.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "analysis/advice/rules/rules.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

std::vector<FrequencyRange> ListFrequencies(const store::TraceStore& store,
                                            const std::function<bool(int64_t)>& counts) {
  struct Range {
    double high = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();
    Interval lowest{};
    bool is_open = false;  // the sample after the lowest one is still to come
  };
  std::map<size_t, Range> series;  // by track
  std::vector<bool> is_frequency(store.tracks.size(), false);
  for (size_t t = 0; t < store.tracks.size(); ++t) {
    const auto parent = static_cast<size_t>(store.tracks.parent[t]);
    const std::string_view process =
        parent < store.tracks.size() ? store.Text(store.tracks.name[parent]) : std::string_view();
    is_frequency[t] = store.Text(store.tracks.name[t]).starts_with("AI Core Freq") ||
                      process.starts_with("AI Core Freq");
  }
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
    finding.places = {rank.PlaceOf(range.lowest)};
    finding.evidence = {{{"evidence.frequency",
                          {{"high", fmt::format("{:.0f}", range.high_mhz)},
                           {"low", fmt::format("{:.0f}", range.low_mhz)}}},
                         fmt::format("SELECT min(value), max(value) FROM counters WHERE rank = {} "
                                     "AND track = {}",
                                     rank.rank(), range.track)}};
    return {finding};
  }
  return {};
}

}  // namespace steplens::analysis
