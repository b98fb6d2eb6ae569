#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "table/html/chart.h"
#include "table/html/text.h"
#include "table/table.h"

namespace steplens::table::html {

// The language a page opens in; its button changes it.
enum class Language : uint8_t {
  kBrowser,  // the one the reader's browser asks for
  kEnglish,
  kChinese,
};

struct Section {
  Text title;
  Text text;  // paragraphs, separated by empty lines
  std::vector<Chart> charts;
  std::vector<const Table*> tables;  // must outlive the call of ToHtml
  size_t max_rows = 200;             // of each table; the page says how many there are
  TableWords words{};                // of the tables
};

struct Page {
  Text title;
  Text subtitle;
  std::vector<Section> sections;
};

// One file that needs nothing else: no network, no script but its own, which its
// Content-Security-Policy names by hash. Whatever texts come from data are shown as texts. Tables
// can be sorted and filtered; light or dark follows the reader's system.
std::string ToHtml(const Page& page, Language language);

}  // namespace steplens::table::html
