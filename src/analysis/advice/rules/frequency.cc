#include "analysis/advice/rules/frequency.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "analysis/advice/rules/rules.h"

namespace steplens::analysis {

std::vector<FrequencyRange> ListFrequencies(const store::TraceStore& store) {
  struct Range {
    double high = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();
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
    Range& range = series[t];
    range.high = std::fmax(range.high, store.counters.value[i]);
    range.low = std::fmin(range.low, store.counters.value[i]);
  }
  std::vector<FrequencyRange> out;
  for (const auto& [t, range] : series) {
    const double drop =
        range.high > 0 ? std::trunc(100 * (range.high - range.low) / range.high) : 0;
    out.push_back({t, range.high, range.low, drop, drop > 5});
  }
  return out;
}

std::vector<Finding> FindFrequencyDrops(const RankEvidence& rank) {
  for (const FrequencyRange& range : ListFrequencies(rank.store())) {
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
