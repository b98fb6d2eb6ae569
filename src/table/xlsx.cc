#include "table/xlsx.h"

#ifdef STEPLENS_WITH_XLSX
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/late_library.h"
#include "table/display_width.h"
#include "table/xlsx_text.h"
#include "table/zip_check.h"

namespace steplens {
extern const LateLibrary late_xlsxwriter;
}
#endif

namespace steplens::table {
#ifdef STEPLENS_WITH_XLSX
namespace {

constexpr size_t kMaxXlsxRows = 1048576;
constexpr size_t kLookHeaderRows = 3;              // of sheets that have a look
constexpr size_t kMaxDataRows = kMaxXlsxRows - 1;  // one is the header
constexpr size_t kMaxColumns = 16384;
constexpr double kHeaderHeight = 27;
constexpr double kMinWidth = 8;
constexpr double kMaxWidth = 60;
constexpr size_t kMeasuredRows = 1000;         // rows that decide on the width of a column
constexpr size_t kCellsKeptInMemory = 200000;  // larger workbooks are streamed
constexpr int64_t kMaxExactInt = int64_t{1} << 53;
constexpr int64_t kMaxExactNs = 999999999999999;  // as many digits as every double keeps
// The file says when it was made; a fixed day, so that the same tables give the same bytes.
constexpr time_t kCreated = 946684800;

struct WorkbookFree {
  void operator()(lxw_workbook* workbook) const { lxw_workbook_free(workbook); }
};
using Workbook = std::unique_ptr<lxw_workbook, WorkbookFree>;

// While it lives, what is written to stderr is gone: the library has lines of its own for a full
// disk, and its caller says one. Other threads of the process are silent for that time, too.
class QuietStderr {
 public:
  QuietStderr() : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ >= 0 && nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) ::close(nowhere);
  }
  ~QuietStderr() {
    if (kept_ < 0) return;
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  int kept_;
};

struct Formats {
  lxw_format* header;
  lxw_format* body;
  lxw_format* time;
};

lxw_format* AddFormat(lxw_workbook* workbook) {
  lxw_format* format = workbook_add_format(workbook);
  format_set_font_name(format, "Times New Roman");
  format_set_border(format, LXW_BORDER_THIN);
  format_set_align(format, LXW_ALIGN_VERTICAL_CENTER);
  return format;
}

Formats AddFormats(lxw_workbook* workbook) {
  const Formats formats{AddFormat(workbook), AddFormat(workbook), AddFormat(workbook)};
  format_set_bold(formats.header);
  format_set_bg_color(formats.header, 0xAFEEEE);
  format_set_num_format(formats.time, "0.000");
  return formats;
}

bool IsExactNumber(const Column& column, size_t row) {
  switch (column.type) {
    case CellType::kInt:
      return column.ints[row] >= -kMaxExactInt && column.ints[row] <= kMaxExactInt;
    case CellType::kTimeUs:
      return column.ints[row] >= -kMaxExactNs && column.ints[row] <= kMaxExactNs;
    case CellType::kDouble:
      return std::isfinite(column.doubles[row]);
    case CellType::kText:
      return false;
  }
  return false;
}

double NumberOf(const Column& column, size_t row) {
  if (column.type == CellType::kDouble) return column.doubles[row];
  const auto value = static_cast<double>(column.ints[row]);
  return column.type == CellType::kTimeUs ? value / 1000 : value;
}

// Writes sheets that have a look of their own into one workbook, whose formats they share.
class LookWriter {
 public:
  explicit LookWriter(lxw_workbook* workbook) : workbook_(workbook) {}

  // Rows [first_row, first_row + row_count) of the table.
  void WriteSheet(lxw_worksheet* worksheet, const Table& table, const SheetLook& look,
                  const std::vector<double>& widths, size_t first_row, size_t row_count);

 private:
  struct Format {
    std::string number_format;
    uint32_t fill = kNoFill;
    bool is_bold = false;
    int indent = 0;
    auto operator<=>(const Format&) const = default;
  };
  lxw_format* Get(const Format& format);
  void WriteCell(lxw_worksheet* worksheet, const Column& column, size_t row, uint32_t line,
                 uint16_t at, const ColumnLook& look, const RowLook& row_look, uint32_t mark_fill);

  lxw_workbook* workbook_;
  std::map<Format, lxw_format*> formats_;
};

constexpr double kFontSize = 11;
constexpr double kUsualWidth = 20;

// Whether the cell's number is above 1.
bool IsAboveOne(const Column& column, size_t row) {
  return column.type == CellType::kDouble && column.doubles[row] > 1;
}

lxw_format* LookWriter::Get(const Format& wanted) {
  const auto [place, is_new] = formats_.try_emplace(wanted, nullptr);
  if (!is_new) return place->second;
  lxw_format* format = workbook_add_format(workbook_);
  format_set_font_name(format, "Arial");
  format_set_font_size(format, kFontSize);
  format_set_border(format, LXW_BORDER_THIN);
  format_set_align(format, LXW_ALIGN_LEFT);
  format_set_align(format, LXW_ALIGN_VERTICAL_CENTER);
  if (wanted.is_bold) format_set_bold(format);
  if (wanted.fill != kNoFill) format_set_bg_color(format, wanted.fill);
  if (wanted.indent > 0) format_set_indent(format, static_cast<uint8_t>(wanted.indent));
  if (!wanted.number_format.empty()) format_set_num_format(format, wanted.number_format.c_str());
  return place->second = format;
}

void LookWriter::WriteCell(lxw_worksheet* worksheet, const Column& column, size_t row,
                           uint32_t line, uint16_t at, const ColumnLook& look,
                           const RowLook& row_look, uint32_t mark_fill) {
  Format format{look.number_format, row_look.fill, look.is_bold, at == 0 ? row_look.indent : 0};
  if (look.marks_above_one && IsAboveOne(column, row)) {
    format.fill = mark_fill;
    if (!look.marked_format.empty()) format.number_format = look.marked_format;
  }
  if (IsExactNumber(column, row)) {
    worksheet_write_number(worksheet, line, at, NumberOf(column, row), Get(format));
    return;
  }
  std::string text = ToXlsxText(CellText(column, row));
  if (text.empty() && column.type != CellType::kText) text = look.null_text;
  if (text.empty()) {
    worksheet_write_blank(worksheet, line, at, Get(format));
  } else {
    worksheet_write_string(worksheet, line, at, text.c_str(), Get(format));
  }
}

void LookWriter::WriteSheet(lxw_worksheet* worksheet, const Table& table, const SheetLook& look,
                            const std::vector<double>& widths, size_t first_row, size_t row_count) {
  const std::vector<Column>& columns = table.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto at = static_cast<lxw_col_t>(i);
    worksheet_set_column(worksheet, at, at, i < widths.size() ? widths[i] : kUsualWidth, nullptr);
  }
  for (const Banner& banner : look.banners) {
    lxw_format* format = Get({"", banner.fill, true, 0});
    for (size_t i = banner.first_column; i <= banner.last_column; ++i) {
      worksheet_write_blank(worksheet, 0, static_cast<lxw_col_t>(i), format);
    }
    worksheet_merge_range(worksheet, 0, static_cast<lxw_col_t>(banner.first_column), 0,
                          static_cast<lxw_col_t>(banner.last_column),
                          ToXlsxText(banner.text).c_str(), format);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    worksheet_write_string(worksheet, kLookHeaderRows - 1, static_cast<lxw_col_t>(i),
                           ToXlsxText(columns[i].name).c_str(),
                           Get({"", look.columns[i].header_fill, true, 0}));
  }
  for (size_t row = first_row; row < first_row + row_count; ++row) {
    const RowLook row_look = row < look.rows.size() ? look.rows[row] : RowLook();
    const auto line = static_cast<lxw_row_t>(row - first_row + kLookHeaderRows);
    for (size_t i = 0; i < columns.size(); ++i) {
      WriteCell(worksheet, columns[i], row, line, static_cast<lxw_col_t>(i), look.columns[i],
                row_look, look.mark_fill);
    }
  }
}

// A piece of a table on a worksheet: rows [first_row, first_row + row_count) under a header.
struct Part {
  const Table& table;
  size_t first_row;
  size_t row_count;
  lxw_worksheet* worksheet;
  const Formats& formats;
  LookWriter* look;
};

void WriteCell(const Part& part, const Column& column, size_t row, lxw_col_t at) {
  const auto line = static_cast<lxw_row_t>(row - part.first_row + 1);
  lxw_format* format = column.type == CellType::kTimeUs ? part.formats.time : part.formats.body;
  if (IsExactNumber(column, row)) {
    worksheet_write_number(part.worksheet, line, at, NumberOf(column, row), format);
    return;
  }
  const std::string text = ToXlsxText(CellText(column, row));
  if (text.empty()) {
    worksheet_write_blank(part.worksheet, line, at, format);
  } else {
    worksheet_write_string(part.worksheet, line, at, text.c_str(), format);
  }
}

double ContentWidth(const Part& part, const Column& column) {
  size_t width = DisplayWidth(ToPrintable(column.name)) + 2;  // the filter's button takes room
  const size_t end = part.first_row + std::min(part.row_count, kMeasuredRows);
  for (size_t row = part.first_row; row < end; ++row) {
    const std::string text = CellText(column, row).substr(0, size_t{4} * 64);
    width = std::max(width, DisplayWidth(ToPrintable(text)) + 1);
  }
  return std::clamp(static_cast<double>(width), kMinWidth, kMaxWidth);
}

void WriteHeader(const Part& part, const Sheet& sheet) {
  const auto& columns = part.table.columns();
  worksheet_set_row(part.worksheet, 0, kHeaderHeight, nullptr);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto at = static_cast<lxw_col_t>(i);
    const bool is_given = i < sheet.column_widths.size();
    const double width = is_given ? sheet.column_widths[i] : ContentWidth(part, columns[i]);
    worksheet_set_column(part.worksheet, at, at, width, nullptr);
    worksheet_write_string(part.worksheet, 0, at, ToXlsxText(columns[i].name).c_str(),
                           part.formats.header);
  }
  worksheet_freeze_panes(part.worksheet, 1, 0);
  worksheet_autofilter(part.worksheet, 0, 0, static_cast<lxw_row_t>(part.row_count),
                       static_cast<lxw_col_t>(columns.size() - 1));
}

// Whether `row` says the same as the row above in the first `count` columns.
bool ContinuesAbove(const Table& table, size_t row, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Column& column = table.columns()[i];
    if (CellText(column, row) != CellText(column, row - 1)) return false;
  }
  return true;
}

void MergeColumn(const Part& part, size_t column) {
  const size_t end = part.first_row + part.row_count;
  for (size_t first = part.first_row; first < end;) {
    size_t next = first + 1;
    while (next < end && ContinuesAbove(part.table, next, column + 1)) ++next;
    if (next - first > 1) {
      const auto at = static_cast<lxw_col_t>(column);
      const auto line = [&](size_t row) {
        return static_cast<lxw_row_t>(row - part.first_row + 1);
      };
      worksheet_merge_range(part.worksheet, line(first), at, line(next - 1), at, "",
                            part.formats.body);
      WriteCell(part, part.table.columns()[column], first, at);
    }
    first = next;
  }
}

void WritePart(const Part& part, const Sheet& sheet) {
  const auto& columns = part.table.columns();
  if (columns.empty()) return;
  if (sheet.look != nullptr) {
    part.look->WriteSheet(part.worksheet, part.table, *sheet.look, sheet.column_widths,
                          part.first_row, part.row_count);
    return;
  }
  WriteHeader(part, sheet);
  for (size_t row = part.first_row; row < part.first_row + part.row_count; ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      WriteCell(part, columns[i], row, static_cast<lxw_col_t>(i));
    }
  }
  const size_t merged = std::min(sheet.merge_columns, columns.size());
  for (size_t column = 0; column < merged; ++column) MergeColumn(part, column);
}

Status AddSheet(lxw_workbook* workbook, const Formats& formats, LookWriter& look, SheetNames& names,
                const Sheet& sheet) {
  const Table& table = *sheet.table;
  const std::string& wanted = sheet.name.empty() ? table.name() : sheet.name;
  if (table.columns().size() > kMaxColumns) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: has {} columns, an Excel sheet holds {}; use CSV", wanted,
                             table.columns().size(), kMaxColumns)};
  }
  size_t first_row = 0;
  do {
    const std::string name = names.Add(wanted);
    lxw_worksheet* worksheet = workbook_add_worksheet(workbook, name.c_str());
    if (worksheet == nullptr) {
      return Error{ErrorCode::kIo, fmt::format("cannot start the sheet '{}'", name)};
    }
    const size_t room = sheet.look == nullptr ? kMaxDataRows : kMaxXlsxRows - kLookHeaderRows;
    const size_t row_count = std::min(table.rows() - first_row, room);
    WritePart({table, first_row, row_count, worksheet, formats, &look}, sheet);
    first_row += row_count;
  } while (first_row < table.rows());
  return {};
}

// Streaming writes row after row and cannot go back to merge.
bool CanAndShouldStream(std::span<const Sheet> sheets) {
  size_t cells = 0;
  for (const Sheet& sheet : sheets) {
    if (sheet.merge_columns > 0) return false;
    cells += sheet.table->rows() * sheet.table->columns().size();
  }
  return cells > kCellsKeptInMemory;
}

// The library keeps its own temporary files in `folder`, that of the result: where a large result
// fits, they do.
Workbook OpenWorkbook(const std::string& path, std::string folder, bool is_streamed) {
  lxw_workbook_options options{};
  options.constant_memory = is_streamed ? LXW_TRUE : LXW_FALSE;
  options.tmpdir = folder.data();
  Workbook workbook(workbook_new_opt(path.c_str(), &options));
  lxw_doc_properties properties{};
  properties.created = kCreated;
  if (workbook) workbook_set_properties(workbook.get(), &properties);
  return workbook;
}

Status FillAndClose(const std::string& path, const std::string& folder,
                    std::span<const Sheet> sheets) {
  Workbook workbook = OpenWorkbook(path, folder, CanAndShouldStream(sheets));
  if (!workbook) return Error{ErrorCode::kIo, "not enough memory"};
  const Formats formats = AddFormats(workbook.get());
  LookWriter look(workbook.get());
  SheetNames names;
  for (const Sheet& sheet : sheets) {
    SL_RETURN_IF_ERROR(AddSheet(workbook.get(), formats, look, names, sheet));
  }
  const auto close_quietly = [&] {
    const QuietStderr quiet;
    errno = 0;
    const lxw_error closed = workbook_close(workbook.release());
    return std::pair(closed, errno);
  };
  const auto [error, system_error] = close_quietly();
  if (error != LXW_NO_ERROR) {
    const char* reason = system_error != 0 ? std::strerror(system_error) : lxw_strerror(error);
    return Error{ErrorCode::kIo, fmt::format("cannot write: {}", reason)};
  }
  SL_ASSIGN_OR_RETURN(const bool is_whole, HoldsWholeXmlMembers(path));
  if (!is_whole) return Error{ErrorCode::kIo, "not everything could be written; is the disk full?"};
  return {};
}

}  // namespace

Status WriteXlsx(const std::string& path, std::span<const Sheet> sheets) {
  SL_RETURN_IF_ERROR(LoadLate(late_xlsxwriter));
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  const std::string folder = std::filesystem::path(path).parent_path();
  Status written = FillAndClose(file.temporary_path(), folder.empty() ? "." : folder, sheets);
  if (!written.ok()) return std::move(written).error().During(path);
  return file.Commit();
}

#else

Status WriteXlsx(const std::string& path, std::span<const Sheet>) {
  return Error{ErrorCode::kUnsupported,
               path +
                   ": this steplens was built without Excel files; install libxlsxwriter-dev and "
                   "build again with -DSTEPLENS_WITH_XLSX=ON, or ask for CSV"};
}

#endif

}  // namespace steplens::table
