#include "cli/cluster_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/json_writer.h"
#include "cli/terminal.h"
#include "table/console.h"

namespace steplens::cli {
namespace {

namespace recipes = analysis::cluster;
using cluster::Export;
using cluster::RunResult;
using cluster::Written;

std::string FormatsOf(const RunResult& result) {
  std::set<std::string> formats;
  for (const recipes::RankFacts& rank : result.ranks)
    formats.insert(
        fmt::format("{} {}", store::SourceName(rank.source), store::FormatName(rank.format)));
  return fmt::format("{}", fmt::join(formats, ", "));
}

// Records of the input that could not be used, said once.
void PrintLosses(const RunResult& result) {
  size_t ranks = 0;
  const recipes::RankFacts* first = nullptr;
  for (const recipes::RankFacts& rank : result.ranks) {
    if (rank.lost_records == 0) continue;
    if (ranks++ == 0) first = &rank;
  }
  if (first == nullptr) return;
  fmt::print(stderr,
             "steplens: {} rank{} records that could not be used (rank {}: {}); 'steplens info' "
             "lists them\n",
             ranks, ranks == 1 ? " has" : "s have", first->rank, first->first_loss);
}

}  // namespace

void PrintCoverage(const RunResult& result, const std::string& seconds) {
  std::set<int64_t> steps;
  std::set<std::string> groups;
  for (const recipes::RankFacts& rank : result.ranks) {
    steps.insert(rank.steps.begin(), rank.steps.end());
    for (const recipes::GroupFact& group : rank.groups) groups.insert(group.id);
  }
  fmt::print(stderr, "ranks: {} found, {} used{}, {} failed; steps: {}; {}data: {}; {}\n",
             result.found, result.ranks.size(),
             result.reused > 0 ? fmt::format(" ({} unchanged, not read again)", result.reused) : "",
             result.failed.size(), steps.empty() ? "none" : std::to_string(steps.size()),
             groups.empty() ? "" : fmt::format("groups: {}; ", groups.size()), FormatsOf(result),
             seconds);
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(result.failed.size(), kShown); ++i) {
    fmt::print(stderr, "steplens: {} is left out: {}\n", result.failed[i].Name(),
               result.failed[i].reason);
  }
  if (result.failed.size() > kShown) {
    fmt::print(stderr, "steplens: and {} more ranks are left out\n", result.failed.size() - kShown);
  }
  PrintLosses(result);
  for (const std::string& note : result.notes) fmt::print(stderr, "steplens: {}\n", note);
}

ClusterOutcome CollectAnswers(const ClusterRequest& request, const RunResult& result) {
  ClusterOutcome outcome;
  for (size_t i = 0; i < result.answers.size(); ++i) {
    const recipes::RecipeSpec& recipe = request.run.recipes[i];
    if (!result.answers[i].ok()) {
      fmt::print(stderr, "steplens: {}: {}\n", recipe.name, result.answers[i].error().message);
      ++outcome.failures;
      continue;
    }
    const recipes::Answer& answer = *result.answers[i];
    for (const std::string& note : answer.notes)
      fmt::print(stderr, "steplens: {}: {}\n", recipe.name, note);
    for (const recipes::ResultTable& table : answer.tables) outcome.rows += table.table.rows();
    outcome.rows += answer.files.size() + (answer.had_input ? 1 : 0);
    outcome.exports.push_back({recipe.name, recipe.folder, &answer});
  }
  return outcome;
}

std::string MachineAnswer(const ClusterOutcome& outcome, const Written& written, int exit_code,
                          const std::string& error, analysis::Language language) {
  JsonWriter json;
  json.BeginObject().Key("status").String(exit_code == kExitDone ? "success" : "error");
  json.Key("code").Int(exit_code).Key("message").BeginObject();
  if (!error.empty()) json.Key("err").String(error);
  if (!written.database.empty()) {
    json.Key("db_path").String(written.database).Key("tables").BeginArray();
    for (const std::string& table : written.tables) json.String(table);
    json.EndArray();
  }
  if (!written.files.empty()) {
    json.Key("csv_path").BeginArray();
    for (const std::string& file : written.files) json.String(file);
    json.EndArray();
  }
  json.EndObject();
  std::string suggestion;
  for (const Export& one : outcome.exports) {
    const std::string text =
        one.answer->suggestion.empty() ? "" : Render(one.answer->suggestion, language);
    if (!text.empty()) suggestion += (suggestion.empty() ? "" : "\n") + text;
  }
  json.Key("suggestion").String(suggestion).Key("log_path").String("").EndObject();
  return json.Take();
}

void PrintTables(const ClusterOutcome& outcome) {
  for (const Export& one : outcome.exports) {
    for (const recipes::ResultTable& result : one.answer->tables) {
      const std::string text =
          table::ToConsole(cluster::CsvForm(result), {.width = TerminalWidth(), .title = true});
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fputc('\n', stdout);
    }
  }
}

void PrintWritten(const Written& written) {
  if (!written.database.empty()) {
    const std::string line =
        fmt::format("{}: {}", written.database, fmt::join(written.tables, ", "));
    const size_t width = TerminalWidth();
    if (width == 0 || line.size() <= width) {
      fmt::print("{}\n", line);
    } else {
      fmt::print("{}:\n", written.database);
      for (const std::string& table : written.tables) fmt::print("  {}\n", table);
    }
  }
  for (const std::string& file : written.files) fmt::print("{}\n", file);
}

}  // namespace steplens::cli
