#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace steplens {
namespace {

constexpr size_t kWindow =
    64;  // bytes a scan looks at in one go, and may touch behind the last one
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Bit i says whether p[i] is a comma or a line feed.
#ifdef __SSE2__
uint64_t FindSeparators(const char* p) {
  const __m128i comma = _mm_set1_epi8(',');
  const __m128i line_feed = _mm_set1_epi8('\n');
  uint64_t found = 0;
  for (size_t i = 0; i < kWindow; i += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    const __m128i hits =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(bytes, line_feed));
    found |= static_cast<uint64_t>(_mm_movemask_epi8(hits)) << i;
  }
  return found;
}
#else
uint64_t FindSeparators(const char* p) {
  uint64_t found = 0;
  for (size_t i = 0; i < kWindow; ++i) {
    found |= static_cast<uint64_t>(p[i] == ',' || p[i] == '\n') << i;
  }
  return found;
}
#endif

// Finds the ends of cells. Keeps what it knows about the bytes ahead, so short cells cost a few
// cycles.
class SeparatorScan {
 public:
  // The first comma or line feed at or after `p`; there is one.
  const char* Find(const char* p) {
    const auto offset = static_cast<size_t>(p - window_);
    if (window_ != nullptr && offset < kWindow) {
      const uint64_t ahead = found_ >> offset;
      if (ahead != 0) return p + std::countr_zero(ahead);
      window_ += kWindow;
    } else {
      window_ = p;
    }
    while ((found_ = FindSeparators(window_)) == 0) window_ += kWindow;
    return window_ + std::countr_zero(found_);
  }

 private:
  const char* window_ = nullptr;
  uint64_t found_ = 0;
};

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
  SeparatorScan separators;
  uint64_t line_feeds = 0;
  size_t count = 0;
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
    p = separators.Find(quoted.end);
    if (p == end && !source_ended_) return Scan::kUnfinishedRow;
    const bool is_last = *p == '\n';
    const char* const cell_end = is_last && p > quoted.end && p[-1] == '\r' ? p - 1 : p;
    if (count == cells_.size()) cells_.resize(2 * count + 16);
    if (is_quoted && cell_end == quoted.end && !quoted.has_doubled && !ends_in_quotes_) {
      cells_[count++] = {begin + 1, cell_end - 1};
    } else {
      if (is_quoted) quoted_cells_.push_back(count);
      cells_[count++] = {begin, cell_end};
    }
    if (is_last) break;
    ++p;
  }
  cell_count_ = count;
  ends_without_newline_ = p == end;
  pos_ = static_cast<size_t>(p - buffer_.data()) + (ends_without_newline_ ? 0 : 1);
  row_line_ = next_line_;
  next_line_ += line_feeds + 1;
  const bool is_blank = count == 1 && cells_[0].empty() && cells_[0].data() == row;
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
  buffer_[end_] = '\n';
  if (!started_ && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    pos_ = kByteOrderMark.size();
  }
  started_ = true;
  return {};
}

}  // namespace steplens
