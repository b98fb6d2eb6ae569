#include "table/html/page.h"

#include <fmt/format.h>

#include "table/html/assets.h"
#include "table/html/data_table.h"

namespace steplens::table::html {
namespace {

void AppendHead(std::string& out, const Page& page, Language language) {
  const bool is_chinese = language == Language::kChinese;
  out += fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{0}\" class=\"{0}\"{1}>\n<head>\n<meta charset=\"utf-8\">\n",
      is_chinese ? "zh" : "en", language == Language::kBrowser ? " data-language=\"browser\"" : "");
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
      "form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'\">\n",
      kScriptHash);
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  const std::string& title = is_chinese && !page.title.zh.empty() ? page.title.zh : page.title.en;
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n", Escape(title), kStyle);
}

void AppendContents(std::string& out, const Page& page) {
  if (page.sections.size() < 2) return;
  out += "<nav>";
  for (size_t i = 0; i < page.sections.size(); ++i) {
    out += fmt::format("<a href=\"#section-{}\">{}</a>", i + 1, Bilingual(page.sections[i].title));
  }
  out += "</nav>\n";
}

void AppendSection(std::string& out, const Section& section, size_t number) {
  out +=
      fmt::format("<section id=\"section-{}\">\n<h2>{}</h2>\n", number, Bilingual(section.title));
  if (!section.text.en.empty()) out += "<p>" + Bilingual(section.text) + "</p>\n";
  for (const Chart& chart : section.charts) out += DrawChart(chart);
  for (const Table* table : section.tables)
    out += DrawTable(*table, section.max_rows, section.words);
  out += "</section>\n";
}

}  // namespace

std::string ToHtml(const Page& page, Language language) {
  std::string out;
  AppendHead(out, page, language);
  out += fmt::format(
      "<body>\n<header><div><h1>{}</h1><div class=\"subtitle\">{}</div></div>"
      "<button type=\"button\" id=\"language\">EN / 中文</button></header>\n",
      Bilingual(page.title), Bilingual(page.subtitle));
  AppendContents(out, page);
  out += "<main>\n";
  for (size_t i = 0; i < page.sections.size(); ++i) AppendSection(out, page.sections[i], i + 1);
  out += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kScript);
  return out;
}

}  // namespace steplens::table::html
