#include <algorithm>
#include <vector>

#include "analysis/breakdown/breakdown.h"
#include "analysis/classify/device_work.h"
#include "analysis/overlap/overlap.h"

namespace steplens::analysis {
namespace {

struct TemporalParts {
  int64_t kernel_ns = 0;
  int64_t compute_ns = 0;
  int64_t idle_ns = 0;
};

TemporalParts Measure(const std::vector<DeviceWork>& works) {
  std::vector<Interval> compute;
  std::vector<Interval> all;
  for (const DeviceWork& work : works) {
    compute.insert(compute.end(), work.compute.begin(), work.compute.end());
    for (const auto* list : {&work.compute, &work.communication, &work.memory}) {
      all.insert(all.end(), list->begin(), list->end());
    }
  }
  if (all.empty()) return {};
  SortIntervals(compute);
  SortIntervals(all);
  const auto last = std::max_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
  TemporalParts parts;
  parts.kernel_ns = last->end_ns - all.front().begin_ns;
  parts.compute_ns = UnionLength(compute);
  parts.idle_ns = parts.kernel_ns - UnionLength(all);
  return parts;
}

}  // namespace

table::Table TemporalBreakdown(const store::Job& job) {
  table::Table out("temporal_breakdown");
  const size_t rank = out.AddColumn("rank", table::CellType::kInt);
  const size_t idle = out.AddColumn("idle_time(us)", table::CellType::kTimeUs);
  const size_t compute = out.AddColumn("compute_time(us)", table::CellType::kTimeUs);
  const size_t other = out.AddColumn("non_compute_time(us)", table::CellType::kTimeUs);
  const size_t kernel = out.AddColumn("kernel_time(us)", table::CellType::kTimeUs);
  const size_t idle_share = out.AddColumn("idle_time_pctg", table::CellType::kDouble, 2);
  const size_t compute_share = out.AddColumn("compute_time_pctg", table::CellType::kDouble, 2);
  const size_t other_share = out.AddColumn("non_compute_time_pctg", table::CellType::kDouble, 2);
  for (const store::TraceStore& store : job.ranks) {
    const TemporalParts parts = Measure(CollectDeviceWork(store));
    if (parts.kernel_ns <= 0) continue;
    const int64_t other_ns = parts.kernel_ns - parts.idle_ns - parts.compute_ns;
    const auto share = [&](int64_t part_ns) {
      return 100.0 * static_cast<double>(part_ns) / static_cast<double>(parts.kernel_ns);
    };
    out.AppendInt(rank, store.info.rank);
    out.AppendInt(idle, parts.idle_ns);
    out.AppendInt(compute, parts.compute_ns);
    out.AppendInt(other, other_ns);
    out.AppendInt(kernel, parts.kernel_ns);
    out.AppendDouble(idle_share, share(parts.idle_ns));
    out.AppendDouble(compute_share, share(parts.compute_ns));
    out.AppendDouble(other_share, share(other_ns));
  }
  return out;
}

}  // namespace steplens::analysis
