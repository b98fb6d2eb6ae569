#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace steplens {
namespace {

constexpr size_t kPadding = 8;  // a scan reads eight bytes at a time
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

static_assert(std::endian::native == std::endian::little,
              "FindCellEnd takes the lowest byte as the first");

// The high bit of each byte of `word` that is zero. Bits above the lowest one set may be wrong.
constexpr uint64_t ZeroBytes(uint64_t word) {
  return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

// The first comma or line feed at or after `p`; there is one.
const char* FindCellEnd(const char* p) {
  constexpr uint64_t kCommas = 0x0101010101010101u * ',';
  constexpr uint64_t kLineFeeds = 0x0101010101010101u * '\n';
  while (true) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    const uint64_t found = ZeroBytes(word ^ kCommas) | ZeroBytes(word ^ kLineFeeds);
    if (found != 0) return p + std::countr_zero(found) / 8;
    p += sizeof(word);
  }
}

uint64_t CountLineFeeds(const char* begin, const char* end) {
  uint64_t count = 0;
  while (begin < end) {
    const void* found = std::memchr(begin, '\n', static_cast<size_t>(end - begin));
    if (found == nullptr) break;
    begin = static_cast<const char*>(found) + 1;
    ++count;
  }
  return count;
}

// A quoted part at the front of a cell.
struct Quoted {
  const char* end =
      nullptr;  // after the closing quote; null if the quote is not closed before the end
  bool has_doubled = false;
};

Quoted ScanQuoted(const char* open, const char* end) {
  Quoted out;
  const char* p = open + 1;
  while (p < end) {
    p = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end - p)));
    if (p == nullptr) return out;
    if (p[1] != '"') {  // at the end the line feed behind the bytes
      out.end = p + 1;
      return out;
    }
    out.has_doubled = true;
    p += 2;
  }
  return out;
}

// `raw` begins with the quote that opens the cell. Writes its meaning over it, which is never
// longer.
std::string_view UnquoteInPlace(std::string_view raw) {
  char* const begin = const_cast<char*>(raw.data());  // points into the reader's own buffer
  char* put = begin;
  bool quoted = true;
  for (size_t i = 1; i < raw.size(); ++i) {
    if (quoted && raw[i] == '"') {
      quoted = i + 1 < raw.size() && raw[i + 1] == '"';
      if (!quoted) continue;
      ++i;
    }
    *put++ = raw[i];
  }
  return {begin, static_cast<size_t>(put - begin)};
}

}  // namespace

void AppendCsvCell(std::string& out, std::string_view text) {
  const auto needs_quotes = [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; };
  if (std::none_of(text.begin(), text.end(), needs_quotes)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

CsvReader::CsvReader(std::unique_ptr<ByteSource> source, std::string name, size_t block_bytes)
    : source_(std::move(source)),
      name_(std::move(name)),
      block_bytes_(std::max(block_bytes, kByteOrderMark.size())) {}

Result<bool> CsvReader::Next() {
  while (true) {
    const Scan scan = pos_ < end_ ? ScanRow() : Scan::kUnfinishedRow;
    if (scan == Scan::kRow) break;
    if (scan == Scan::kBlankLine) continue;
    if (source_ended_ && !source_status_.ok()) return source_status_.error();
    if (source_ended_) return false;
    SL_RETURN_IF_ERROR(Refill());
  }
  for (const size_t cell : quoted_cells_) cells_[cell] = UnquoteInPlace(cells_[cell]);
  return true;
}

// Splits the row at `pos_` and moves past it, or stays if its end is not buffered yet. It is
// scanned again then, so no cell is unquoted in place before the row is whole.
CsvReader::Scan CsvReader::ScanRow() {
  const char* const end = buffer_.data() + end_;
  const char* const row = buffer_.data() + pos_;
  cells_.clear();
  quoted_cells_.clear();
  ends_in_quotes_ = false;
  uint64_t line_feeds = 0;
  const char* p = row;
  while (true) {
    const char* const begin = p;
    const bool is_quoted = *begin == '"';
    Quoted quoted{begin};
    if (is_quoted) {
      quoted = ScanQuoted(begin, end);
      if (quoted.end == nullptr) {
        if (!source_ended_) return Scan::kUnfinishedRow;
        ends_in_quotes_ = true;
        quoted.end = end;
      }
      line_feeds += CountLineFeeds(begin, quoted.end);
    }
    p = FindCellEnd(quoted.end);
    if (p == end && !source_ended_) return Scan::kUnfinishedRow;
    const bool is_last = *p == '\n';
    const char* const cell_end = is_last && p > quoted.end && p[-1] == '\r' ? p - 1 : p;
    if (is_quoted && cell_end == quoted.end && !quoted.has_doubled && !ends_in_quotes_) {
      cells_.emplace_back(begin + 1, static_cast<size_t>(cell_end - begin - 2));
    } else {
      if (is_quoted) quoted_cells_.push_back(cells_.size());
      cells_.emplace_back(begin, static_cast<size_t>(cell_end - begin));
    }
    if (is_last) break;
    ++p;
  }
  ends_without_newline_ = p == end;
  pos_ = static_cast<size_t>(p - buffer_.data()) + (ends_without_newline_ ? 0 : 1);
  row_line_ = next_line_;
  next_line_ += line_feeds + 1;
  const bool is_blank = cells_.size() == 1 && cells_[0].empty() && cells_[0].data() == row;
  return is_blank ? Scan::kBlankLine : Scan::kRow;
}

// Moves the bytes that are not split yet to the front and reads a block behind them; a long row
// doubles the block, so that rescanning stays linear.
Status CsvReader::Refill() {
  const size_t kept = end_ - pos_;
  if (kept > kMaxRowBytes) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}:{}: a row of more than {} MiB; a closing quote may be missing",
                             name_, next_line_, kMaxRowBytes >> 20)};
  }
  if (kept > 0) std::memmove(buffer_.data(), buffer_.data() + pos_, kept);
  const size_t wanted = kept + std::max(block_bytes_, kept);
  if (buffer_.size() < wanted + kPadding) buffer_.resize(wanted + kPadding);
  pos_ = 0;
  end_ = kept;
  while (end_ < wanted && !source_ended_) {
    Result<size_t> got = source_->Read(buffer_.data() + end_, wanted - end_);
    source_ended_ = !got.ok() || *got == 0;
    if (got.ok()) {
      end_ += *got;
    } else {
      source_status_ = std::move(got).error();
    }
  }
  buffer_[end_] = '\n';
  if (!started_ && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    pos_ = kByteOrderMark.size();
  }
  started_ = true;
  return {};
}

}  // namespace steplens
