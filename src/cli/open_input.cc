#include "cli/open_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/summary/check_selection.h"
#include "base/allocator.h"
#include "base/roots.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "open/losses.h"
#include "open/open.h"
#include "store/cache.h"
#include "table/console.h"
#include "table/csv.h"
#include "table/json.h"

namespace steplens::cli {
namespace {

// Captures that should have been ranks; none of them was read.
std::vector<const store::InputFile*> LostRanks(const store::Job& job) {
  std::vector<const store::InputFile*> out;
  for (const store::InputFile& file : job.ignored) {
    if (file.is_lost) out.push_back(&file);
  }
  return out;
}

// Data that was lost while reading, as an error: for --strict.
Status CheckStrict(const store::Job& job) {
  const std::vector<std::string> losses = opening::Losses(job);
  if (losses.empty()) return {};
  return Error{ErrorCode::kCorruptData, losses.front()};
}

void WarnOfLoss(const store::Job& job) {
  if (const auto lost = LostRanks(job); !lost.empty()) {
    Say(
        fmt::format("steplens: {} capture{} could not be read and {} left out ({}{}); 'steplens "
                    "info' lists {}\n",
                    lost.size(), lost.size() == 1 ? "" : "s", lost.size() == 1 ? "is" : "are",
                    lost.size() == 1 ? "" : "first: ", opening::WhyLost(*lost.front()),
                    lost.size() == 1 ? "it" : "them"));
  }
  for (const std::string& note : job.notes) Say(fmt::format("steplens: {}\n", note));
  for (const store::TraceStore& rank : job.ranks) {
    uint64_t lost = 0;
    for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
      const auto kind = static_cast<store::IssueKind>(i);
      if (store::GetIssueInfo(kind).severity == store::Severity::kDataLoss)
        lost += rank.issues.entry(kind).count;
    }
    if (lost > 0) {
      Say(fmt::format("steplens: rank {}: {} problem{} in the input; 'steplens info' lists them\n",
                      rank.info.rank, lost, lost == 1 ? "" : "s"));
    }
  }
}

}  // namespace

PositionalSpec PathPositional(bool repeated) {
  return {.name = "PATH",
          .help =
              "A profile: a rank folder, a folder with many ranks, a trace (.json, .json.gz), a "
              ".db or a .sqlite",
          .repeated = repeated};
}

std::vector<OptionSpec> InputOptions() {
  return {{.name = "--threads",
           .value_name = "N",
           .help = "Threads; 0 = one per core",
           .default_value = "0",
           .is_integer = true},
          {.name = "--no-cache", .help = "Neither read nor write the cache"},
          {.name = "--strict", .help = "Fail if any record of the input is unusable"},
          FollowLinksOption()};
}

OptionSpec FollowLinksOption() {
  return {.name = "--follow-links", .help = "Follow symbolic links that lead outside PATH"};
}

std::vector<OptionSpec> TableOptions() {
  return {{.name = "--json", .help = "Print JSON"},
          {.name = "--csv", .help = "Print CSV"},
          CsvSafeOption()};
}

OptionSpec CsvSafeOption() {
  return {.name = "--csv-safe",
          .help = "In CSV, put ' before text that a spreadsheet would run as a formula"};
}

std::vector<OptionSpec> Joined(std::vector<OptionSpec> first,
                               const std::vector<OptionSpec>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Result<size_t> ThreadsOf(const Arguments& arguments) {
  const int64_t threads = arguments.Integer("--threads").value_or(0);
  if (threads < 0 || threads > 1024) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--threads: {} is out of range, 0 to 1024 was expected", threads)};
  }
  return static_cast<size_t>(threads);
}

void SayIfCacheIsNotUsed() {
  const Status usable = store::CheckCacheDirectory();
  if (!usable.ok() && usable.error().code == ErrorCode::kUnsupported)
    Say(fmt::format("steplens: no cache: {}\n", usable.error().message));
}

Result<store::Job> OpenQuietly(const Arguments& arguments, std::optional<int64_t> only_rank) {
  UseLargePages();
  opening::OpenOptions options;
  SL_ASSIGN_OR_RETURN(options.threads, ThreadsOf(arguments));
  options.use_cache = !arguments.Has("--no-cache");
  if (options.use_cache) SayIfCacheIsNotUsed();
  options.show_progress = true;
  options.only_rank = only_rank;
  for (const std::string& path : arguments.Positional("PATH")) AddRoot(path);
  SL_ASSIGN_OR_RETURN(store::Job job, opening::OpenJob(arguments.Positional("PATH"), options));
  if (arguments.Has("--strict")) SL_RETURN_IF_ERROR(CheckStrict(job));
  return job;
}

Result<store::Job> OpenInput(const Arguments& arguments, std::optional<int64_t> only_rank) {
  SL_ASSIGN_OR_RETURN(store::Job job, OpenQuietly(arguments, only_rank));
  WarnOfLoss(job);
  return job;
}

bool HasLostRanks(const store::Job& job) { return !LostRanks(job).empty(); }

Result<analysis::Selection> SelectionOf(const Arguments& arguments, const store::Job& job) {
  const analysis::Selection selection{.rank = arguments.Integer("--rank"),
                                      .step = arguments.Integer("--step")};
  SL_RETURN_IF_ERROR(analysis::CheckSelection(job, selection));
  return selection;
}

Status PrintTable(const table::Table& table, const Arguments& arguments,
                  std::string_view if_empty) {
  const std::string format = arguments.Value("--format");
  if (arguments.Has("--json") && arguments.Has("--csv")) {
    return Error{ErrorCode::kInvalidArgument, "--json and --csv: only one form can be printed"};
  }
  if (table.rows() == 0) {
    Say(if_empty.empty() ? fmt::format("steplens: {}: no rows\n", table.name())
                         : fmt::format("steplens: {}\n", if_empty));
  }
  std::string text;
  if (arguments.Has("--json") || format == "json") {
    text = table::ToJson(table);
  } else if (arguments.Has("--csv") || format == "csv") {
    text = table::ToCsv(table, {.guards_formulas = arguments.Has("--csv-safe")});
  } else {
    text = table::ToConsole(table, {.width = TerminalWidth()});
  }
  if (!text.ends_with('\n')) text += '\n';
  return PrintResult(text);
}

}  // namespace steplens::cli
