#include "cli/row_printer.h"

#include <cmath>

#include "base/csv.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

using query::Cell;

constexpr size_t kPieceBytes = 64 << 10;

class CsvPrinter : public RowPrinter {
 public:
  explicit CsvPrinter(bool is_safe) : is_safe_(is_safe) {}

  Status Begin(const std::vector<std::string>& names) override {
    for (const std::string& name : names) {
      if (&name != &names.front()) out_ += ',';
      AppendText(name);
    }
    out_ += '\n';
    return {};
  }

  Status Row(std::span<const Cell> cells) override {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out_ += ',';
      Append(cells[i]);
    }
    out_ += '\n';
    return FlushIfLarge();
  }

  Status End() override { return Flush(); }

 private:
  void Append(const Cell& cell) {
    switch (cell.kind) {
      case Cell::Kind::kNull:
        return;
      case Cell::Kind::kInt:
        out_ += std::to_string(cell.integer);
        return;
      case Cell::Kind::kDouble:
        if (!std::isnan(cell.real)) out_ += FormatDouble(cell.real);
        return;
      case Cell::Kind::kText:
        AppendText(cell.text);
    }
  }
  void AppendText(std::string_view text) {
    is_safe_ ? AppendCsvCell(out_, GuardedCell(text)) : AppendCsvCell(out_, text);
  }

  bool is_safe_;
};

class JsonPrinter : public RowPrinter {
 public:
  Status Begin(const std::vector<std::string>& names) override {
    for (const std::string& name : names) {
      std::string& key = keys_.emplace_back(keys_.empty() ? "{" : ", ");
      AppendJsonString(key, name);
      key += ": ";
    }
    out_ += '[';
    return {};
  }

  Status Row(std::span<const Cell> cells) override {
    out_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      out_ += keys_[i];
      Append(cells[i]);
    }
    out_ += '}';
    return FlushIfLarge();
  }

  Status End() override {
    out_ += "\n]\n";
    return Flush();
  }

 private:
  void Append(const Cell& cell) {
    switch (cell.kind) {
      case Cell::Kind::kNull:
        out_ += "null";
        return;
      case Cell::Kind::kInt:
        out_ += std::to_string(cell.integer);
        return;
      case Cell::Kind::kDouble:
        out_ += std::isfinite(cell.real) ? FormatDouble(cell.real) : "null";
        return;
      case Cell::Kind::kText:
        AppendJsonString(out_, cell.text);
    }
  }

  std::vector<std::string> keys_;  // with what stands before and after them
  bool is_first_ = true;
};

}  // namespace

RowPrinter::~RowPrinter() {
  // Rows found before an error. It is the error that is reported.
  [[maybe_unused]] const Status status = Flush();
}

Status RowPrinter::FlushIfLarge() {
  if (out_.size() < kPieceBytes) return {};
  return Flush();
}

Status RowPrinter::Flush() {
  const std::string piece = std::exchange(out_, {});
  return piece.empty() ? Status() : PrintResult(piece);
}

std::unique_ptr<RowPrinter> MakeRowPrinter(std::string_view format, bool is_safe) {
  if (format == "csv") return std::make_unique<CsvPrinter>(is_safe);
  return std::make_unique<JsonPrinter>();
}

}  // namespace steplens::cli
