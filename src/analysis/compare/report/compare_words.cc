#include <string_view>

#include "analysis/compare/report/compare_report.h"
#include "analysis/text/catalogue.h"

// The words of tables of a comparison, in both languages.

namespace steplens::analysis::compare {
namespace {

constexpr std::string_view kWordKeys = "compare.word.";

table::html::TableWords ReadWords() {
  table::html::TableWords words;
  const Catalogue& english = CatalogueOf(analysis::Language::kEnglish);
  const Catalogue& chinese = CatalogueOf(analysis::Language::kChinese);
  for (auto word = english.lower_bound(kWordKeys);
       word != english.end() && word->first.starts_with(kWordKeys); ++word) {
    const auto other = chinese.find(word->first);
    if (other != chinese.end()) words.zh.emplace(word->second, other->second);
  }
  words.columns = {"Part", "Change", "Verdict", "Kind", "Unit", ""};
  return words;
}

}  // namespace

table::html::Text InBoth(const Message& message) { return {English(message), Chinese(message)}; }

const table::html::TableWords& ComparisonWords() {
  static const table::html::TableWords words = ReadWords();
  return words;
}

table::Table InLanguage(const table::Table& table, analysis::Language language) {
  if (language == analysis::Language::kEnglish) return table;
  const table::html::TableWords& words = ComparisonWords();
  const auto word = [&](const std::string& english) {
    const auto found = words.zh.find(english);
    return found == words.zh.end() ? english : found->second;
  };
  table::Table out(word(table.name()));
  for (table::Column column : table.columns()) {
    if (words.columns.contains(column.name)) {
      for (std::string& text : column.texts) text = word(text);
    }
    column.name = word(column.name);
    out.AddColumn(std::move(column));
  }
  return out;
}

}  // namespace steplens::analysis::compare
