#pragma once

#include <string>
#include <vector>

#include "analysis/compare/sheet.h"
#include "table/sheet_look.h"

namespace steplens::cli {

// Widths of a sheet's columns in characters.
std::vector<double> ColumnWidths(const std::string& sheet);

// How a sheet of the workbook looks: banners with the paths of both sides, their columns in green
// and yellow, ratios above 1 in red, levels of OverallMetrics in shades of blue.
table::SheetLook LookOf(const analysis::compare::ResultSheet& sheet, const std::string& base_path,
                        const std::string& comparison_path, bool compat);

}  // namespace steplens::cli
