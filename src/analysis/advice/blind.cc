#include "analysis/advice/blind.h"

#include <algorithm>
#include <array>

namespace steplens::analysis {
namespace {

struct SightText {
  RuleSight sight;
  const char* missing;
  const char* message;
};
constexpr std::array<SightText, 9> kSights{{
    {kSeesSteps, "steps", "blind.steps"},
    {kSeesHost, "host operators", "blind.host"},
    {kSeesCann, "CANN calls", "blind.cann"},
    {kSeesStacks, "stacks", "blind.stacks"},
    {kSeesKernels, "kernels", "blind.kernels"},
    {kSeesShapes, "shapes", "blind.shapes"},
    {kSeesMetrics, "metrics", "blind.metrics"},
    {kSeesComm, "communication", "blind.communication"},
    {kSeesEnvironment, "environment", "blind.environment"},
}};

bool HasText(const store::Column<StringId>& column) {
  for (size_t i = 0; i < column.size(); ++i) {
    if (column[i] != StringId::kEmpty) return true;
  }
  return false;
}

// What a rank has, as bits of RuleSight.
uint16_t SightsOf(const RankView& rank) {
  const store::TraceStore& store = rank.store();
  uint16_t sights = 0;
  if (!rank.steps().empty() || store.step_traces.size() > 0) sights |= kSeesSteps;
  if (store.host_ops.size() > 0) sights |= kSeesHost;
  const std::vector<TrackKind>& tracks = rank.tracks();
  if (std::find(tracks.begin(), tracks.end(), TrackKind::kHost) != tracks.end())
    sights |= kSeesHost;
  if (std::find(tracks.begin(), tracks.end(), TrackKind::kCann) != tracks.end() ||
      store.api_statistics.size() > 0) {
    sights |= kSeesCann;
  }
  if (HasText(store.host_ops.call_stack)) sights |= kSeesStacks;
  if (store.kernels.size() > 0) sights |= kSeesKernels;
  if (HasText(store.kernels.input_shapes)) sights |= kSeesShapes;
  if (!store.kernel_metrics.empty()) sights |= kSeesMetrics;
  if (store.comm_times.size() > 0 || store.comm_ops.size() > 0) sights |= kSeesComm;
  if (store.FindMeta("ENV_VARIABLES")) sights |= kSeesEnvironment;
  return sights;
}

}  // namespace

std::vector<Blindness> BlindRules(const std::vector<RankView>& ranks,
                                  const std::vector<const RankEvidence*>& evidence) {
  uint16_t sights = 0;
  for (const RankView& rank : ranks) sights |= SightsOf(rank);
  std::vector<Blindness> out;
  for (const SightText& sight : kSights) {
    if ((sights & sight.sight) != 0) continue;
    // Communication that a single rank does not have is nothing to record.
    if (sight.sight == kSeesComm && ranks.size() < 2) continue;
    Blindness blind{.missing = sight.missing, .rules = {}, .text = {}};
    std::string names;
    for (const RuleSpec& rule : Rules()) {
      if ((rule.sees & sight.sight) == 0) continue;
      const bool is_asked =
          std::any_of(evidence.begin(), evidence.end(),
                      [&](const RankEvidence* rank) { return MeetsNeeds(rule.needs, *rank); });
      if (rule.needs != RuleNeeds::kNothing && !is_asked) continue;
      blind.rules.emplace_back(rule.name);
      names += (names.empty() ? "" : ", ") + std::string(rule.name);
    }
    const bool matters = !blind.rules.empty() || sight.sight == kSeesSteps;
    if (!matters) continue;
    blind.text = {"blind.without",
                  {{"missing", Message{std::string(sight.message)}}, {"rules", names}}};
    if (sight.sight == kSeesSteps) blind.text = {"blind.steps"};
    out.push_back(std::move(blind));
  }
  return out;
}

}  // namespace steplens::analysis
