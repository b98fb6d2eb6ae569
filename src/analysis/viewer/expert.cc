#include <fmt/format.h>

#include <map>
#include <string>

#include "analysis/advice/rules/aicpu.h"
#include "analysis/advice/rules/frequency.h"
#include "analysis/advice/rules/replaceable.h"
#include "analysis/advice/rules/slice_lists.h"
#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// System View > Expert: what the reference viewer points out of its own accord.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

table::Table FrequencyTable(const TraceStore& store) {
  TableRows rows("frequency",
                 {TextColumn("series"), NumberColumn("Max(MHz)", 0), NumberColumn("Min(MHz)", 0),
                  IntColumn("Drop(%)"), TextColumn("Result")});
  for (const FrequencyRange& range : ListFrequencies(store)) {
    rows.Add(store.Text(store.tracks.name[range.track]), range.high_mhz, range.low_mhz,
             range.drop_percent, range.is_issue ? "Issue" : "OK");
  }
  return rows.Take();
}

table::Table AicpuTable(const TraceStore& store, int64_t origin_ns) {
  TableRows rows("aicpu", {TextColumn("Name"), TextColumn("Type"), TextColumn("Input Data Types"),
                           TextColumn("Output Data Types"), TimeColumn("Duration(us)"),
                           TextColumn("reason"), IntColumn("start_ns"), IntColumn("kernel")});
  const store::KernelTable& k = store.kernels;
  for (const auto& [i, reason] : ListAicpuKernels(store)) {
    rows.Add(store.Text(k.name[i]), store.Text(k.type[i]), store.Text(k.input_types[i]),
             store.Text(k.output_types[i]), k.dur_ns[i], reason, SinceNs(k.begin_ns[i], origin_ns),
             i);
  }
  return rows.Take();
}

table::Table AffinityApiTable(const TraceStore& store, int64_t origin_ns) {
  TableRows rows("affinity_api", {TextColumn("Origin API"), TextColumn("Replace API"),
                                  TextColumn("note"), IntColumn("track"), IntColumn("slice"),
                                  IntColumn("start_ns"), TimeColumn("Duration(us)")});
  for (const Replaceable& one : ListReplaceableApis(store)) {
    rows.Add(one.names, one.by, one.note, one.lane, one.first,
             AddNs(one.times.begin_ns, -origin_ns), one.times.end_ns - one.times.begin_ns);
  }
  return rows.Take();
}

table::Table FusionTable(const TraceStore& store, int64_t origin_ns) {
  TableRows rows("fusion",
                 {TextColumn("Origin Operators"), TextColumn("Fused Operator"), IntColumn("stream"),
                  IntColumn("kernel"), IntColumn("start_ns"), TimeColumn("Duration(us)")});
  for (const Replaceable& one : ListFusibleKernels(store)) {
    rows.Add(one.names, one.by, one.lane, one.first, AddNs(one.times.begin_ns, -origin_ns),
             one.times.end_ns - one.times.begin_ns);
  }
  return rows.Take();
}

void AddSlice(const TraceStore& store, size_t row, int64_t origin_ns, TableRows& rows) {
  rows.Add(store.Text(store.slices.name[row]), AddNs(store.slices.begin_ns[row], -origin_ns),
           store.slices.dur_ns[row], static_cast<int64_t>(store.slices.track[row]), row);
}

TableRows SliceRows(std::string name) {
  return TableRows(std::move(name),
                   {TextColumn("Name"), IntColumn("start_ns"), TimeColumn("Duration(us)"),
                    IntColumn("track"), IntColumn("slice")});
}

table::Table AclnnTable(const TraceStore& store, const std::vector<TrackKind>& tracks,
                        int64_t origin_ns) {
  TextMemo is_aclnn(store, [](std::string_view name) { return name.starts_with("aclnn"); });
  std::map<StringId, size_t> counts;
  for (const StringId name : store.slices.name) {
    if (is_aclnn(name)) ++counts[name];
  }
  TableRows rows = SliceRows("aclnn");
  for (size_t row = 0; row < store.slices.size(); ++row) {
    const auto t = static_cast<size_t>(store.slices.track[row]);
    const StringId name = store.slices.name[row];
    if (t < tracks.size() && tracks[t] == TrackKind::kDevice && is_aclnn(name) &&
        counts[name] >= kOften)
      AddSlice(store, row, origin_ns, rows);
  }
  return rows.Take();
}

table::Table DispatchTable(const TraceStore& store, const std::vector<TrackKind>& tracks,
                           int64_t origin_ns) {
  TableRows rows = SliceRows("dispatch");
  const std::vector<size_t> found = ListCompilations(store, tracks);
  for (const size_t row : found) AddSlice(store, row, origin_ns, rows);
  return rows.Take();
}

table::Table OptimizerTable(const TraceStore& store, int64_t origin_ns) {
  TableRows rows("affinity_optimizer",
                 {TextColumn("Name"), TextColumn("Replace API"), IntColumn("start_ns"),
                  TimeColumn("Duration(us)"), IntColumn("track"), IntColumn("slice")});
  for (const auto& [i, by] : ListSlowOptimizers(store)) {
    rows.Add(store.Text(store.slices.name[i]), by, AddNs(store.slices.begin_ns[i], -origin_ns),
             store.slices.dur_ns[i], static_cast<int64_t>(store.slices.track[i]), i);
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> Expert(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  const std::vector<TrackKind> tracks = ClassifyTracks(*store);
  MetricAnswer answer;
  answer.definition = "insight.expert";
  answer.query = fmt::format("SELECT * FROM kernels WHERE rank = {}", store->info.rank);
  answer.tables.push_back(FrequencyTable(*store));
  // The other rules find nothing elsewhere, as in a rank without anything.
  const bool is_ascend = DetectPlatform(*store, tracks) == Platform::kAscend;
  const TraceStore none;
  const TraceStore& ascend = is_ascend ? *store : none;
  const std::vector<TrackKind> ascend_tracks = is_ascend ? tracks : std::vector<TrackKind>();
  answer.tables.push_back(AicpuTable(ascend, origin_ns));
  answer.tables.push_back(AffinityApiTable(ascend, origin_ns));
  answer.tables.push_back(OptimizerTable(ascend, origin_ns));
  answer.tables.push_back(AclnnTable(ascend, ascend_tracks, origin_ns));
  answer.tables.push_back(FusionTable(ascend, origin_ns));
  answer.tables.push_back(DispatchTable(ascend, ascend_tracks, origin_ns));
  if (!is_ascend) answer.warnings.push_back(Message{"warning.ascend_only"});
  return answer;
}

}  // namespace steplens::analysis::viewer
