#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "export/text/append.h"
#include "export/text/file_out.h"
#include "store/tables.h"

namespace steplens::exporting {

// A csv file of the reference tool: minimal quoting, rows end with CRLF, and no file at all without
// rows. Cells are appended from left to right, then EndRow.
class CsvFile {
 public:
  CsvFile(std::string path, std::span<const std::string> header) : path_(std::move(path)) {
    for (const std::string& name : header) Text(name);
    EndLine();
  }

  void Text(std::string_view text) {
    Separate();
    AppendCsvCell(line_, text);
  }
  void Rendered(std::string_view cell) {  // quoted already
    Separate();
    line_ += cell;
  }
  // Missing values are the given text: "" for what the framework knows, "N/A" for what the device
  // exporter knows.
  void Int(int64_t value, std::string_view missing = {}) {
    Separate();
    value == store::kNone ? void(line_ += missing) : AppendInt(line_, value);
  }
  // Microseconds with three decimals and the TAB that keeps spreadsheets from rounding.
  void Us(int64_t ns, std::string_view missing = {}) {
    Separate();
    if (ns == store::kNone) {
      line_ += missing;
      return;
    }
    AppendUs(line_, ns);
    line_ += '\t';
  }
  void UsNumber(int64_t ns, std::string_view missing = {}) {
    Separate();
    ns == store::kNone ? void(line_ += missing) : AppendUsNumber(line_, ns);
  }
  void Number(double value, std::string_view missing = {}) {
    Separate();
    std::isfinite(value) ? AppendNumber(line_, value) : void(line_ += missing);
  }
  void ShortNumber(double value, std::string_view missing = {}) {
    Separate();
    std::isfinite(value) ? AppendShortNumber(line_, value) : void(line_ += missing);
  }
  // Bytes as a number of units.
  void Bytes(int64_t bytes, double bytes_per_unit, std::string_view missing = {}) {
    Separate();
    bytes == store::kNone ? void(line_ += missing)
                          : AppendNumber(line_, static_cast<double>(bytes) / bytes_per_unit);
  }
  void EndRow();
  Status Commit();

 private:
  void Separate() {
    if (!is_first_cell_) line_ += ',';
    is_first_cell_ = false;
  }
  void EndLine() {
    line_ += "\r\n";
    is_first_cell_ = true;
  }

  std::string path_;
  std::string line_;  // what is not yet handed to the file; the header at first
  bool is_first_cell_ = true;
  std::optional<FileOut> file_;
  Status status_;
};

}  // namespace steplens::exporting
