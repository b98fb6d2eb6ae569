#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/expert_sequences.h"
#include "analysis/viewer/metrics.h"

// System View > Expert: what the reference viewer points out of its own accord.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr size_t kOften = 20;  // occurrences from which ACLNN and dispatch are listed
constexpr int64_t kLongAicpuNs = 20000;

table::Table FrequencyTable(const TraceStore& store) {
  struct Range {
    double high = kNoNumber;
    double low = kNoNumber;
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
  TableRows rows("frequency",
                 {TextColumn("series"), NumberColumn("Max(MHz)", 0), NumberColumn("Min(MHz)", 0),
                  IntColumn("Drop(%)"), TextColumn("Result")});
  for (const auto& [t, range] : series) {
    const double drop = std::trunc(100 * Share(range.high - range.low, range.high));
    rows.Add(store.Text(store.tracks.name[t]), range.high, range.low, drop,
             drop > 5 ? "Issue" : "OK");
  }
  return rows.Take();
}

// Data types an AI Core kernel of the type takes and gives, without blanks at the ends. The whole
// text of all tensors is compared, as the reference does it.
struct TypeClass {
  std::string_view type;
  std::string_view inputs;
  std::string_view outputs;
};
constexpr std::string_view kCastTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,";
constexpr std::string_view kMulTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,int8,";
constexpr std::string_view kOtherTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,int8,int16,uint16,";
constexpr std::array<TypeClass, 5> kTypeClasses{{
    {"cast", kCastTypes, kCastTypes},
    {"tensorequal", ",float,float32,float16,bool,int32,int8,uint8,", ",bool,"},
    {"equal", ",float,float32,float16,bool,int32,int8,uint8,int64,", ",bool,"},
    {"nonzero", ",float16,bool,dt_bf16,", ",int64,"},
    {"mul", kMulTypes, kMulTypes},
}};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool IsListed(std::string_view list, const std::string& lower_type) {
  return list.find("," + lower_type + ",") != list.npos;
}

// Why an AI CPU kernel is listed; empty if it is not.
std::string AicpuReason(std::string_view type, std::string_view inputs, std::string_view outputs,
                        int64_t dur_ns) {
  const std::string lower = Lower(type);
  for (const char* bad : {"index", "indexput", "indexputv2", "nonzero"}) {
    if (lower == bad) return "replace the code that needs it";
  }
  TypeClass lists{"", kOtherTypes, kOtherTypes};
  for (const TypeClass& known : kTypeClasses) {
    if (known.type == lower) lists = known;
  }
  if (!IsListed(lists.inputs, Lower(inputs)) && !IsListed(lists.outputs, Lower(outputs))) {
    return "convert its data types";
  }
  return dur_ns >= kLongAicpuNs ? "takes 20 us or more" : "";
}

table::Table AicpuTable(const TraceStore& store, int64_t origin_ns) {
  TableRows rows("aicpu", {TextColumn("Name"), TextColumn("Type"), TextColumn("Input Data Types"),
                           TextColumn("Output Data Types"), TimeColumn("Duration(us)"),
                           TextColumn("reason"), IntColumn("start_ns"), IntColumn("kernel")});
  const store::KernelTable& k = store.kernels;
  for (size_t i = 0; i < k.size(); ++i) {
    if (store.Text(k.core[i]) != "AI_CPU" || k.dur_ns[i] == store::kNone) continue;
    const std::string reason = AicpuReason(store.Text(k.type[i]), store.Text(k.input_types[i]),
                                           store.Text(k.output_types[i]), k.dur_ns[i]);
    if (reason.empty()) continue;
    rows.Add(store.Text(k.name[i]), store.Text(k.type[i]), store.Text(k.input_types[i]),
             store.Text(k.output_types[i]), k.dur_ns[i], reason, AddNs(k.begin_ns[i], -origin_ns),
             i);
  }
  return rows.Take();
}

// Slices for which wanted(row) holds, one row each.
template <typename Wanted>
void AppendSlices(const TraceStore& store, int64_t origin_ns, TableRows& rows, Wanted&& wanted) {
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (!wanted(i)) continue;
    rows.Add(store.Text(store.slices.name[i]), AddNs(store.slices.begin_ns[i], -origin_ns),
             store.slices.dur_ns[i], static_cast<int64_t>(store.slices.track[i]), i);
  }
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
  AppendSlices(store, origin_ns, rows, [&](size_t row) {
    const auto t = static_cast<size_t>(store.slices.track[row]);
    const StringId name = store.slices.name[row];
    return t < tracks.size() && tracks[t] == TrackKind::kDevice && is_aclnn(name) &&
           counts[name] >= kOften;
  });
  return rows.Take();
}

table::Table DispatchTable(const TraceStore& store, const std::vector<TrackKind>& tracks,
                           int64_t origin_ns) {
  TextMemo compiles(store,
                    [](std::string_view name) { return name.ends_with("aclopCompileAndExecute"); });
  const auto is_wanted = [&](size_t row) {
    const auto t = static_cast<size_t>(store.slices.track[row]);
    return t < tracks.size() && tracks[t] == TrackKind::kCann && compiles(store.slices.name[row]);
  };
  size_t count = 0;
  for (size_t i = 0; i < store.slices.size(); ++i) count += is_wanted(i) ? 1 : 0;
  TableRows rows = SliceRows("dispatch");
  if (count >= kOften) AppendSlices(store, origin_ns, rows, is_wanted);
  return rows.Take();
}

table::Table OptimizerTable(const TraceStore& store, int64_t origin_ns) {
  constexpr std::array<std::string_view, 9> kFused{
      "SGD", "Adadelta", "Lamb", "Adam", "AdamW", "AdamP", "BertAdam", "RMSprop", "RMSpropTF"};
  TableRows rows("affinity_optimizer",
                 {TextColumn("Name"), TextColumn("Replace API"), IntColumn("start_ns"),
                  TimeColumn("Duration(us)"), IntColumn("track"), IntColumn("slice")});
  std::map<StringId, std::string> replaced;  // name -> what replaces it
  for (const std::string_view optimizer : kFused) {
    const auto name = store.strings.Find(fmt::format("Optimizer.step#{}.step", optimizer));
    if (name) replaced.emplace(*name, fmt::format("torch_npu.optim.NpuFused{}", optimizer));
  }
  for (size_t i = 0; i < store.slices.size() && !replaced.empty(); ++i) {
    const auto found = replaced.find(store.slices.name[i]);
    if (found == replaced.end()) continue;
    rows.Add(store.Text(found->first), found->second, AddNs(store.slices.begin_ns[i], -origin_ns),
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
  if (DetectPlatform(*store, tracks) == Platform::kAscend) {
    answer.tables.push_back(AicpuTable(*store, origin_ns));
    answer.tables.push_back(AffinityApiTable(*store, origin_ns));
    answer.tables.push_back(OptimizerTable(*store, origin_ns));
    answer.tables.push_back(AclnnTable(*store, tracks, origin_ns));
    answer.tables.push_back(FusionTable(*store, origin_ns));
    answer.tables.push_back(DispatchTable(*store, tracks, origin_ns));
  } else {
    answer.warnings.push_back("these rules are about Ascend devices");
  }
  return answer;
}

}  // namespace steplens::analysis::viewer
