#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"

namespace steplens {

// Appends one cell to a line of CSV; quoted only if it holds a comma, a quote or a line break.
void AppendCsvCell(std::string& out, std::string_view text);

// A cell for a spreadsheet: one that it would run as a formula (it begins with = + - @, a TAB or a
// CR, and is no number) gets a ' in front, which makes it a text.
std::string GuardedCell(std::string_view text);

// Splits CSV text into rows, front to back, in one pass and with bounded memory. LF and CRLF end a
// row outside quotes, and CR in a text whose first line ends so; it counts as LF everywhere then. A
// UTF-8 byte order mark at the front and blank lines are skipped. A quote
// opens a quoted cell only as its first character, elsewhere it is text; text after the closing
// quote belongs to the cell.
class CsvReader {
 public:
  static constexpr size_t kBlockBytes = 1 << 18;
  // No real row is near this size; a file with a quote missing would be one.
  static constexpr size_t kMaxRowBytes = size_t{16} << 20;

  // `name` is used in messages. The result does not depend on `block_bytes`.
  CsvReader(std::unique_ptr<ByteSource> source, std::string name, size_t block_bytes = kBlockBytes);

  // Moves to the next row; false after the last one. An error of the source comes after the rows
  // before it.
  Result<bool> Next();
  // The same if the whole row is in memory already, else false and no change. The cells of rows
  // before stay valid as long as only this is called.
  bool NextBuffered();

  // The row Next moved to, unquoted. Valid until the next call of Next.
  std::span<const std::string_view> cells() const { return {cells_.data() + kept_, cell_count_}; }
  // Puts the first `count` cells of the row behind those kept before, where they stay until they
  // are dropped. A caller that looks at several rows at once saves a copy of each; see
  // NextBuffered.
  void KeepCells(size_t count) {
    kept_ += count;
    cell_count_ = 0;
  }
  std::span<const std::string_view> kept_cells() const { return {cells_.data(), kept_}; }
  void DropKeptCells() { kept_ = 0; }
  // The line of the file on which the row begins, from 1; quoted line breaks count.
  uint64_t line() const { return row_line_; }
  // The file ends inside the row: in a quoted cell, or before its line end. In the second case the
  // row is whole if it has all its cells.
  bool ends_in_quotes() const { return ends_in_quotes_; }
  bool ends_without_newline() const { return ends_without_newline_; }

  const std::string& name() const { return name_; }
  // Bytes of text up to the end of the row.
  uint64_t text_position() const { return text_read_ - (end_ - pos_); }
  // Bytes of the file consumed so far, for progress.
  uint64_t file_position() const { return source_->file_position(); }

 private:
  // What the buffered bytes from `pos_` on begin with.
  enum class Scan { kRow, kBlankLine, kUnfinishedRow };
  Scan ScanRow();
  Status Refill();
  enum class RowEnd { kNotSeen, kLineFeed, kCarriageReturn };
  static RowEnd FindFirstRowEnd(std::string_view text, bool is_whole);
  void TurnReturnsIntoFeeds(size_t first_new);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  size_t block_bytes_;

  // | rows split already | bytes not yet split | a line feed and more that a scan may touch
  // | 0                    pos_                  end_
  std::vector<char> buffer_;
  size_t pos_ = 0;
  size_t end_ = 0;
  uint64_t text_read_ = 0;
  bool started_ = false;
  RowEnd row_end_ = RowEnd::kNotSeen;  // of the first line
  bool source_ended_ = false;
  Status source_status_;

  std::vector<std::string_view> cells_;  // | kept | those of the row | room
  size_t kept_ = 0;
  size_t cell_count_ = 0;
  std::vector<size_t>
      quoted_cells_;  // those of cells_ that have to be unquoted when the row is whole
  uint64_t row_line_ = 0;
  uint64_t next_line_ = 1;
  bool ends_in_quotes_ = false;
  bool ends_without_newline_ = false;
};

}  // namespace steplens
