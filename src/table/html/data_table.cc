#include "table/html/data_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "table/double_text.h"
#include "table/html/text.h"

namespace steplens::table::html {
namespace {

std::string InBoth(std::string_view word, const TableWords& words) {
  const auto found = words.zh.find(word);
  if (found == words.zh.end()) return Escape(word);
  return Bilingual(Text{std::string(word), found->second});
}

std::string CellContent(const Column& column, size_t row, const TableWords& words) {
  if (column.type == CellType::kText) {
    return words.columns.contains(column.name) ? InBoth(column.texts[row], words)
                                               : Escape(column.texts[row]);
  }
  if (column.type != CellType::kDouble) return GroupDigits(CellText(column, row));
  return GroupDigits(DoubleText(column.doubles[row], column.decimals));
}

void AppendHeader(std::string& out, const Table& table, const TableWords& words) {
  out += "<thead><tr>";
  for (const Column& column : table.columns()) {
    const bool is_number = column.type != CellType::kText;
    out += fmt::format(R"(<th{}><button type="button">{}</button></th>)",
                       is_number ? R"( class="number")" : "", InBoth(column.name, words));
  }
  out += "</tr></thead>\n";
}

void AppendRows(std::string& out, const Table& table, size_t count, const TableWords& words) {
  out += "<tbody>\n";
  for (size_t row = 0; row < count; ++row) {
    out += "<tr>";
    for (const Column& column : table.columns()) {
      out += column.type == CellType::kText ? "<td>" : R"(<td class="number">)";
      out += CellContent(column, row, words) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody>";
}

Text RowCountText(size_t shown, size_t all) {
  const std::string shown_text = GroupDigits(std::to_string(shown));
  const std::string all_text = GroupDigits(std::to_string(all));
  if (shown < all) {
    return {fmt::format("first {} of {} rows", shown_text, all_text),
            fmt::format("共 {} 行，显示前 {} 行", all_text, shown_text)};
  }
  return {fmt::format("{} {}", all_text, all == 1 ? "row" : "rows"),
          fmt::format("共 {} 行", all_text)};
}

}  // namespace

std::string DrawTable(const Table& table, size_t max_rows, const TableWords& words) {
  const size_t count = std::min(table.rows(), max_rows);
  std::string out = R"(<div class="data"><div class="bar">)";
  out += fmt::format(R"(<h3>{}</h3><span class="rows">{}</span>)", InBoth(table.name(), words),
                     Bilingual(RowCountText(count, table.rows())));
  out += R"(<input type="search" data-en="Filter" data-zh="筛选" placeholder="Filter">)";
  out += R"(</div><div class="scroll"><table>)";
  AppendHeader(out, table, words);
  AppendRows(out, table, count, words);
  out += "</table></div></div>\n";
  return out;
}

}  // namespace steplens::table::html
