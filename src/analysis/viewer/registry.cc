#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

namespace steplens::analysis::viewer {
namespace {

struct Registered {
  MetricEntry entry;
  Result<MetricAnswer> (*compute)(const MetricCall&);
};

const std::vector<Registered>& All() {
  static const std::vector<Registered> all = {
      {{"overall", "Where the time of a rank went, as a tree.", {"rank", "t0", "t1"}}, Overall},
      {{"overall_details", "The kernels of a path of that tree.", {"rank", "path", "t0", "t1"}},
       OverallDetails},
      {{"layer_summary",
        "The names of a layer of the timeline with their times.",
        {"rank", "layer", "name", "t0", "t1"}},
       LayerSummary},
      {{"kernel_details", "Every kernel.", {"rank", "t0", "t1"}}, KernelDetails},
      {{"kernel_types", "Kernels by type and core.", {"rank", "t0", "t1"}}, KernelTypes},
      {{"memcpy_overall", "Copies by stream and operation.", {"rank", "t0", "t1"}}, MemcpyOverall},
      {{"dispatch", "From the call in Python to the launch.", {"rank", "t0", "t1"}}, Dispatch},
      {{"operator_groups",
        "Kernels grouped, with shares.",
        {"rank", "group_by", "top", "step", "t0", "t1"}},
       OperatorGroups},
      {{"operator_details",
        "Kernels of a group with their metrics.",
        {"rank", "group_by", "type", "name", "shape", "core", "step", "t0", "t1"}},
       OperatorDetails},
      {{"kernel_places", "Kernels with the module and line that launched them.", {}}, KernelPlaces},
      {{"memory_curve", "Memory over time.", {"rank", "group_by", "width", "t0", "t1"}},
       MemoryCurve},
      {{"memory_operators", "Every allocation.", {"rank", "t0", "t1", "live_at"}}, MemoryOperators},
      {{"memory_growth", "Memory that steps leave behind.", {"rank"}}, MemoryGrowth},
      {{"memory_components", "The peak of each component.", {"rank", "min_mb"}}, MemoryComponents},
      {{"memory_static", "Memory of a static graph by node.", {"rank", "graph"}}, MemoryStatic},
      {{"comm_steps", "Steps with communication.", {}}, CommSteps},
      {{"comm_groups", "Communication groups.", {"step"}}, CommGroups},
      {{"comm_operators", "Operators of a group.", {"step", "group"}}, CommOperators},
      {{"comm_matrix",
        "Traffic between any two ranks.",
        {"step", "group", "operator", "inner", "src", "dst"}},
       CommMatrix},
      {{"comm_durations",
        "Times of the ranks in an operator, a group or all.",
        {"step", "group", "operator", "rank"}},
       CommDurations},
      {{"comm_bandwidth", "Transports of a rank.", {"rank", "step", "group", "operator"}},
       CommBandwidth},
      {{"comm_packets",
        "Packet sizes of a rank.",
        {"rank", "step", "group", "operator", "transport"}},
       CommPackets},
      {{"comm_thumbnail", "Communication operators of all ranks in time.", {"step", "group"}},
       CommThumbnail},
      {{"comm_advice",
        "Bandwidth, packets, alignment, contention, retransmission.",
        {"step", "group"}},
       CommAdvice},
      {{"comm_slow_ranks", "Ranks that the others wait for.", {"step", "group"}}, CommSlowRanks},
      {{"summary_base", "The job in numbers.", {}}, SummaryBase},
      {{"summary_ranks", "Times of the ranks.", {"step", "rank"}}, SummaryRanks},
      {{"summary_strategy",
        "The parallel strategy.",
        {"algorithm", "pp", "tp", "cp", "dp", "ep", "moe_tp"}},
       SummaryStrategy},
      {{"summary_arrangement",
        "The grid of parallel elements with their times.",
        {"algorithm", "pp", "tp", "cp", "dp", "ep", "moe_tp", "dimension", "step"}},
       SummaryArrangement},
      {{"summary_advice",
        "Ranks that differ, slow groups, findings.",
        {"algorithm", "pp", "tp", "cp", "dp", "ep", "moe_tp", "step"}},
       SummaryAdvice},
      {{"pipeline", "Forward and backward passes of the ranks.", {"ranks"}}, Pipeline},
      {{"rl", "Tasks of a reinforcement learning loop on the ranks.", {"ranks", "config"}}, Rl},
      {{"experts", "Work of the experts of a mixture, by layer and rank.", {"layers"}}, Experts},
      {{"findings", "What could be made faster, the largest gain first.", {"rank"}}, Findings},
      {{"overview", "Steps, top kernels, data quality.", {"rank", "step", "top"}}, Overview},
      {{"expert", "What the reference viewer points out.", {"rank"}}, Expert},
      {{"flame", "A flame graph of tracks.", {"rank", "tracks", "t0", "t1", "order"}}, Flame},
  };
  return all;
}

}  // namespace

std::vector<MetricEntry> Metrics() {
  std::vector<MetricEntry> entries;
  for (const Registered& metric : All()) entries.push_back(metric.entry);
  return entries;
}

Result<MetricAnswer> ComputeMetric(std::string_view name, const MetricArgs& args,
                                   const store::Job& job, const ArgsReader& read_args) {
  for (const Registered& metric : All()) {
    if (metric.entry.name != name) continue;
    SL_RETURN_IF_ERROR(StillWanted());
    return metric.compute({args, job, read_args});
  }
  return Error{ErrorCode::kNotFound, fmt::format("there is no metric '{}'", name)};
}

int64_t OriginNs(const store::Job& job) {
  int64_t origin_ns = store::kNone;
  const auto cover = [&](int64_t ts_ns) {
    if (origin_ns == store::kNone || ts_ns < origin_ns) origin_ns = ts_ns;
  };
  for (const store::TraceStore& store : job.ranks) {
    const store::Extent extent = store::ComputeExtent(store);
    const bool has_extent = extent.begin_ns != extent.end_ns || extent.begin_ns != 0;
    if (has_extent) cover(extent.begin_ns);
    // A counter that starts more than a day before everything else is an outlier, too.
    constexpr int64_t kDayNs = 86400LL * 1000000000LL;
    for (const int64_t ts_ns : store.counters.ts_ns.span()) {
      if (!has_extent || ts_ns >= AddNs(extent.begin_ns, -kDayNs)) cover(ts_ns);
    }
  }
  return origin_ns == store::kNone ? 0 : origin_ns;
}

}  // namespace steplens::analysis::viewer
