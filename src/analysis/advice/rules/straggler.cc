#include "analysis/advice/rules/straggler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/rules/job_rules.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/classify/text_memo.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

enum HostPart : uint8_t { kLoader, kGarbage, kAllocator, kHostWait, kParts };

// "work.loader": what is told of a part.
constexpr std::array<const char*, kParts> kPartKeys = {"work.loader", "work.gc", "work.allocator",
                                                       "work.wait"};

bool HoldsWordOf(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

bool IsLoader(std::string_view name) {
  return HoldsWordOf(name, "DataLoader") || HoldsWordOf(name, "dataloader");
}
bool IsGarbage(std::string_view name) {
  return name == "GC" || name == "gc" || HoldsWordOf(name, "garbage_collect") ||
         name == "gc.collect";
}
bool IsAllocatorCall(std::string_view name) {
  return HoldsWordOf(name, "aclMallocMemInner") || HoldsWordOf(name, "aclrtMalloc") ||
         HoldsWordOf(name, "aclrtFree") || name == "cudaMalloc" || name == "cudaFree";
}
bool IsHostWait(std::string_view name) {
  return WaitKindOf(name, TrackKind::kHost) == WaitKind::kHost;
}

// What the host of a rank does in its steps, without counting a moment twice; ms per step.
std::array<double, kParts> HostPartsOf(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  TextMemo loader(store, IsLoader);
  TextMemo garbage(store, IsGarbage);
  TextMemo allocator(store, IsAllocatorCall);
  TextMemo wait(store, IsHostWait);
  std::array<std::vector<Interval>, kParts> found;
  for (size_t s = 0; s < store.slices.size(); ++s) {
    const StringId name = store.slices.name[s];
    const int part = loader(name)      ? kLoader
                     : garbage(name)   ? kGarbage
                     : allocator(name) ? kAllocator
                     : wait(name)      ? kHostWait
                                       : -1;
    if (part < 0 || store.slices.track[s] == store::kNoTrack) continue;
    if (rank.tracks()[static_cast<size_t>(store.slices.track[s])] == TrackKind::kDevice) continue;
    found[static_cast<size_t>(part)].push_back(
        {store.slices.begin_ns[s], EndNs(store.slices.begin_ns[s], store.slices.dur_ns[s])});
  }
  std::array<double, kParts> out{};
  const Cover steps = HostSteps(rank);
  for (size_t p = 0; p < kParts; ++p) {
    int64_t sum_ns = 0;
    const Cover cover(std::move(found[p]));
    for (const Interval& run : cover.runs()) sum_ns = AddNs(sum_ns, steps.Within(run));
    out[p] = rank.PerStepUs(sum_ns) / 1000;
  }
  return out;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct PartExcess {
  std::string key;
  double ms = 0;
};

// What the late ranks do longer than the median of the others, the most first.
std::vector<PartExcess> ExcessOf(std::span<const RankEvidence> ranks,
                                 const std::vector<std::array<double, kParts>>& host,
                                 const std::vector<int64_t>& late) {
  const auto is_late = [&](size_t r) {
    return std::find(late.begin(), late.end(), ranks[r].rank()) != late.end();
  };
  const auto excess = [&](const auto& of) {
    std::vector<double> own;
    std::vector<double> others;
    for (size_t r = 0; r < ranks.size(); ++r) (is_late(r) ? own : others).push_back(of(r));
    return others.empty() ? 0 : Median(std::move(own)) - Median(std::move(others));
  };
  std::vector<PartExcess> out;
  for (size_t p = 0; p < kParts; ++p)
    out.push_back({kPartKeys[p], excess([&](size_t r) { return host[r][p]; })});
  const auto per_step_ms = [&](size_t r, int64_t StepTimes::* part) {
    return ranks[r].PerStepUs(ranks[r].times().*part) / 1000;
  };
  out.push_back({"work.computing",
                 excess([&](size_t r) { return per_step_ms(r, &StepTimes::computing_ns); })});
  out.push_back(
      {"work.free", excess([&](size_t r) { return per_step_ms(r, &StepTimes::free_ns); })});
  std::stable_sort(out.begin(), out.end(),
                   [](const PartExcess& a, const PartExcess& b) { return a.ms > b.ms; });
  return out;
}

}  // namespace

void AttributeLateRanks(std::span<const RankEvidence> ranks, std::vector<Finding>& findings) {
  if (ranks.size() < 2) return;
  std::vector<std::array<double, kParts>> host;
  for (Finding& finding : findings) {
    if (finding.rule != RuleId::kLateRank && finding.rule != RuleId::kLateGroup) continue;
    if (host.empty()) {
      for (const RankEvidence& rank : ranks) host.push_back(HostPartsOf(rank));
    }
    const double late_ms = finding.saving ? finding.saving->Best() : 0;
    constexpr double kWorthSaying = 0.1;
    for (const PartExcess& part : ExcessOf(ranks, host, finding.ranks)) {
      if (part.ms < kWorthSaying * late_ms || part.ms <= 0) continue;
      finding.evidence.push_back(
          {{"evidence.excess",
            {{"part", Message{part.key}}, {"ms", fmt::format("{:.3f}", part.ms)}}},
           "SELECT rank, avg(computing_ns), avg(free_ns) FROM breakdown GROUP BY rank"});
      const bool is_cause = part.key == kPartKeys[kLoader] || part.key == kPartKeys[kGarbage] ||
                            part.key == kPartKeys[kAllocator];
      if (is_cause && 2 * part.ms > late_ms && finding.advice.key != "finding.late.part.advice") {
        finding.reason = {"finding.late.part",
                          {{"reason", finding.reason},
                           {"part", Message{part.key}},
                           {"ms", fmt::format("{:.2f}", part.ms)}}};
        finding.advice = {"finding.late.part.advice", {{"part", Message{part.key}}}};
      }
    }
  }
}

}  // namespace steplens::analysis
