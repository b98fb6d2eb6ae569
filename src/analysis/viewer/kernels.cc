#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/duration_stats.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"
#include "base/json.h"

// System View > Stats: Kernel Details, Kernel by type, Memcpy Overall.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

// What a copy says of itself beyond its time.
struct Copy {
  std::string operation;
  double size_bytes = kNoNumber;
};

// "Memcpy HtoD (Pageable -> Device)" -> "HtoD (Pageable -> Device)"
std::string OperationInName(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ";
  return std::string(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name);
}

Copy Describe(const MetricCall& call, const TraceStore& store, size_t row, bool is_ascend) {
  Copy copy;
  if (!is_ascend) copy.operation = OperationInName(store.Text(store.slices.name[row]));
  if (!call.read_args) return copy;
  const std::string text = call.read_args(store, static_cast<store::SliceId>(row));
  if (text.empty()) return copy;
  const Result<JsonDocument> args = JsonDocument::Parse(text, "args");
  if (!args.ok()) return copy;
  for (const char* key : {"size", "size(B)", "bytes", "Bytes"}) {
    if (const auto bytes = args->root()[key].AsDouble()) copy.size_bytes = *bytes;
  }
  if (const auto operation = args->root()["operation"].AsString()) copy.operation = *operation;
  return copy;
}

struct CopyGroup {
  DurationStats time;
  double total_bytes = 0;
  double min_bytes = kNoNumber;
  double max_bytes = kNoNumber;
  int64_t sized = 0;

  void Add(int64_t dur_ns, double bytes) {
    time.Add(dur_ns);
    if (std::isnan(bytes)) return;
    ++sized;
    total_bytes += bytes;
    min_bytes = std::fmin(min_bytes, bytes);
    max_bytes = std::fmax(max_bytes, bytes);
  }
};

}  // namespace

Result<MetricAnswer> KernelDetails(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  const auto rows = SelectKernels(*store, range, [](size_t) { return true; });
  MetricAnswer answer;
  answer.definition = "insight.kernel_details";
  answer.query = fmt::format("SELECT * FROM kernels WHERE rank = {}", store->info.rank);
  answer.tables.push_back(KernelTable(*store, rows, {"kernel_details", origin_ns, false}));
  if (rows.empty()) answer.warnings.push_back(Message{"warning.no_kernel_details"});
  return answer;
}

Result<MetricAnswer> KernelTypes(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  std::map<std::pair<StringId, StringId>, DurationStats> groups;
  const auto kernels = SelectKernels(*store, range, [](size_t) { return true; });
  for (const uint32_t i : kernels) {
    groups[{store->kernels.type[i], store->kernels.core[i]}].Add(store->kernels.dur_ns[i]);
  }
  std::vector<std::pair<std::pair<StringId, StringId>, DurationStats>> sorted(groups.begin(),
                                                                              groups.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    if (a.second.total_ns != b.second.total_ns) return a.second.total_ns > b.second.total_ns;
    return store->Text(a.first.first) < store->Text(b.first.first);
  });
  TableRows rows("kernel_types",
                 {TextColumn("Type"), TextColumn("Accelerator Core"), IntColumn("Count"),
                  TimeColumn("Total(us)"), NumberColumn("Avg(us)", 2), TimeColumn("Max(us)"),
                  TimeColumn("Min(us)")});
  for (const auto& [key, stats] : sorted) {
    rows.Add(store->Text(key.first), store->Text(key.second), stats.count, stats.total_ns,
             RoundTo(NsToUs(stats.total_ns) / static_cast<double>(stats.count), 2), stats.max_ns,
             stats.min_ns);
  }
  MetricAnswer answer;
  answer.definition = "insight.kernel_types";
  answer.query = fmt::format(
      "SELECT type, core, COUNT(*), SUM(dur_ns) FROM kernels WHERE rank = {} GROUP BY type, core",
      store->info.rank);
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> MemcpyOverall(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  const std::vector<TrackKind> tracks = ClassifyTracks(*store);
  const bool is_ascend = DetectPlatform(*store, tracks) == Platform::kAscend;
  const SliceKinds kinds(*store);
  const auto copy_name = store->strings.Find("MEMCPY_ASYNC");
  std::map<std::pair<std::string, std::string>, CopyGroup> groups;  // stream, operation
  bool lacks_size = false;
  for (size_t i = 0; i < store->slices.size(); ++i) {
    const auto t = static_cast<size_t>(store->slices.track[i]);
    if (t >= tracks.size() || tracks[t] != TrackKind::kDevice) continue;
    const bool is_copy = is_ascend ? copy_name && store->slices.name[i] == *copy_name
                                   : kinds[store->slices.category[i]] == SliceKind::kMemcpy;
    const int64_t begin_ns = store->slices.begin_ns[i];
    if (!is_copy || !range.Holds(begin_ns, EndNs(begin_ns, store->slices.dur_ns[i]))) continue;
    const Copy copy = Describe(call, *store, i, is_ascend);
    lacks_size |= std::isnan(copy.size_bytes);
    groups[{std::string(store->Text(store->tracks.name[t])), copy.operation}].Add(
        store->slices.dur_ns[i], copy.size_bytes);
  }
  TableRows rows(
      "memcpy_overall",
      {TextColumn("Stream"), TextColumn("Operation"), IntColumn("Number"),
       TimeColumn("Total Time(us)"), NumberColumn("Avg Time(us)", 3), TimeColumn("Min Time(us)"),
       TimeColumn("Max Time(us)"), NumberColumn("Total Size(B)", 0), NumberColumn("Avg Size(B)", 2),
       NumberColumn("Min Size(B)", 0), NumberColumn("Max Size(B)", 0)});
  for (const auto& [key, group] : groups) {
    const bool sized = group.sized > 0;
    rows.Add(key.first, key.second, group.time.count, group.time.total_ns,
             NsToUs(group.time.total_ns) / static_cast<double>(group.time.count), group.time.min_ns,
             group.time.max_ns, sized ? group.total_bytes : kNoNumber,
             sized ? group.total_bytes / static_cast<double>(group.sized) : kNoNumber,
             group.min_bytes, group.max_bytes);
  }
  MetricAnswer answer;
  answer.definition = "insight.memcpy_overall";
  answer.query =
      fmt::format("SELECT * FROM slices WHERE rank = {} AND name LIKE 'MEMCPY%'", store->info.rank);
  if (lacks_size) {
    answer.warnings.push_back(Message{"warning.no_copy_sizes"});
  }
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
