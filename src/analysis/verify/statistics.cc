#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/duration_stats.h"
#include "analysis/verify/checks.h"

namespace steplens::analysis::verify {
namespace {

// What one line of a statistic file should say.
struct Group {
  int64_t count = 0;
  DurationStats stats;  // of the durations that are known
  bool seen = false;    // a line of the file speaks of it

  void Add(int64_t dur_ns) {
    ++count;
    if (dur_ns != store::kNone) stats.Add(dur_ns);
  }
  bool all_known() const { return count == stats.count; }
};

// The columns that both files have. Sums may be off by the third decimal of each summand.
template <typename StatisticTable, typename Where>
void CompareLine(const StatisticTable& lines, size_t line, const Group& group, Verdict& verdict,
                 Where&& where) {
  if (lines.count[line] != store::kNone) {
    verdict.Row(lines.count[line] == group.count, [&] {
      return fmt::format("{}: Count is {}, expected {}", where(), lines.count[line].value(),
                         group.count);
    });
  }
  if (!group.all_known()) return;
  const DurationStats& expected = group.stats;
  const auto compare = [&](double found_us, double expected_us, double tolerance_us,
                           std::string_view column) {
    verdict.Near(found_us, expected_us, tolerance_us,
                 [&] { return fmt::format("{}: {}", where(), column); });
  };
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  const auto count = static_cast<double>(expected.count);
  compare(lines.total_us[line], us(expected.total_ns), 0.001 * std::max(1.0, count), "total time");
  compare(lines.min_us[line], us(expected.min_ns), 0.0015, "minimum");
  compare(lines.max_us[line], us(expected.max_ns), 0.0015, "maximum");
  compare(lines.avg_us[line], us(expected.avg_ns()), 0.0015, "average");
}

// device (none unless op_statistic says it), type, core
using OpKey = std::tuple<int64_t, StringId, StringId>;

std::map<OpKey, Group> GroupKernels(const Context& context, bool by_device) {
  const store::KernelTable& kernels = context.store.kernels;
  std::map<OpKey, Group> groups;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (context.IsCollective(i)) continue;
    const int64_t device = by_device ? kernels.device[i] : store::kNone;
    groups[{device, kernels.type[i], kernels.core[i]}].Add(kernels.dur_ns[i]);
  }
  return groups;
}

void CompareRatios(const Context& context, Verdict& verdict) {
  const store::OpStatisticTable& lines = context.store.op_statistics;
  std::map<int64_t, double> total_us;  // per device
  std::map<int64_t, std::pair<double, int>> ratios;
  for (size_t i = 0; i < lines.size(); ++i) total_us[lines.device[i]] += lines.total_us[i];
  for (size_t i = 0; i < lines.size(); ++i) {
    auto& [sum, count] = ratios[lines.device[i]];
    sum += lines.ratio_percent[i];
    ++count;
    const double share = 100 * lines.total_us[i] / total_us[lines.device[i]];
    verdict.Near(lines.ratio_percent[i], share, 0.001,
                 [&] { return fmt::format("op_statistic row {}: Ratio(%)", i + 1); });
  }
  for (const auto& [device, ratio] : ratios) {
    // 0.01 as documented; each of very many rows may lose half of its last decimal.
    verdict.Near(ratio.first, 100, std::max(0.01, 0.0005 * ratio.second),
                 [] { return std::string("op_statistic: sum of Ratio(%)"); });
  }
}

using ApiKey = std::pair<std::string_view, std::string_view>;  // level, name

std::map<ApiKey, Group> GroupApiCalls(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::unordered_map<StringId, Group> by_name;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (context.track_kind(slices.track[i]) == TrackKind::kCann)
      by_name[slices.name[i]].Add(slices.dur_ns[i]);
  }
  std::map<ApiKey, Group> groups;
  for (const auto& [name, group] : by_name) {
    if (const auto api = ParseCannApi(context.Text(name))) groups[{api->level, api->name}] = group;
  }
  return groups;
}

}  // namespace

CheckResult CheckOpStatistic(const Context& context) {
  Verdict verdict(
      context, "6",
      "op_statistic equals the compute kernels of kernel_details, grouped by type and core");
  const store::OpStatisticTable& lines = context.store.op_statistics;
  if (lines.size() == 0) return verdict.NotApplicable("no op_statistic");
  const auto known = [](int64_t device) { return device != store::kNone; };
  const bool by_device =
      std::all_of(lines.device.begin(), lines.device.end(), known) &&
      std::all_of(context.store.kernels.device.begin(), context.store.kernels.device.end(), known);
  auto groups = GroupKernels(context, by_device);
  if (groups.empty() && !context.lost_all_kernels()) {
    return verdict.NotApplicable("no compute kernels in kernel_details");
  }

  for (size_t i = 0; i < lines.size(); ++i) {
    const auto where = [&] {
      return fmt::format("op_statistic row {} ({}, {})", i + 1, context.Text(lines.type[i]),
                         context.Text(lines.core[i]));
    };
    const auto group =
        groups.find({by_device ? lines.device[i] : store::kNone, lines.type[i], lines.core[i]});
    if (group == groups.end()) {
      verdict.Row(false, [&] { return where() + ": no such kernel in kernel_details"; });
      continue;
    }
    group->second.seen = true;
    CompareLine(lines, i, group->second, verdict, where);
  }
  for (const auto& [key, group] : groups) {
    if (group.seen) continue;
    verdict.Row(false, [&] {
      return fmt::format("kernel_details: {} kernels of type {}, core {} have no op_statistic row",
                         group.count, context.Text(std::get<1>(key)),
                         context.Text(std::get<2>(key)));
    });
  }
  CompareRatios(context, verdict);
  verdict.Note(fmt::format("{} rows of op_statistic", lines.size()));
  return verdict.Finish("values");
}

CheckResult CheckApiStatistic(const Context& context) {
  Verdict verdict(
      context, "7",
      "api_statistic equals the CANN slices of the trace, by level and name, both ways");
  const store::ApiStatisticTable& lines = context.store.api_statistics;
  if (lines.size() == 0) return verdict.NotApplicable("no api_statistic");
  auto groups = GroupApiCalls(context);
  if (groups.empty()) return verdict.NotApplicable("no CANN slices in the trace");

  for (size_t i = 0; i < lines.size(); ++i) {
    const auto where = [&] {
      return fmt::format("api_statistic row {} ({} {})", i + 1, context.Text(lines.level[i]),
                         context.Text(lines.name[i]));
    };
    const auto group = groups.find({context.Text(lines.level[i]), context.Text(lines.name[i])});
    if (group == groups.end()) {
      verdict.Row(false, [&] { return where() + ": no such slice in the trace"; });
      continue;
    }
    group->second.seen = true;
    CompareLine(lines, i, group->second, verdict, where);
    // Each duration is known to half a nanosecond, which moves the variance by up to that times 2
    // sigma.
    const double variance = group->second.stats.variance_us2();
    verdict.Near(lines.variance[i], variance, 0.001 + 0.002 * std::sqrt(variance),
                 [&] { return where() + ": Variance"; });
  }
  for (const auto& [key, group] : groups) {
    if (group.seen) continue;
    verdict.Row(false, [&] {
      return fmt::format("trace: {} slices of {} {} have no api_statistic row", group.count,
                         key.first, key.second);
    });
  }
  verdict.Note(fmt::format("{} rows of api_statistic", lines.size()));
  return verdict.Finish("values");
}

}  // namespace steplens::analysis::verify
