#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/number.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace steplens {
namespace {

constexpr size_t kWindow =
    64;  // bytes a scan looks at in one go, and may touch behind the last one
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Bit i says whether p[i] is the character in question.
struct Hits {
  uint64_t a = 0;
  uint64_t b = 0;
};
Hits Find(const char* p, char a, char b) {
  Hits found;
#ifdef __SSE2__
  const __m128i all_a = _mm_set1_epi8(a);
  const __m128i all_b = _mm_set1_epi8(b);
  for (size_t i = 0; i < kWindow; i += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    found.a |= static_cast<uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, all_a))) << i;
    found.b |= static_cast<uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, all_b))) << i;
  }
#else
  for (size_t i = 0; i < kWindow; ++i) {
    found.a |= static_cast<uint64_t>(p[i] == a) << i;
    found.b |= static_cast<uint64_t>(p[i] == b) << i;
  }
#endif
  return found;
}
uint64_t CountBits(uint64_t bits) { return static_cast<uint64_t>(std::popcount(bits)); }
uint64_t FindSeparators(const char* p) {
  const Hits found = Find(p, ',', '\n');
  return found.a | found.b;
}

// The ends of cells, one after the other. Keeps what it knows about the bytes ahead, so short cells
// cost a few cycles.
class SeparatorScan {
 public:
  explicit SeparatorScan(const char* begin) : window_(begin), ahead_(FindSeparators(begin)) {}

  // The next comma or line feed; there is one.
  const char* Next() {
    while (ahead_ == 0) {
      window_ += kWindow;
      ahead_ = FindSeparators(window_);
    }
    const char* found = window_ + std::countr_zero(ahead_);
    ahead_ &= ahead_ - 1;
    return found;
  }
  // Goes on at `p`, which lies ahead.
  void SkipTo(const char* p) {
    const auto offset = static_cast<size_t>(p - window_);
    if (offset < kWindow) {
      ahead_ &= ~uint64_t{0} << offset;
    } else {
      *this = SeparatorScan(p);
    }
  }

 private:
  const char* window_;
  uint64_t ahead_;  // bit i: window_[i] is a separator not passed yet
};

// A quoted part at the front of a cell.
struct Quoted {
  const char* end =
      nullptr;  // after the closing quote; null if the quote is not closed before the end
  bool has_doubled = false;
  uint64_t line_feeds = 0;  // up to the closing quote
};

Quoted ScanQuoted(const char* open, const char* end) {
  Quoted out;
  const char* p = open + 1;
  while (p < end) {
    auto [quotes, line_feeds] = Find(p, '"', '\n');
    size_t used = kWindow;
    while (quotes != 0) {
      const auto at = static_cast<size_t>(std::countr_zero(quotes));
      if (p + at >= end) break;
      const bool is_doubled = p[at + 1] == '"';  // at the end the line feed behind the bytes
      if (!is_doubled) {
        out.end = p + at + 1;
        out.line_feeds += CountBits(line_feeds & ((uint64_t{1} << at) - 1));
        return out;
      }
      out.has_doubled = true;
      if (at + 1 == kWindow) used = kWindow + 1;
      quotes &= ~(uint64_t{3} << at);
    }
    const auto left = static_cast<size_t>(end - p);
    const uint64_t inside = left < kWindow ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
    out.line_feeds += CountBits(line_feeds & inside);
    p += used;
  }
  return out;
}

// The end of the cell before a line feed: a carriage return belongs to the end of the row.
const char* EndOfLastCell(const char* begin, const char* line_feed) {
  return line_feed > begin && line_feed[-1] == '\r' ? line_feed - 1 : line_feed;
}

// `raw` begins with the quote that opens the cell. Writes its meaning over it, which is never
// longer.
std::string_view UnquoteInPlace(std::string_view raw) {
  char* const begin = const_cast<char*>(raw.data());  // points into the reader's own buffer
  char* put = begin;
  const auto keep = [&](std::string_view text) {
    std::memmove(put, text.data(), text.size());
    put += text.size();
  };
  size_t i = 1;
  while (true) {
    const size_t quote = raw.find('"', i);
    if (quote == std::string_view::npos) break;  // the file ends inside the cell
    keep(raw.substr(i, quote - i));
    i = quote + 1;
    if (i == raw.size() || raw[i] != '"') break;  // closed: what follows is text
    *put++ = '"';
    ++i;
  }
  keep(raw.substr(i));
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

std::string GuardedCell(std::string_view text) {
  const bool is_guarded =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
      !ParseDouble(text);
  return (is_guarded ? "'" : "") + std::string(text);
}

CsvReader::CsvReader(std::unique_ptr<ByteSource> source, std::string name, size_t block_bytes)
    : source_(std::move(source)),
      name_(std::move(name)),
      block_bytes_(std::max(block_bytes, kByteOrderMark.size())) {}

Result<bool> CsvReader::Next() {
  while (!NextBuffered()) {
    if (source_ended_ && !source_status_.ok()) return source_status_.error();
    if (source_ended_) return false;
    SL_RETURN_IF_ERROR(Refill());
  }
  return true;
}

bool CsvReader::NextBuffered() {
  Scan scan = Scan::kBlankLine;
  while (scan == Scan::kBlankLine && pos_ < end_) scan = ScanRow();
  if (scan != Scan::kRow) return false;
  for (const size_t cell : quoted_cells_) cells_[cell] = UnquoteInPlace(cells_[cell]);
  return true;
}

// Splits the row at `pos_` and moves past it, or stays if its end is not buffered yet. It is
// scanned again then, so no cell is unquoted in place before the row is whole.
CsvReader::Scan CsvReader::ScanRow() {
  const char* const end = buffer_.data() + end_;
  const char* const row = buffer_.data() + pos_;
  quoted_cells_.clear();
  ends_in_quotes_ = false;
  SeparatorScan separators(row);
  uint64_t line_feeds = 0;
  std::string_view* cells = cells_.data();
  size_t count = kept_;
  size_t room = cells_.size();
  const char* begin = row;
  const char* p = row;
  while (true) {
    if (count == room) {
      room = 2 * room + 16;
      cells_.resize(room);
      cells = cells_.data();
    }
    if (*begin != '"') {
      p = separators.Next();
      if (*p == ',') {
        cells[count++] = {begin, p};
        begin = p + 1;
        continue;
      }
      cells[count++] = {begin, EndOfLastCell(begin, p)};
      break;
    }
    Quoted quoted = ScanQuoted(begin, end);
    if (quoted.end == nullptr) {
      if (!source_ended_) return Scan::kUnfinishedRow;
      ends_in_quotes_ = true;
      quoted.end = end;
    }
    line_feeds += quoted.line_feeds;
    separators.SkipTo(quoted.end);
    p = separators.Next();
    const bool is_last = *p == '\n';
    const char* const cell_end = is_last ? EndOfLastCell(quoted.end, p) : p;
    if (cell_end == quoted.end && !quoted.has_doubled && !ends_in_quotes_) {
      cells[count++] = {begin + 1, cell_end - 1};
    } else {
      quoted_cells_.push_back(count);
      cells[count++] = {begin, cell_end};
    }
    if (is_last) break;
    begin = p + 1;
  }
  if (p == end && !source_ended_) return Scan::kUnfinishedRow;
  cell_count_ = count - kept_;
  ends_without_newline_ = p == end;
  pos_ = static_cast<size_t>(p - buffer_.data()) + (ends_without_newline_ ? 0 : 1);
  row_line_ = next_line_;
  next_line_ += line_feeds + 1;
  const bool is_blank = cell_count_ == 1 && cells[kept_].empty() && cells[kept_].data() == row;
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
  if (buffer_.size() < wanted + kWindow) buffer_.resize(wanted + kWindow);
  pos_ = 0;
  end_ = kept;
  while (end_ < wanted && !source_ended_) {
    Result<size_t> got = source_->Read(buffer_.data() + end_, wanted - end_);
    source_ended_ = !got.ok() || *got == 0;
    if (got.ok()) {
      end_ += *got;
      text_read_ += *got;
    } else {
      source_status_ = std::move(got).error();
    }
  }
  TurnReturnsIntoFeeds(kept);
  buffer_[end_] = '\n';
  if (!started_ && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    pos_ = kByteOrderMark.size();
  }
  started_ = true;
  return {};
}

// Whether a text has a carriage return for a line end before its first line feed.
CsvReader::RowEnd CsvReader::FindFirstRowEnd(std::string_view text, bool is_whole) {
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return RowEnd::kLineFeed;
    if (text[i] == '"') in_quotes = !in_quotes;
    if (text[i] != '\r' || in_quotes) continue;
    if (i + 1 == text.size() && !is_whole) break;
    const bool is_crlf = i + 1 < text.size() && text[i + 1] == '\n';
    return is_crlf ? RowEnd::kLineFeed : RowEnd::kCarriageReturn;
  }
  return RowEnd::kNotSeen;
}

// No row is split before it is decided: a row ends with a line feed.
void CsvReader::TurnReturnsIntoFeeds(size_t first_new) {
  if (row_end_ == RowEnd::kNotSeen) {
    row_end_ = FindFirstRowEnd({buffer_.data(), end_}, source_ended_);
    first_new = 0;
  }
  if (row_end_ == RowEnd::kCarriageReturn) {
    std::replace(buffer_.data() + first_new, buffer_.data() + end_, '\r', '\n');
  }
}

}  // namespace steplens
