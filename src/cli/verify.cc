#include "analysis/verify/verify.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "readers/slice_args.h"
#include "table/display_width.h"

namespace steplens::cli {
namespace {

using analysis::CheckResult;
using analysis::CheckState;

struct RankResult {
  int64_t rank;
  std::string path;
  std::vector<CheckResult> checks;
};

std::string ToJson(const std::vector<RankResult>& results, bool all_hold) {
  JsonWriter json;
  json.BeginObject().Key("holds").Bool(all_hold).Key("ranks").BeginArray();
  for (const RankResult& result : results) {
    json.NewLine()
        .BeginObject()
        .Key("rank")
        .Int(result.rank)
        .Key("path")
        .String(result.path)
        .Key("checks")
        .BeginArray();
    for (const CheckResult& check : result.checks) {
      json.NewLine().BeginObject();
      json.Key("id").String(check.id).Key("state").String(analysis::CheckStateName(check.state));
      json.Key("title")
          .String(check.title)
          .Key("detail")
          .String(check.detail)
          .Key("offending")
          .BeginArray();
      for (const std::string& row : check.offending) json.String(row);
      json.EndArray().EndObject();
    }
    json.EndArray().EndObject();
  }
  return json.EndArray().EndObject().NewLine().Take();
}

// Kernel names may be whole lines of C++; both ends of a row say where it is and what is wrong.
constexpr size_t kMaxRowWidth = 160;

// Broken rules with their first rows, or `all` rules, and how many there are of each kind.
std::string ToText(const std::vector<RankResult>& results, bool all) {
  std::string out;
  for (const RankResult& result : results) {
    size_t counts[3] = {};
    out += fmt::format("Rank {}: {}\n", result.rank, result.path);
    for (const CheckResult& check : result.checks) {
      ++counts[static_cast<size_t>(check.state)];
      if (!all && check.state != CheckState::kBroken) continue;
      const char* mark = check.state == CheckState::kHolds    ? "ok"
                         : check.state == CheckState::kBroken ? "BROKEN"
                                                              : "-";
      out += fmt::format("  {:<6} {:<24} {}\n", mark, check.id, check.title);
      if (!check.detail.empty()) out += fmt::format("  {:<31} {}\n", "", check.detail);
      for (const std::string& row : check.offending) {
        out += fmt::format("  {:<31}   {}\n", "",
                           table::ShortenMiddle(table::ToPrintable(row), kMaxRowWidth));
      }
    }
    out +=
        fmt::format("  {} hold, {} broken, {} not applicable\n", counts[0], counts[1], counts[2]);
  }
  return out;
}

Result<int> RunVerify(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  analysis::VerifyOptions options;
  options.args_of = readers::MakeArgsReader();
  std::vector<RankResult> results;
  bool all_hold = !HasLostRanks(job);  // what cannot be read cannot be vouched for
  std::vector<std::vector<CheckResult>> checks = analysis::VerifyJob(job, options);
  for (size_t i = 0; i < checks.size(); ++i) {
    results.push_back({job.ranks[i].info.rank, job.ranks[i].info.path, std::move(checks[i])});
    for (const CheckResult& check : results.back().checks)
      all_hold = all_hold && check.state != CheckState::kBroken;
  }
  const std::string text = arguments.Has("--json")
                               ? ToJson(results, all_hold)
                               : PrintableLines(ToText(results, arguments.Has("--all")));
  SL_RETURN_IF_ERROR(PrintResult(text));
  return all_hold ? 0 : 1;
}

}  // namespace

CommandSpec VerifyCommand() {
  CommandSpec spec;
  spec.summary = "Check that the files of a profile agree with each other";
  spec.description =
      "Checks the rules between result files on every rank (docs/verify.md lists them) and shows "
      "the first rows that break a rule. Exits with 0 only if every capture can be read and no "
      "rule is broken.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined({{.name = "--all", .help = "Also list the rules that hold or do not apply"},
                         {.name = "--json", .help = "Print JSON, with all rules"}},
                        InputOptions());
  spec.example = "steplens verify examples/sample";
  spec.run = RunVerify;
  return spec;
}

}  // namespace steplens::cli
