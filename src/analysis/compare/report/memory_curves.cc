#include "analysis/compare/report/memory_curves.h"

#include <algorithm>
#include <limits>

#include "analysis/cells.h"
#include "analysis/memory/memory_series.h"

namespace steplens::analysis::compare {
namespace {

constexpr size_t kStretches = 400;
constexpr std::string_view kShownSeries[] = {"Operators Allocated", "Operators Reserved"};

const MemorySeries* FindSeries(const std::vector<MemorySeries>& all, std::string_view name) {
  for (const MemorySeries& one : all) {
    if (one.name == name && !one.points.empty()) return &one;
  }
  return nullptr;
}

// Of the series that are shown: the process may have been sampled long before.
int64_t FirstPointNs(const std::vector<MemorySeries>& all) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (const std::string_view name : kShownSeries) {
    const MemorySeries* series = FindSeries(all, name);
    if (series != nullptr) first_ns = std::min(first_ns, series->points.front().ts_ns);
  }
  return first_ns;
}

int64_t LengthOf(const MemorySeries& series, int64_t origin_ns) {
  return series.points.back().ts_ns - origin_ns;
}

// The highest value of each stretch; where nothing changed the value from before.
std::vector<double> Highest(const MemorySeries& series, int64_t origin_ns, int64_t stretch_ns) {
  std::vector<double> out(kStretches, std::numeric_limits<double>::quiet_NaN());
  double held = out[0];
  size_t next = 0;
  for (size_t i = 0; i < kStretches && next < series.points.size(); ++i) {
    const int64_t end_ns = origin_ns + static_cast<int64_t>(i + 1) * stretch_ns;
    double highest = held;
    for (; next < series.points.size() && series.points[next].ts_ns < end_ns; ++next) {
      held = BytesToMb(series.points[next].bytes);
      highest = highest >= held ? highest : held;  // NaN gives way
    }
    out[i] = highest;
  }
  return out;
}

}  // namespace

MemoryCurves CollectMemoryCurves(const store::TraceStore& a, const store::TraceStore& b) {
  bool is_derived = false;
  const auto of_a = CollectMemorySeries(a, MemoryGrouping::kOverall, is_derived);
  const auto of_b = CollectMemorySeries(b, MemoryGrouping::kOverall, is_derived);
  const int64_t a_origin_ns = FirstPointNs(of_a);
  const int64_t b_origin_ns = FirstPointNs(of_b);
  MemoryCurves out;
  int64_t longest_ns = 0;
  for (const std::string_view name : kShownSeries) {
    const MemorySeries* x = FindSeries(of_a, name);
    const MemorySeries* y = FindSeries(of_b, name);
    if (x == nullptr || y == nullptr) continue;
    longest_ns = std::max({longest_ns, LengthOf(*x, a_origin_ns), LengthOf(*y, b_origin_ns)});
    out.curves.push_back({std::string(name), {}, {}});
  }
  const int64_t stretch_ns = longest_ns / static_cast<int64_t>(kStretches) + 1;
  for (MemoryCurves::Curve& curve : out.curves) {
    curve.a = Highest(*FindSeries(of_a, curve.name), a_origin_ns, stretch_ns);
    curve.b = Highest(*FindSeries(of_b, curve.name), b_origin_ns, stretch_ns);
  }
  for (size_t i = 0; i < kStretches && !out.curves.empty(); ++i)
    out.ms.push_back(NsToMs(static_cast<int64_t>(i) * stretch_ns));
  return out;
}

}  // namespace steplens::analysis::compare
