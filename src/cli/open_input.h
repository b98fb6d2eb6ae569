#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/selection.h"
#include "base/status.h"
#include "cli/command.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::cli {

// The words every command that opens a profile shares.
PositionalSpec PathPositional(bool repeated);
// --threads, --no-cache, --strict, --follow-links
std::vector<OptionSpec> InputOptions();
OptionSpec FollowLinksOption();          // every command heeds it (base/roots.h)
std::vector<OptionSpec> TableOptions();  // --json, --csv, --csv-safe
OptionSpec CsvSafeOption();
std::vector<OptionSpec> Joined(std::vector<OptionSpec> first,
                               const std::vector<OptionSpec>& second);

// --threads, checked.
Result<size_t> ThreadsOf(const Arguments& arguments);

// Opens what PATH names as the options say.
// Tells on stderr if the cache folder is not ours alone and so not used.
void SayIfCacheIsNotUsed();

// `only_rank`: of the ranks below PATH this one alone.
Result<store::Job> OpenQuietly(const Arguments& arguments,
                               std::optional<int64_t> only_rank = std::nullopt);
// The same, and says on stderr which captures and how many records could not be used.
Result<store::Job> OpenInput(const Arguments& arguments,
                             std::optional<int64_t> only_rank = std::nullopt);
// Whether a capture below PATH could not be read.
bool HasLostRanks(const store::Job& job);

// --rank and --step, checked against what the job has.
Result<analysis::Selection> SelectionOf(const Arguments& arguments, const store::Job& job);

// Prints a table as --json, --csv or --format ask for; aligned for people otherwise.
// `if_empty`: what to say of a table without rows, instead of its name.
Status PrintTable(const table::Table& table, const Arguments& arguments,
                  std::string_view if_empty = {});

}  // namespace steplens::cli
