#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace steplens::table::html {

// Words of a page in both languages. Without `zh`, `en` stands for both (names, numbers).
struct Text {
  std::string en;
  std::string zh;
};

// The Chinese of the words that tables are made of.
struct TableWords {
  std::map<std::string, std::string, std::less<>> zh;  // by the English
  std::set<std::string, std::less<>> columns;  // whose cells are such words, not names from data
};

// Any text as content or quoted attribute of an element, also in SVG: markup is escaped; control
// characters (but line feeds) and bytes that are not UTF-8 become U+FFFD.
std::string Escape(std::string_view text);

// Both languages, escaped, each in an element of its own (`span`, in SVG `tspan`), of which the
// style of the page shows one.
std::string Bilingual(const Text& text, std::string_view element = "span");

// Both languages in one line, not escaped, where only plain text can be: "Computing / 计算".
std::string OneLine(const Text& text);

// Thousands separators in the decimal form of a number: "-1234567.5" -> "-1,234,567.5".
std::string GroupDigits(std::string_view decimal);

// A value for people: at most four significant decimals, with thousands separators ("1,234.5"), and
// as a power of ten where that would be long ("1.2e+18"). "–" for what is not a finite number.
std::string FormatValue(double value);

}  // namespace steplens::table::html
