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

inline constexpr std::string_view kNotKnown = "N/A";

// A csv file of the reference tool: minimal quoting, rows end with CRLF (those of msprof with LF),
// and no file at all without rows. Cells are appended from left to right, then EndRow.
class CsvFile {
 public:
  CsvFile(std::string path, std::span<const std::string> header, std::string_view line_end = "\r\n")
      : file_(std::move(path)), out_(file_.text()), line_end_(line_end) {
    for (const std::string& name : header) Text(name);
    EndLine();
  }

  void Text(std::string_view text) { Rendered(CsvText(text)); }
  // One cell that is quoted already, or several with commas between them.
  void Rendered(std::string_view cell) {
    out_ += cell;
    out_ += ',';
  }
  void Rendered(PaddedView cell) {
    Pen pen(out_, cell.size());
    pen += cell;
    pen += ",";
  }
  // Missing values are the given text: "" for what the framework knows, kNotKnown for what the
  // device exporter knows.
  void Int(int64_t value, std::string_view missing = {}) {
    if (value == store::kNone) return Rendered(missing);
    Pen pen(out_, kMaxNumberBytes);
    pen.Int(value) += ",";
  }
  // Microseconds with three decimals and the TAB that keeps spreadsheets from rounding.
  void Us(int64_t ns, std::string_view missing = {}) {
    if (ns == store::kNone) return Rendered(missing);
    Pen pen(out_, kMaxNumberBytes);
    pen.Us(ns) += "\t,";
  }
  // The same without the TAB; always known.
  void PlainUs(int64_t ns) {
    Pen pen(out_, kMaxNumberBytes);
    pen.Us(ns) += ",";
  }
  void UsNumber(int64_t ns, std::string_view missing = {}) {
    if (ns == store::kNone) return Rendered(missing);
    Pen pen(out_, kMaxNumberBytes);
    pen.UsNumber(ns) += ",";
  }
  void Number(double value, std::string_view missing = {}) {
    std::isfinite(value) ? out_.Number(value) : void(out_ += missing);
    out_ += ',';
  }
  void ShortNumber(double value, std::string_view missing = {}) {
    std::isfinite(value) ? out_.ShortNumber(value) : void(out_ += missing);
    out_ += ',';
  }
  void Kb(int64_t bytes, std::string_view missing = {}) {
    bytes == store::kNone ? void(out_ += missing) : out_.BinaryFraction(bytes, 10);
    out_ += ',';
  }
  void Mb(int64_t bytes, std::string_view missing = {}) {
    bytes == store::kNone ? void(out_ += missing) : AppendMb(bytes);
    out_ += ',';
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

  // The comma behind the last cell becomes the end of the line.
  void EndLine() {
    if (out_.size() > 0) out_.RemoveLast();
    out_ += line_end_;
  }

  FileOut file_;
  TextBuffer& out_;
  std::string_view line_end_;
  std::vector<KnownMb> known_mbs_;  // by a hash of the bytes; empty until the first
  bool has_rows_ = false;
};

}  // namespace steplens::exporting
