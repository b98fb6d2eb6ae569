#include "analysis/whatif/whatif_answer.h"

#include <fmt/format.h>

#include "analysis/whatif/whatif_tables.h"

namespace steplens::analysis {

Result<std::vector<Edit>> ParseEdits(const EditTexts& texts) {
  std::vector<Edit> out;
  const auto add = [&](const Result<Edit>& edit) -> Status {
    if (!edit.ok()) return edit.error();
    out.push_back(*edit);
    return {};
  };
  for (const std::string& text : texts.scale) SL_RETURN_IF_ERROR(add(ParseScale(text)));
  for (const std::string& text : texts.remove) SL_RETURN_IF_ERROR(add(ParseRemove(text)));
  for (const std::string& text : texts.overlap) SL_RETURN_IF_ERROR(add(ParseOverlap(text)));
  if (!texts.network.empty()) {
    SL_RETURN_IF_ERROR(add(ParseFaster(texts.network, EditSelector::Part::kComm, "--network")));
  }
  if (!texts.host.empty())
    SL_RETURN_IF_ERROR(add(ParseFaster(texts.host, EditSelector::Part::kHost, "--host")));
  if (!texts.balance.empty()) SL_RETURN_IF_ERROR(add(ParseBalance(texts.balance)));
  return out;
}

std::vector<Edit> UsualEdits() {
  EditTexts texts;
  texts.scale = {"kernel=0.5", "launch=0.5"};
  texts.remove = {"sync", "idle", "wait"};
  texts.overlap = {"comm"};
  texts.network = "2x";
  texts.host = "2x";
  texts.balance = "ranks";
  Result<std::vector<Edit>> edits = ParseEdits(texts);
  return edits.ok() ? std::move(*edits) : std::vector<Edit>();
}

std::vector<RankView> ViewsOf(const store::Job& job, const Selection& selection) {
  std::vector<RankView> out;
  for (const store::TraceStore& rank : job.ranks) {
    if (selection.HasRank(rank.info.rank)) out.emplace_back(rank);
  }
  return out;
}

std::vector<Message> ReplayWarnings(const StepReplay& replay) {
  std::vector<Message> out;
  if (replay.measured_ns() <= 0) {
    out.push_back(Message{"whatif.empty"});
  } else if (!replay.is_trusted()) {
    out.push_back(Message{"whatif.not_trusted",
                          {{"percent", fmt::format("{:.1f}", replay.error_percent())}}});
  }
  return out;
}

std::vector<table::Table> CriticalPathTables(const StepReplay& replay, size_t top) {
  std::vector<table::Table> out;
  out.push_back(PathShareTable(replay));
  out.push_back(PathPartTable(replay, top));
  out.push_back(PathChainTable(replay, top));
  out.push_back(SlackTable(replay, top));
  return out;
}

std::vector<table::Table> WhatIfTables(const StepReplay& replay, std::span<const Edit> edits) {
  std::vector<table::Table> out;
  out.push_back(WhatIfTable(replay, edits));
  out.push_back(ReplayTable(replay));
  return out;
}

}  // namespace steplens::analysis
