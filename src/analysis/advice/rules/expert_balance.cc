#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kUnevenTokens = 1.2;

struct ExpertWork {
  const RankEvidence* rank = nullptr;
  double tokens = 0;
  int64_t sum_ns = 0;
  std::vector<store::SliceId> slices{};
};

// The rows of the first input of a grouped product: the tokens that all experts of the rank got.
double FirstDimension(std::string_view shapes) {
  const size_t begin = shapes.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  int64_t rows = 0;
  std::from_chars(shapes.data() + begin, shapes.data() + shapes.size(), rows);
  return static_cast<double>(rows);
}

ExpertWork WorkOf(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::KernelTable& kernels = store.kernels;
  TextMemo is_grouped(store, [](std::string_view name) {
    return name.find("GroupedMatmul") != std::string_view::npos ||
           name.find("GroupedMatMul") != std::string_view::npos ||
           name.find("grouped_gemm") != std::string_view::npos ||
           name.find("grouped_mm") != std::string_view::npos;
  });
  ExpertWork out{.rank = &rank};
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!is_grouped(kernels.type[i]) && !is_grouped(kernels.name[i])) continue;
    if (kernels.dur_ns[i] == store::kNone || !rank.IsInSteps(kernels.begin_ns[i])) continue;
    out.tokens += FirstDimension(store.Text(kernels.input_shapes[i]));
    out.sum_ns = AddNs(out.sum_ns, kernels.dur_ns[i].value());
    const store::SliceId slice = rank.view().kernel_slices().slice_of()[i];
    if (slice != store::kNoSlice) out.slices.push_back(slice);
  }
  out.tokens /= static_cast<double>(rank.times().steps);
  std::sort(out.slices.begin(), out.slices.end());
  return out;
}

}  // namespace

// By the shapes of the experts' products. Where these are not recorded, uneven_load tells from how
// long ranks wait.
std::vector<Finding> CompareExperts(std::span<const RankEvidence> ranks) {
  std::vector<ExpertWork> work;
  double mean = 0;
  for (const RankEvidence& rank : ranks) {
    work.push_back(WorkOf(rank));
    if (work.back().tokens <= 0) work.pop_back();
  }
  if (work.size() < 2) return {};
  for (const ExpertWork& one : work) mean += one.tokens / static_cast<double>(work.size());
  const ExpertWork& most = *std::max_element(
      work.begin(), work.end(),
      [](const ExpertWork& a, const ExpertWork& b) { return a.tokens < b.tokens; });
  const double ratio = most.tokens / mean;
  const RankEvidence& rank = *most.rank;
  const auto excess_ns = static_cast<int64_t>(static_cast<double>(most.sum_ns) * (1 - 1 / ratio));
  if (ratio < kUnevenTokens || !rank.IsNoticeable(excess_ns)) return {};
  Finding finding = rank.Make(
      RuleId::kExpertBalance, {"finding.late.rank", {{"index", std::to_string(rank.rank())}}},
      {"finding.expert_balance.reason", {{"ratio", fmt::format("{:.2f}", ratio)}}},
      {"finding.late.tokens.advice"});
  finding.saving = rank.AtMost(excess_ns, rank.times().computing_ns);
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kModel;
  finding.evidence = {
      {{"evidence.tokens",
        {{"tokens", fmt::format("{:.0f}", most.tokens)}, {"mean", fmt::format("{:.0f}", mean)}}},
       "SELECT rank, input_shapes, count(*), sum(dur_ns) FROM kernels WHERE type LIKE "
       "'%GroupedMat%' GROUP BY rank, input_shapes"}};
  // Everybody gets the mean.
  for (const ExpertWork& one : work) {
    if (one.slices.empty()) continue;
    Edit edit{.action = Edit::Action::kScale, .factor = mean / one.tokens};
    edit.selector.part = EditSelector::Part::kKernel;
    edit.selector.rank = one.rank->rank();
    edit.selector.slices = one.slices;
    finding.change.push_back(edit);
  }
  if (!most.slices.empty()) finding.places = {rank.PlaceOfSlice(most.slices.front())};
  return {finding};
}

}  // namespace steplens::analysis
