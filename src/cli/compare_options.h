#pragma once

#include <string>
#include <vector>

#include "analysis/compare/sheet_options.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "cli/command.h"

namespace steplens::cli {

// What `compare` was asked for, checked as far as that goes without opening anything.
struct CompareRequest {
  std::string base;
  std::string comparison;
  std::string output_folder = ".";
  std::string output_name;
  std::vector<std::string> formats;
  analysis::compare::SheetOptions sheets;
  analysis::Language language = analysis::Language::kEnglish;  // of the console
  std::vector<std::string> notes;                              // for stderr
};

std::vector<OptionSpec> CompareOptions();

// Errors are usage errors, in the order in which the reference looks at the options.
Result<CompareRequest> ReadCompareRequest(const Arguments& arguments);

// --lang, of commands that have it.
analysis::Language LanguageOf(const Arguments& arguments);

// A Python dictionary of texts, {'a': 'b', "c": "d"}.
Result<std::vector<std::pair<std::string, std::string>>> ParseNameMap(const std::string& text);

}  // namespace steplens::cli
