#include "cli/compare_output.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cli/compare_look.h"
#include "table/csv.h"
#include "table/json.h"
#include "table/sqlite.h"
#include "table/xlsx.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;
using analysis::compare::ResultSheet;
using analysis::compare::WithUniqueNames;

constexpr size_t kMaxSheetRows = 1048576 - 3;  // without the rows above the data
constexpr size_t kMaxCellText = 32767;

std::vector<table::Table> UniqueTables(const std::vector<ResultSheet>& sheets) {
  std::vector<table::Table> tables;
  for (const ResultSheet& sheet : sheets) tables.push_back(WithUniqueNames(sheet));
  return tables;
}

Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot create the folder: {}", folder.string(), error.message())};
  }
  if (is_new) fs::permissions(folder, fs::perms(0750), error);
  return {};
}

Status WriteWhole(const std::string& path, const std::string& text) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Commit();
}

Status WriteCsvFolder(const std::vector<ResultSheet>& sheets, const fs::path& folder) {
  SL_RETURN_IF_ERROR(MakeFolder(folder));
  for (const ResultSheet& sheet : sheets) {
    const std::string path = folder / (sheet.table.name() + ".csv");
    table::CsvOptions options;
    // What the reference writes where a row has no number.
    if (sheet.table.name() == "OverallMetrics") options.null_text = "/";
    SL_RETURN_IF_ERROR(WriteWhole(path, table::ToCsv(sheet.table, options)));
  }
  return {};
}

// The cells that Excel cannot hold, with what happens to them.
void NoteLimits(const ResultSheet& sheet, const std::string& csv_folder,
                std::vector<analysis::Message>& notes) {
  size_t long_cells = 0;
  for (const table::Column& column : sheet.table.columns()) {
    for (const std::string& text : column.texts) long_cells += text.size() > kMaxCellText ? 1 : 0;
  }
  if (long_cells == 0 && sheet.table.rows() <= kMaxSheetRows) return;
  if (sheet.table.rows() > kMaxSheetRows) {
    notes.push_back(analysis::Note(
        fmt::format("{}: {} rows are more than an Excel sheet holds; all of them are in {}/{}.csv",
                    sheet.table.name(), sheet.table.rows(), csv_folder, sheet.table.name())));
  } else {
    notes.push_back(analysis::Note(fmt::format(
        "{}: {} cell{} longer than Excel holds {} cut; --format csv has all", sheet.table.name(),
        long_cells, long_cells == 1 ? "" : "s", long_cells == 1 ? "was" : "were")));
  }
}

// A sheet with more rows than Excel holds is written as csv, and its first rows as the sheet.
Status WriteWorkbook(const std::vector<ResultSheet>& sheets, const CompareRequest& request,
                     const std::string& path, std::vector<analysis::Message>& notes) {
  const std::string folder = fs::path(request.output_folder) / request.output_name;
  std::vector<table::SheetLook> looks;
  looks.reserve(sheets.size());
  std::vector<table::Sheet> list;
  std::vector<table::Table> cut;
  cut.reserve(sheets.size());
  for (const ResultSheet& sheet : sheets) {
    looks.push_back(LookOf(sheet, request.base, request.comparison, request.sheets.compat));
    table::Sheet one;
    one.table = &sheet.table;
    if (sheet.table.rows() > kMaxSheetRows) {
      SL_RETURN_IF_ERROR(WriteCsvFolder({sheet}, folder));
      cut.push_back(sheet.table);
      cut.back().Truncate(kMaxSheetRows);
      one.table = &cut.back();
    }
    one.column_widths = ColumnWidths(sheet.table.name());
    one.look = &looks.back();
    list.push_back(std::move(one));
    NoteLimits(sheet, folder, notes);
  }
  const table::Table nothing("Sheet");
  if (list.empty()) list.emplace_back().table = &nothing;
  return table::WriteXlsx(path, list);
}

}  // namespace

Result<std::vector<std::string>> WriteSheets(const std::vector<ResultSheet>& sheets,
                                             const CompareRequest& request,
                                             const std::function<std::string()>& make_report,
                                             std::vector<analysis::Message>& notes) {
  SL_RETURN_IF_ERROR(MakeFolder(request.output_folder));
  std::vector<std::string> paths;
  for (const std::string& format : request.formats) {
    const fs::path stem = fs::path(request.output_folder) / request.output_name;
    std::string path = stem;
    if (format != "csv") path += "." + format;
    Status written;
    if (format == "csv") written = WriteCsvFolder(sheets, stem);
    if (format == "json") {
      written = WriteWhole(path, table::ToJson(UniqueTables(sheets)));
    }
    if (format == "html") written = WriteWhole(path, make_report());
    if (format == "db") written = table::WriteSqlite(UniqueTables(sheets), path);
    if (format == "xlsx") written = WriteWorkbook(sheets, request, path, notes);
    if (!written.ok()) return std::move(written).error();
    paths.push_back(path);
  }
  return paths;
}

}  // namespace steplens::cli
