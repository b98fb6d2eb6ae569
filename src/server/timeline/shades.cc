#include "server/timeline/shades.h"

#include <algorithm>
#include <cmath>

#include "analysis/modules/slice_modules.h"

namespace steplens::server {

using store::TraceStore;

namespace {

// Slices of one name, sorted by duration, get their shades.
void ShadeName(std::span<const uint32_t> slices, const TraceStore& store,
               std::vector<uint8_t>& shades) {
  if (slices.size() < 2) return;
  const auto others = static_cast<double>(slices.size() - 1);
  for (size_t first = 0; first < slices.size();) {
    const int64_t dur_ns = store.slices.dur_ns[slices[first]];
    size_t last = first;
    while (last < slices.size() && store.slices.dur_ns[slices[last]] == dur_ns) ++last;
    const double shorter = static_cast<double>(first) + static_cast<double>(last - first - 1) / 2;
    const auto shade = static_cast<uint8_t>(1 + std::lround(254 * shorter / others));
    for (; first < last; ++first) shades[slices[first]] = shade;
  }
}

}  // namespace

std::vector<uint8_t> PercentileShades(const TraceStore& store) {
  const auto names = store.slices.name.span();
  // Slices by name: a counting sort, as names are numbers below the size of the pool.
  std::vector<uint32_t> first(store.strings.size() + 1, 0);
  for (const StringId name : names) ++first[static_cast<size_t>(name) + 1];
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<uint32_t> by_name(names.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < names.size(); ++i) by_name[next[static_cast<size_t>(names[i])]++] = i;
  std::vector<uint8_t> shades(names.size(), 0);
  for (size_t name = 0; name + 1 < first.size(); ++name) {
    const auto slices = std::span(by_name).subspan(first[name], first[name + 1] - first[name]);
    std::sort(slices.begin(), slices.end(), [&](uint32_t a, uint32_t b) {
      return store.slices.dur_ns[a] < store.slices.dur_ns[b];
    });
    ShadeName(slices, store, shades);
  }
  return shades;
}

std::span<const uint8_t> RankShades::By(ShadeBy by, const TraceStore& store) const {
  if (by == ShadeBy::kNone || by == ShadeBy::kRules) return {};
  if (by == ShadeBy::kModule) {
    FindModules(store);
    return by_module_;
  }
  std::call_once(percentiles_once_, [&] { by_percentile_ = PercentileShades(store); });
  return by_percentile_;
}

const std::vector<std::string>& RankShades::Modules(const TraceStore& store) const {
  FindModules(store);
  return modules_;
}

void RankShades::FindModules(const TraceStore& store) const {
  std::call_once(modules_once_, [&] {
    analysis::SliceModules found = analysis::FindSliceModules(store);
    by_module_ = std::move(found.of_slice);
    modules_ = std::move(found.paths);
  });
}

}  // namespace steplens::server
