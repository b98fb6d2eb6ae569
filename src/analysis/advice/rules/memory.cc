#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/classify/text_memo.h"
#include "analysis/memory/allocation_names.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kMb = 1 << 20;

// The allocator's samples of the framework, by device: those of one component where several are
// sampled.
using SampleRows = std::vector<size_t>;
std::map<StringId, SampleRows> SamplesByDevice(const store::TraceStore& store) {
  const store::MemorySampleTable& samples = store.memory_samples;
  std::map<StringId, SampleRows> out;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string_view component = store.Text(samples.component[i]);
    if (!component.empty() && component != "PTA" && component != "MindSpore") continue;
    if (samples.allocated_bytes[i] != store::kNone) out[samples.device[i]].push_back(i);
  }
  for (auto& [device, rows] : out) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t a, size_t b) { return samples.ts_ns[a] < samples.ts_ns[b]; });
  }
  return out;
}

// What was allocated at the end of each step; empty if a step has no sample before its end.
std::vector<int64_t> AtStepEnds(const RankEvidence& rank, const SampleRows& rows) {
  const store::MemorySampleTable& samples = rank.store().memory_samples;
  std::vector<int64_t> out;
  for (const StepRange& step : rank.view().steps()) {
    const auto after = std::partition_point(rows.begin(), rows.end(), [&](size_t row) {
      return samples.ts_ns[row] <= step.host_end_ns;
    });
    if (after == rows.begin()) return {};
    out.push_back(samples.allocated_bytes[*(after - 1)]);
  }
  return out;
}

// Who allocated most of what lives on, among what was allocated in the steps but the last.
std::string KeptBy(const RankEvidence& rank) {
  const store::AllocationTable& allocations = rank.store().allocations;
  const std::vector<StepRange>& steps = rank.view().steps();
  const std::vector<std::string_view> names = AllocationNames(rank.store());
  std::map<std::string_view, int64_t> bytes_of;
  for (size_t i = 0; i < allocations.size() && i < names.size(); ++i) {
    const bool is_kept = allocations.release_ns[i] == store::kNone ||
                         allocations.release_ns[i] > steps.back().host_end_ns;
    if (is_kept && allocations.alloc_ns[i] >= steps.front().host_end_ns &&
        allocations.alloc_ns[i] < steps.back().host_begin_ns && allocations.size_bytes[i] > 0) {
      bytes_of[names[i]] = AddNs(bytes_of[names[i]], allocations.size_bytes[i].value());
    }
  }
  const auto most =
      std::max_element(bytes_of.begin(), bytes_of.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes_of.end() ? "" : std::string(most->first);
}

}  // namespace

// Memory that grows with every step ends with an error, however far away.
std::vector<Finding> FindMemoryGrowth(const RankEvidence& rank) {
  constexpr size_t kFewestSteps = 4;
  constexpr double kWorthIt = 0.002;  // of what is allocated, per step
  std::vector<Finding> findings;
  if (rank.view().steps().size() < kFewestSteps) return findings;
  for (const auto& [device, rows] : SamplesByDevice(rank.store())) {
    const std::vector<int64_t> ends = AtStepEnds(rank, rows);
    // The first step allocates what all others use.
    if (ends.size() < kFewestSteps) continue;
    bool is_growing = true;
    for (size_t i = 2; i < ends.size(); ++i) is_growing &= ends[i] > ends[i - 1];
    const double grown =
        static_cast<double>(ends.back() - ends[1]) / static_cast<double>(ends.size() - 2);
    if (!is_growing || grown < kMb || grown < kWorthIt * static_cast<double>(ends[1])) continue;
    const std::string name(rank.store().Text(device));
    Finding finding =
        rank.Make(RuleId::kMemoryGrowth, {"finding.name", {{"name", name}}},
                  {"finding.memory_growth.reason", {{"mb", fmt::format("{:.1f}", grown / kMb)}}},
                  {"finding.memory_growth.advice"});
    finding.evidence = {
        {{"evidence.memory_growth",
          {{"first", fmt::format("{:.1f}", static_cast<double>(ends[1]) / kMb)},
           {"last", fmt::format("{:.1f}", static_cast<double>(ends.back()) / kMb)},
           {"steps", std::to_string(ends.size() - 1)}}},
         fmt::format("SELECT ts_ns, allocated_bytes FROM memory_samples WHERE rank = {} AND device "
                     "= '{}'",
                     rank.rank(), SqlText(name))}};
    if (const std::string kept = KeptBy(rank); !kept.empty()) {
      finding.evidence.push_back(
          {{"evidence.kept_by", {{"name", kept}}},
           fmt::format("SELECT name, sum(size_bytes) FROM allocations WHERE rank = {} AND "
                       "release_ns IS NULL GROUP BY name ORDER BY 2 DESC",
                       rank.rank())});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindFragmentation(const RankEvidence& rank) {
  constexpr double kUnused = 0.15;
  constexpr double kWorthIt = 1024 * kMb;
  const store::MemorySampleTable& samples = rank.store().memory_samples;
  std::vector<Finding> findings;
  for (const auto& [device, rows] : SamplesByDevice(rank.store())) {
    std::optional<size_t> peak;  // of what is allocated: there is no more to be had later
    for (const size_t row : rows) {
      if (!samples.reserved_bytes[row].is_known() || !samples.allocated_bytes[row].is_known())
        continue;
      if (!peak || samples.allocated_bytes[row] > samples.allocated_bytes[*peak]) peak = row;
    }
    if (!peak) continue;
    const auto allocated = static_cast<double>(samples.allocated_bytes[*peak].value());
    const auto reserved = static_cast<double>(samples.reserved_bytes[*peak].value());
    if (reserved - allocated < kWorthIt || allocated > (1 - kUnused) * reserved) continue;
    const std::string name(rank.store().Text(device));
    Finding finding =
        rank.Make(RuleId::kFragmentation, {"finding.name", {{"name", name}}},
                  {"finding.fragmentation.reason",
                   {{"percent", fmt::format("{:.0f}", 100 * (1 - allocated / reserved))}}},
                  {"finding.fragmentation.advice"});
    finding.effort = Effort::kSetting;
    finding.places = {rank.PlaceOf({samples.ts_ns[*peak], samples.ts_ns[*peak]})};
    finding.evidence = {
        {{"evidence.fragmentation",
          {{"allocated", fmt::format("{:.0f}", allocated / kMb)},
           {"reserved", fmt::format("{:.0f}", reserved / kMb)}}},
         fmt::format("SELECT ts_ns, allocated_bytes, reserved_bytes FROM memory_samples WHERE rank "
                     "= {} ORDER BY allocated_bytes DESC",
                     rank.rank())}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Calls that allocate on a GPU stop its host, and often the device; a caching allocator makes them
// in the first steps only. (Ascend's are a rule of their own.)
std::vector<Finding> FindAllocatorCalls(const RankEvidence& rank) {
  if (rank.platform() != Platform::kGpu) return {};
  const store::TraceStore& store = rank.store();
  TextMemo is_call(store, [](std::string_view name) {
    return name == "cudaMalloc" || name == "cudaFree" || name == "hipMalloc" || name == "hipFree" ||
           name == "cudaHostAlloc" || name == "cudaFreeHost" || name == "hipHostMalloc" ||
           name == "cuMemCreate" || name == "cuMemMap" || name == "cuMemUnmap" ||
           name == "cuMemRelease" || name == "cuMemSetAccess";
  });
  const Cover steps = HostSteps(rank);
  std::vector<store::SliceId> found;
  for (size_t s = 0; s < store.slices.size(); ++s) {
    const int64_t begin_ns = store.slices.begin_ns[s];
    if (is_call(store.slices.name[s]) && steps.Within({begin_ns, AddNs(begin_ns, 1)}) > 0)
      found.push_back(static_cast<store::SliceId>(s));
  }
  const int64_t sum_ns = TotalOf(store, found);
  if (!rank.IsNoticeable(sum_ns)) return {};
  const auto longest =
      *std::max_element(found.begin(), found.end(), [&](store::SliceId a, store::SliceId b) {
        return store.slices.dur_ns[static_cast<size_t>(a)] <
               store.slices.dur_ns[static_cast<size_t>(b)];
      });
  Finding finding =
      rank.Make(RuleId::kAllocatorCalls, {"finding.allocator_calls"},
                {"finding.allocator_calls.reason",
                 {{"count", std::to_string(found.size())}, {"percent", rank.Percent(sum_ns)}}},
                {"finding.allocator_calls.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kSetting;
  finding.places = {rank.PlaceOfSlice(longest)};
  finding.evidence = {
      {{"evidence.slices", {{"count", std::to_string(found.size())}}},
       fmt::format("SELECT name, count(*), sum(dur_ns) FROM slices WHERE rank = {} AND (name LIKE "
                   "'%Malloc' OR name LIKE '%Free' OR name LIKE 'cuMem%') GROUP BY name",
                   rank.rank())}};
  AddCallSite(rank, longest, finding);
  Edit edit{.action = Edit::Action::kRemove, .factor = 0};
  edit.selector.part = EditSelector::Part::kHost;
  edit.selector.rank = rank.rank();
  edit.selector.slices = found;
  finding.change = {edit};
  return {finding};
}

}  // namespace steplens::analysis
