#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kSlower = 1.05;
constexpr int64_t kFewestKernelCalls = 3;

// Texts of different ranks have different ids: kernels of a job are known by their words.
using KernelKey = std::pair<std::string_view, std::string_view>;  // name, shapes

struct KernelCalls {
  int64_t count = 0;
  int64_t sum_ns = 0;
  std::vector<store::SliceId> slices;
  double Mean() const {
    return static_cast<double>(sum_ns) / static_cast<double>(std::max<int64_t>(1, count));
  }
};

bool IsCompute(const store::TraceStore& store, size_t row) {
  const std::string_view name = store.Text(store.kernels.name[row]);
  return !IsCommunicationCore(store.Text(store.kernels.core[row])) &&
         !store::IsCommunicationKernel(name) && !name.starts_with("Mem");
}

std::map<KernelKey, KernelCalls> CallsOf(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::KernelTable& kernels = store.kernels;
  const std::vector<store::SliceId>& slices = rank.view().kernel_slices().slice_of();
  std::map<std::pair<StringId, StringId>, KernelCalls> by_id;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.dur_ns[i] == store::kNone || kernels.dur_ns[i] <= 0 || !IsCompute(store, i) ||
        !rank.IsInSteps(kernels.begin_ns[i])) {
      continue;
    }
    KernelCalls& calls = by_id[{kernels.name[i], kernels.input_shapes[i]}];
    ++calls.count;
    calls.sum_ns = AddNs(calls.sum_ns, kernels.dur_ns[i].value());
    if (slices[i] != store::kNoSlice) calls.slices.push_back(slices[i]);
  }
  std::map<KernelKey, KernelCalls> out;
  for (auto& [key, calls] : by_id)
    out[{store.Text(key.first), store.Text(key.second)}] = std::move(calls);
  return out;
}

// The usual time of a call on the other ranks; 0 if nobody else makes as many of them.
double UsualNs(const std::vector<std::map<KernelKey, KernelCalls>>& all, size_t own,
               const KernelKey& key, int64_t count) {
  std::vector<double> means;
  for (size_t r = 0; r < all.size(); ++r) {
    const auto found = all[r].find(key);
    if (r == own || found == all[r].end() || found->second.count != count) continue;
    means.push_back(found->second.Mean());
  }
  if (means.empty()) return 0;
  std::nth_element(means.begin(), means.begin() + static_cast<int64_t>(means.size() / 2),
                   means.end());
  return means[means.size() / 2];
}

struct Drift {
  int64_t slow_ns = 0;  // time of the kernels that are slower here
  double excess_ns = 0;
  size_t kinds = 0;
  KernelKey worst{};
  double worst_ratio = 0;
  double worst_excess_ns = 0;
  std::vector<store::SliceId> slices;
};

Drift DriftOf(const std::vector<std::map<KernelKey, KernelCalls>>& all, size_t own) {
  Drift out;
  for (const auto& [key, calls] : all[own]) {
    if (calls.count < kFewestKernelCalls) continue;
    const double usual_ns = UsualNs(all, own, key, calls.count);
    if (usual_ns <= 0 || calls.Mean() < kSlower * usual_ns) continue;
    const double excess_ns = (calls.Mean() - usual_ns) * static_cast<double>(calls.count);
    out.slow_ns = AddNs(out.slow_ns, calls.sum_ns);
    out.excess_ns += excess_ns;
    ++out.kinds;
    out.slices.insert(out.slices.end(), calls.slices.begin(), calls.slices.end());
    if (excess_ns <= out.worst_excess_ns) continue;
    out.worst = key;
    out.worst_ratio = calls.Mean() / usual_ns;
    out.worst_excess_ns = excess_ns;
  }
  std::sort(out.slices.begin(), out.slices.end());
  return out;
}

}  // namespace

// The same kernels with the same shapes take longer on one rank: its clock, memory or power.
std::vector<Finding> CompareKernels(std::span<const RankEvidence> ranks) {
  std::vector<std::map<KernelKey, KernelCalls>> all;
  for (const RankEvidence& rank : ranks) all.push_back(CallsOf(rank));
  std::vector<Finding> findings;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Drift drift = DriftOf(all, r);
    const RankEvidence& rank = ranks[r];
    if (!rank.IsNoticeable(static_cast<int64_t>(drift.excess_ns))) continue;
    Finding finding = rank.Make(
        RuleId::kKernelDrift, {"finding.late.rank", {{"index", std::to_string(rank.rank())}}},
        {"finding.kernel_drift.reason",
         {{"count", std::to_string(drift.kinds)},
          {"name", std::string(drift.worst.first)},
          {"percent", fmt::format("{:.0f}", 100 * (drift.worst_ratio - 1))}}},
        {"finding.kernel_drift.advice"});
    finding.saving = rank.AtMost(static_cast<int64_t>(drift.excess_ns), rank.times().computing_ns);
    finding.confidence = Confidence::kEstimated;
    finding.effort = Effort::kHardware;
    if (!drift.slices.empty()) finding.places = {rank.PlaceOfSlice(drift.slices.front())};
    finding.evidence = {
        {{"evidence.kernel_drift",
          {{"time", SentenceTime(rank.PerStepUs(static_cast<int64_t>(drift.excess_ns)))}}},
         fmt::format("SELECT rank, count(*), avg(dur_ns) FROM kernels WHERE name = '{}' GROUP BY "
                     "rank",
                     SqlText(drift.worst.first))}};
    Edit edit{.action = Edit::Action::kScale,
              .factor = 1 - drift.excess_ns / static_cast<double>(drift.slow_ns)};
    edit.selector.part = EditSelector::Part::kKernel;
    edit.selector.rank = rank.rank();
    edit.selector.slices = drift.slices;
    if (!edit.selector.slices.empty()) finding.change = {edit};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
