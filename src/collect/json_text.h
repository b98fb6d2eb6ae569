#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The little JSON the library needs: configurations come as text from front ends and go into
// profiler_info unchanged.
namespace steplens::collect {

// True if `text` is one JSON value, at most 100 levels deep.
bool IsJson(std::string_view text);

// The members of a JSON object in order: key (unescaped) and value as it stands. nullopt if it is
// no valid object.
std::optional<std::vector<std::pair<std::string, std::string>>> JsonMembers(std::string_view text);

// The elements of a JSON array as they stand. nullopt if it is no valid array.
std::optional<std::vector<std::string>> JsonElements(std::string_view text);

// The text of a JSON string value; nullopt if it is no string.
std::optional<std::string> JsonString(std::string_view value);

// The same value laid out over lines, each level 4 blanks further in; `level` is where it begins.
// `text` is valid.
std::string IndentJson(std::string_view text, int level);

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string QuoteJson(std::string_view text);

}  // namespace steplens::collect
