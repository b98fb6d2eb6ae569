#include "server/api/rule_shades.h"

#include <fmt/format.h>

#include "server/api/slice_matches.h"

namespace steplens::server {

Result<std::span<const uint8_t>> RuleSet::ShadesOf(const Ask& ask, size_t slot) const {
  const std::lock_guard lock(shades_mutex_);
  const auto known = shades_.find(slot);
  if (known != shades_.end()) return std::span<const uint8_t>(known->second);
  const ShownRank& rank = *ask.view.ranks()[slot];
  std::vector<const Lane*> lanes;
  for (const auto& lane : rank.timeline->lanes()) {
    if (lane->kind == LaneKind::kSlices) lanes.push_back(lane.get());
  }
  std::vector<uint8_t> shades(rank.store->slices.size(), 0);
  for (size_t rule = 0; rule < rules_.size(); ++rule) {
    const SliceMatches matches(ask, rules_[rule], lanes, {});
    SL_RETURN_IF_ERROR(matches.ForEach(slot, [&](const Lane& lane, uint32_t slice) {
      if (!lane.is_derived() && shades[slice] == 0) shades[slice] = static_cast<uint8_t>(rule + 1);
    }));
  }
  return std::span<const uint8_t>(shades_.emplace(slot, std::move(shades)).first->second);
}

Result<std::shared_ptr<const RuleSet>> RulesParam(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ask.params.Texts("rules"));
  if (texts.empty()) return std::shared_ptr<const RuleSet>();
  if (texts.size() > RuleSet::kMaxRules)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'rules' may have at most {} filters", RuleSet::kMaxRules)};
  std::string question;
  for (const std::string& text : texts) question += text + '\n';
  if (auto known = ask.open.cache->FindRules(question)) return known;
  std::vector<SliceFilter> rules;
  for (const std::string& text : texts) {
    SL_ASSIGN_OR_RETURN(SliceFilter rule, SliceFilter::Parse(text, MatchMode::kContains));
    rules.push_back(std::move(rule));
  }
  return ask.open.cache->KeepRules(question, std::move(rules));
}

}  // namespace steplens::server
