#include "analysis/explain/free_causes.h"

#include <algorithm>
#include <span>

#include "analysis/cells.h"
#include "analysis/explain/explain.h"

namespace steplens::analysis {
namespace {

bool IsCause(std::string_view key) {
  return key == "gap.host_bound" || key == "gap.communication" || key == "gap.dependency" ||
         key == "gap.launch" || key == "gap.unknown";
}

}  // namespace

FreeCauses FindFreeCauses(const store::Job& job, uint32_t rank_index, std::vector<Interval> gaps) {
  constexpr size_t kMostLooks = 20'000'000;
  const size_t slices = std::max<size_t>(1, job.ranks[rank_index].slices.size());
  const size_t affordable = std::clamp<size_t>(kMostLooks / slices, 3, 100);
  std::stable_sort(gaps.begin(), gaps.end(), [](const Interval& x, const Interval& y) {
    return x.end_ns - x.begin_ns > y.end_ns - y.begin_ns;
  });
  const std::vector<Result<Explanation>> explained = ExplainGaps(
      job, rank_index, store::kNoTrack, std::span(gaps).first(std::min(affordable, gaps.size())));
  FreeCauses out;
  std::map<std::string, int64_t> most_ns;
  for (size_t i = 0; i < gaps.size(); ++i) {
    double rest_us = NsToUs(gaps[i].end_ns - gaps[i].begin_ns);
    if (i < explained.size()) {
      const Result<Explanation>& why = explained[i];
      for (const Evidence& item : why.ok() ? why->items : std::vector<Evidence>{}) {
        const std::string& key = item.wording.key;
        if (!IsCause(key)) continue;
        out.cause_us[key] += NsToUs(item.ns);
        rest_us -= NsToUs(item.ns);
        if (item.ns <= most_ns[key]) continue;
        most_ns[key] = item.ns;
        out.longest[key] = gaps[i];
      }
    }
    constexpr double kNanosecondUs = 0.001;
    if (rest_us >= kNanosecondUs) out.cause_us["gap.short"] += rest_us;
  }
  return out;
}

}  // namespace steplens::analysis
