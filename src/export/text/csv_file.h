#pragma once

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/file_out.h"
#include "export/text/rendered_texts.h"
#include "store/tables.h"

namespace steplens::exporting {

// A csv file of the reference tool: minimal quoting, rows end with CRLF, and no file at all without
// rows. Cells are appended from left to right, then EndRow.
class CsvFile {
 public:
  CsvFile(std::string path, std::span<const std::string> header)
      : file_(std::move(path)), out_(file_.text()) {
    for (const std::string& name : header) Text(name);
    EndLine();
  }

  void Text(std::string_view text) { Rendered(CsvText(text)); }
  void Rendered(std::string_view cell) {  // quoted already
    Separate();
    out_ += cell;
  }
  // Missing values are the given text: "" for what the framework knows, "N/A" for what the device
  // exporter knows.
  void Int(int64_t value, std::string_view missing = {}) {
    Separate();
    value == store::kNone ? void(out_ += missing) : out_.Int(value);
  }
  // Microseconds with three decimals and the TAB that keeps spreadsheets from rounding.
  void Us(int64_t ns, std::string_view missing = {}) {
    Separate();
    if (ns == store::kNone) {
      out_ += missing;
      return;
    }
    out_.Us(ns);
    out_ += '\t';
  }
  void UsNumber(int64_t ns, std::string_view missing = {}) {
    Separate();
    ns == store::kNone ? void(out_ += missing) : out_.UsNumber(ns);
  }
  void Number(double value, std::string_view missing = {}) {
    Separate();
    std::isfinite(value) ? out_.Number(value) : void(out_ += missing);
  }
  void ShortNumber(double value, std::string_view missing = {}) {
    Separate();
    std::isfinite(value) ? out_.ShortNumber(value) : void(out_ += missing);
  }
  void Kb(int64_t bytes, std::string_view missing = {}) {
    Separate();
    bytes == store::kNone ? void(out_ += missing) : out_.BinaryFraction(bytes, 10);
  }
  void Mb(int64_t bytes, std::string_view missing = {}) {
    Separate();
    bytes == store::kNone ? void(out_ += missing) : AppendMb(bytes);
  }
  void EndRow() {
    EndLine();
    has_rows_ = true;
    file_.Tick();
  }
  Status Commit() { return has_rows_ ? file_.Commit() : Status(); }

 private:
  // Totals come back: those of a step are mostly those of the step before.
  struct KnownMb {
    int64_t bytes = 0;
    char text[kMaxNumberBytes] = "0.0";
    uint8_t size = 3;
  };
  static constexpr size_t kKnownMbs = 1024;
  void AppendMb(int64_t bytes) {
    if (known_mbs_.empty()) known_mbs_.resize(kKnownMbs);
    const uint64_t mixed = static_cast<uint64_t>(bytes) * 0x9E3779B97F4A7C15;
    KnownMb& known = known_mbs_[mixed >> 54];
    if (known.bytes != bytes) {
      known.bytes = bytes;
      known.size = static_cast<uint8_t>(PutBinaryFraction(known.text, bytes, 20) - known.text);
    }
    out_ += std::string_view(known.text, known.size);
  }

  void Separate() {
    if (!is_first_cell_) out_ += ',';
    is_first_cell_ = false;
  }
  void EndLine() {
    out_ += "\r\n";
    is_first_cell_ = true;
  }

  FileOut file_;
  TextBuffer& out_;
  std::vector<KnownMb> known_mbs_;  // by a hash of the bytes; empty until the first
  bool is_first_cell_ = true;
  bool has_rows_ = false;
};

}  // namespace steplens::exporting
