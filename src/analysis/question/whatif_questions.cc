#include "analysis/question/whatif_questions.h"

#include <fmt/format.h>

#include "analysis/whatif/whatif_answer.h"
#include "analysis/whatif/whatif_tables.h"

namespace steplens::analysis {
namespace {

// One rank, or all if none is named.
Result<Selection> GraphSelection(const QuestionArgs& args, const store::Job& job) {
  Selection out;
  SL_ASSIGN_OR_RETURN(out.rank, args.Int("rank"));
  SL_ASSIGN_OR_RETURN(const std::string step, args.TextOr("step", ""));
  if (!step.empty() && step != "all" && step != "All") {
    SL_ASSIGN_OR_RETURN(out.step, args.Int("step"));
  }
  for (const store::TraceStore& rank : job.ranks) {
    if (out.HasRank(rank.info.rank)) return out;
  }
  return Error{ErrorCode::kNotFound, out.rank ? fmt::format("there is no rank {}", *out.rank)
                                              : std::string("no rank has been read")};
}

// "a; b" as a list.
Result<std::vector<std::string>> TextsOf(const QuestionArgs& args, std::string_view name) {
  SL_ASSIGN_OR_RETURN(const std::string all, args.TextOr(name, ""));
  std::vector<std::string> out;
  size_t from = 0;
  while (from < all.size()) {
    size_t until = all.find(';', from);
    if (until == std::string::npos) until = all.size();
    std::string one = all.substr(from, until - from);
    one.erase(0, one.find_first_not_of(' '));
    one.erase(one.find_last_not_of(' ') + 1);
    if (!one.empty()) out.push_back(std::move(one));
    from = until + 1;
  }
  return out;
}

}  // namespace

Result<QuestionAnswer> AskCriticalPath(const QuestionArgs& args, const store::Job& job) {
  SL_ASSIGN_OR_RETURN(const Selection selection, GraphSelection(args, job));
  SL_ASSIGN_OR_RETURN(const int64_t top, args.IntOr("top", 15));
  if (top < 1) return Error{ErrorCode::kInvalidArgument, "argument 'top' must be above 0"};
  const std::vector<RankView> ranks = ViewsOf(job, selection);
  const StepReplay replay(job, ranks, selection.step);
  QuestionAnswer out;
  out.definition = "steplens.critical_path";
  out.tables = CriticalPathTables(replay, static_cast<size_t>(top));
  out.tables.push_back(PathPieceTable(replay));
  out.warnings = ReplayWarnings(replay);
  return out;
}

Result<QuestionAnswer> AskWhatIf(const QuestionArgs& args, const store::Job& job) {
  SL_ASSIGN_OR_RETURN(const Selection selection, GraphSelection(args, job));
  EditTexts texts;
  SL_ASSIGN_OR_RETURN(texts.scale, TextsOf(args, "scale"));
  SL_ASSIGN_OR_RETURN(texts.remove, TextsOf(args, "remove"));
  SL_ASSIGN_OR_RETURN(texts.overlap, TextsOf(args, "overlap"));
  SL_ASSIGN_OR_RETURN(texts.network, args.TextOr("network", ""));
  SL_ASSIGN_OR_RETURN(texts.host, args.TextOr("host", ""));
  SL_ASSIGN_OR_RETURN(texts.balance, args.TextOr("balance", ""));
  SL_ASSIGN_OR_RETURN(std::vector<Edit> edits, ParseEdits(texts));
  if (edits.empty()) edits = UsualEdits();
  const std::vector<RankView> ranks = ViewsOf(job, selection);
  const StepReplay replay(job, ranks, selection.step);
  QuestionAnswer out;
  out.definition = "steplens.whatif";
  out.tables = WhatIfTables(replay, edits);
  out.warnings = ReplayWarnings(replay);
  return out;
}

}  // namespace steplens::analysis
