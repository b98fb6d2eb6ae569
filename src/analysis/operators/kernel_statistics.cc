#include "analysis/operators/kernel_statistics.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/duration_stats.h"
#include "analysis/operators/device_kernels.h"
#include "analysis/steps/steps.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;
using table::CellType;

std::vector<std::string> KeyColumns(KernelGrouping by) {
  switch (by) {
    case KernelGrouping::kType:
      return {"OP Type", "Core Type"};
    case KernelGrouping::kName:
      return {"Name", "Core Type"};
    case KernelGrouping::kShape:
      return {"Name", "Input Shapes", "Core Type"};
    case KernelGrouping::kCore:
      return {"Core Type"};
  }
  return {};
}

// Values of the key columns; those a grouping does not use are the empty text.
using KernelKey = std::array<StringId, 3>;

KernelKey KeyOf(const DeviceKernel& kernel, KernelGrouping by) {
  switch (by) {
    case KernelGrouping::kType:
      return {kernel.type, kernel.core};
    case KernelGrouping::kName:
      return {kernel.name, kernel.core};
    case KernelGrouping::kShape:
      return {kernel.name, kernel.shapes, kernel.core};
    case KernelGrouping::kCore:
      return {kernel.core};
  }
  return {};
}

struct KeyHash {
  size_t operator()(const KernelKey& key) const {
    uint64_t hash = 0;
    for (const StringId id : key) {
      hash = (hash ^ static_cast<uint64_t>(id)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash);
  }
};

using Groups = tsl::robin_map<KernelKey, DurationStats, KeyHash>;

// What kDefault means for a platform.
CommunicationRows Resolve(CommunicationRows rows, Platform platform) {
  if (rows != CommunicationRows::kDefault) return rows;
  return platform == Platform::kGpu ? CommunicationRows::kInclude : CommunicationRows::kExclude;
}

Groups GroupKernels(const TraceStore& store, const KernelStatisticsOptions& options) {
  Groups groups;
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  const Platform platform = DetectPlatform(store, tracks);
  const CommunicationRows rows = Resolve(options.communication, platform);
  const auto is_listed = [rows](const DeviceKernel& kernel) {
    return rows == CommunicationRows::kInclude ||
           kernel.is_communication == (rows == CommunicationRows::kOnly);
  };
  const std::vector<StepRange> steps =
      options.selection.step ? ComputeStepRanges(store) : std::vector<StepRange>{};
  StepFinder finder(steps);
  const auto in_selected_step = [&](const DeviceKernel& kernel) {
    if (!options.selection.step) return true;
    if (kernel.step != store::kNone) return options.selection.HasStep(kernel.step);
    const auto found = finder.Find(kernel.begin_ns);
    return found && options.selection.HasStep(steps[*found].step);
  };
  const auto count = [&](const DeviceKernel& kernel) {
    if (is_listed(kernel) && in_selected_step(kernel))
      groups[KeyOf(kernel, options.by)].Add(kernel.dur_ns);
  };
  ForEachDeviceKernel(store, tracks, platform, options.by == KernelGrouping::kShape, count);
  return groups;
}

// A group of the result, its texts those of the key columns.
struct ResultRow {
  int64_t rank = 0;  // 0 for all rows unless per rank
  std::vector<std::string> key;
  DurationStats stats;
};

// Rows by (rank, total descending, key).
std::vector<ResultRow> CollectRows(std::span<const TraceStore> ranks,
                                   const KernelStatisticsOptions& options) {
  const size_t key_size = KeyColumns(options.by).size();
  std::map<std::pair<int64_t, std::vector<std::string>>, DurationStats> merged;
  for (const TraceStore& store : ranks) {
    if (!options.selection.HasRank(store.info.rank)) continue;
    for (const auto& [key, stats] : GroupKernels(store, options)) {
      std::vector<std::string> texts;
      for (size_t i = 0; i < key_size; ++i) texts.emplace_back(store.Text(key[i]));
      merged[{options.per_rank ? store.info.rank : 0, std::move(texts)}].Add(stats);
    }
  }
  std::vector<ResultRow> rows;
  rows.reserve(merged.size());
  for (auto& [key, stats] : merged) rows.push_back({key.first, key.second, stats});
  std::stable_sort(rows.begin(), rows.end(), [](const ResultRow& a, const ResultRow& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.stats.total_ns > b.stats.total_ns;
  });
  return rows;
}

}  // namespace

table::Table KernelStatistics(const store::Job& job, const KernelStatisticsOptions& options) {
  return KernelStatistics(job.ranks, options);
}

table::Table KernelStatistics(std::span<const TraceStore> ranks,
                              const KernelStatisticsOptions& options) {
  const std::vector<ResultRow> rows = CollectRows(ranks, options);
  std::map<int64_t, int64_t> total_ns;  // of each rank
  for (const ResultRow& row : rows) {
    total_ns[row.rank] = AddNs(total_ns[row.rank], row.stats.total_ns);
  }

  table::Table out("kernel_stats");
  if (options.per_rank) out.AddColumn("Rank", CellType::kInt);
  const size_t first_key = out.columns().size();
  for (std::string& name : KeyColumns(options.by)) out.AddColumn(std::move(name), CellType::kText);
  const size_t count = out.AddColumn("Count", CellType::kInt);
  const size_t total = out.AddColumn("Total Time(us)", CellType::kTimeUs);
  const size_t min = out.AddColumn("Min Time(us)", CellType::kTimeUs);
  const size_t avg = out.AddColumn("Avg Time(us)", CellType::kTimeUs);
  const size_t max = out.AddColumn("Max Time(us)", CellType::kTimeUs);
  const size_t ratio = out.AddColumn("Ratio(%)", CellType::kDouble);
  for (const ResultRow& row : rows) {
    if (options.per_rank) out.AppendInt(0, row.rank);
    for (size_t i = 0; i < row.key.size(); ++i) out.AppendText(first_key + i, row.key[i]);
    out.AppendInt(count, row.stats.count);
    out.AppendInt(total, row.stats.total_ns);
    out.AppendInt(min, row.stats.min_ns);
    out.AppendInt(avg, row.stats.avg_ns());
    out.AppendInt(max, row.stats.max_ns);
    const auto of_rank_ns = static_cast<double>(total_ns[row.rank]);
    const auto group_ns = static_cast<double>(row.stats.total_ns);
    out.AppendDouble(ratio, of_rank_ns > 0 ? 100 * group_ns / of_rank_ns : 0);
  }
  return out;
}

DurationStats LeftOutCommunication(const store::Job& job, const KernelStatisticsOptions& options) {
  KernelStatisticsOptions left_out = options;
  left_out.by = KernelGrouping::kCore;
  left_out.communication = CommunicationRows::kOnly;
  DurationStats sum;
  for (const TraceStore& store : job.ranks) {
    if (!options.selection.HasRank(store.info.rank)) continue;
    const Platform platform = DetectPlatform(store, ClassifyTracks(store));
    if (Resolve(options.communication, platform) != CommunicationRows::kExclude) continue;
    for (const auto& [key, stats] : GroupKernels(store, left_out)) sum.Add(stats);
  }
  return sum;
}

}  // namespace steplens::analysis
