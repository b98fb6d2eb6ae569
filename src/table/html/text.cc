#include "table/html/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "table/display_width.h"

namespace steplens::table::html {
namespace {

std::string EscapeLine(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (const char c : ToPrintable(line)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  while (true) {
    const size_t line_end = text.find('\n');
    out += EscapeLine(text.substr(0, line_end));
    if (line_end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(line_end + 1);
  }
}

std::string Bilingual(const Text& text, std::string_view element) {
  if (text.zh.empty() || text.zh == text.en) return Escape(text.en);
  return fmt::format(R"(<{0} class="en" lang="en">{1}</{0}><{0} class="zh" lang="zh">{2}</{0}>)",
                     element, Escape(text.en), Escape(text.zh));
}

std::string OneLine(const Text& text) {
  if (text.zh.empty() || text.zh == text.en) return text.en;
  return text.en + " / " + text.zh;
}

std::string GroupDigits(std::string_view decimal) {
  const size_t first = decimal.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::string(decimal);
  const size_t end = std::min(decimal.find_first_not_of("0123456789", first), decimal.size());
  std::string out(decimal.substr(0, first));
  for (size_t i = first; i < end; ++i) {
    if (i > first && (end - i) % 3 == 0) out += ',';
    out += decimal[i];
  }
  out += decimal.substr(end);
  return out;
}

std::string FormatValue(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size >= 1e12 || (size > 0 && size < 1e-4)) return fmt::format("{:.3g}", value);
  const int decimals = size >= 1000 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return GroupDigits(text);
}

}  // namespace steplens::table::html
