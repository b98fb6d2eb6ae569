#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/prof/prof_files.h"
#include "readers/read_options.h"
#include "store/issues.h"

namespace steplens::readers::prof {

// The words of a line, separated by blanks.
std::vector<std::string_view> SplitWords(std::string_view line);

// The slices of a family of text files as one text.
std::string ReadTextFamily(const std::vector<Slice>& slices, const ReadOptions& options,
                           store::IssueLog& issues);

// visit(line) for the lines of a family; the last one counts even without an end.
template <typename Visit>
void ForEachTextLine(const std::vector<Slice>& slices, const ReadOptions& options,
                     store::IssueLog& issues, const Visit& visit) {
  const std::string text = ReadTextFamily(slices, options, issues);
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    visit(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// "176168:391356200" -> 176168391356200: seconds and ns. Nothing if it is no such time.
std::optional<uint64_t> ParseDeviceTime(std::string_view text);

}  // namespace steplens::readers::prof
