#include "cli/compare_look.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace steplens::cli {
namespace {

using analysis::compare::ResultSheet;
using table::CellType;

constexpr uint32_t kGreen = 0x00FF00;
constexpr uint32_t kYellow = 0xFFFF00;
constexpr uint32_t kDeepBlue = 0x00BFFF;
constexpr uint32_t kLightBlue = 0x87CEFA;
constexpr const char* kIntegers = "#,##0";
constexpr const char* kFloats = "#,##0.00";
constexpr const char* kRatios = "0.00%";

constexpr std::array<std::string_view, 5> kMarkedRatios{
    "Diff Ratio", "Diff Total Ratio", "Diff Self Ratio", "Diff Avg Ratio", "Diff Calls Ratio"};
constexpr std::array<std::string_view, 6> kNames{
    "Operator Name", "Communication OP Name", "api name", "Kernel", "Kernel Type", "Task Name"};

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Sheets whose ratios the reference shows as numbers unless they are red.
bool ShowsPlainRatios(const std::string& sheet) {
  return sheet == "ApiCompare" || sheet.starts_with("Kernel");
}

table::ColumnLook ColumnLookOf(const ResultSheet& sheet, size_t i, bool compat) {
  const table::Column& column = sheet.table.columns()[i];
  table::ColumnLook look;
  look.number_format = column.type == CellType::kDouble ? kFloats : kIntegers;
  if (IsOneOf(column.name, kMarkedRatios)) {
    look.marks_above_one = true;
    look.marked_format = kRatios;
    look.number_format = compat && ShowsPlainRatios(sheet.table.name()) ? kFloats : kRatios;
  }
  if (column.name == "Duration Ratio") look.number_format = kRatios;
  const bool is_module = sheet.table.name().starts_with("Module");
  if (IsOneOf(column.name, kNames) && !is_module && column.name != "Task Name") {
    look.is_bold = true;
    look.number_format.clear();
  }
  const bool is_comparison = i >= sheet.comparison.first && i <= sheet.comparison.last;
  look.header_fill = is_comparison ? kYellow : kGreen;
  if (sheet.table.name() == "OverallMetrics" && column.name == "Number") look.null_text = "/";
  return look;
}

table::RowLook RowLookOf(const ResultSheet& sheet, size_t row) {
  const int level = sheet.levels[row];
  const std::string label = sheet.table.columns().front().texts[row];
  table::RowLook look;
  look.indent = level;
  if (level == 0) look.fill = kDeepBlue;
  if (level == 1 && label != "\tSDMA" && label != "\tFree") look.fill = kLightBlue;
  return look;
}

}  // namespace

std::vector<double> ColumnWidths(const std::string& sheet) {
  static const std::map<std::string, std::vector<double>> kWidths{
      {"OverallMetrics", {40, 20, 20, 10, 20, 20, 10, 20, 10}},
      {"CommunicationCompare",
       {10, 25, 20, 10, 17, 17, 17, 17, 25, 20, 10, 17, 17, 17, 17, 20, 20}},
      {"OperatorCompareStatistic", {10, 30, 25, 25, 30, 30, 20, 20}},
      {"OperatorCompare", {10, 30, 20, 20, 20, 20, 30, 20, 20, 20, 20, 20, 20}},
      {"MemoryCompare", {10, 30, 20, 20, 20, 20, 30, 20, 20, 20, 20, 20, 20}},
      {"MemoryCompareStatistic", {10, 30, 25, 30, 25, 27, 33, 25, 20, 20}},
      {"ModuleCompareStatistic",
       {10, 20, 15, 35, 25, 20, 20, 10, 20, 20, 20, 10, 20, 20, 20, 15, 30, 30}},
      {"ModuleCompare", {10, 20, 15, 35, 25, 20, 20, 20, 25, 20, 20, 20, 20, 20, 15, 30, 30}}};
  const auto found = kWidths.find(sheet);
  return found == kWidths.end() ? std::vector<double>{10, 30} : found->second;
}

table::SheetLook LookOf(const ResultSheet& sheet, const std::string& base_path,
                        const std::string& comparison_path, bool compat) {
  table::SheetLook look;
  if (!sheet.base.empty()) {
    look.banners = {{sheet.base.first, sheet.base.last, "Base Profiling: " + base_path, kGreen},
                    {sheet.comparison.first, sheet.comparison.last,
                     "Comparison Profiling: " + comparison_path, kYellow}};
  }
  for (size_t i = 0; i < sheet.table.columns().size(); ++i) {
    look.columns.push_back(ColumnLookOf(sheet, i, compat));
  }
  for (size_t row = 0; row < sheet.levels.size(); ++row) {
    look.rows.push_back(RowLookOf(sheet, row));
  }
  return look;
}

}  // namespace steplens::cli
