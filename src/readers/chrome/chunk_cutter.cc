#include "readers/chrome/chunk_cutter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "readers/chrome/event_scanner.h"
#include "readers/chrome/event_splitter.h"

namespace steplens::readers {
namespace {

constexpr size_t kHeadLimit = 64 << 20;
constexpr size_t kPieceLimit = 256 << 20;
constexpr size_t kBorderBytes = 64;  // a brace may need as many behind it to be known as a border

size_t SkipBlanks(std::string_view text, size_t i) {
  while (i < text.size() && IsBlank(text[i])) ++i;
  return i;
}

// Where the array of events starts.
struct HeadEnd {
  size_t key = 0;     // position of "traceEvents"
  size_t events = 0;  // position behind the '['
};

// Looks for `"traceEvents": [` among the members of the outermost object.
std::optional<HeadEnd> FindTraceEvents(std::string_view text) {
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const size_t begin = i;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    if (depth != 1 || text.substr(begin, i + 1 - begin) != "\"traceEvents\"") continue;
    size_t j = SkipBlanks(text, i + 1);
    if (j >= text.size() || text[j] != ':') continue;
    j = SkipBlanks(text, j + 1);
    if (j < text.size() && text[j] == '[') return HeadEnd{begin, j + 1};
  }
  return std::nullopt;
}

}  // namespace

std::string_view TracePiece::AsArray(size_t size) {
  if (buffer_.size() < size + 2 + kParserPadding) buffer_.resize(size + 2 + kParserPadding);
  buffer_[size + 1] = ']';
  return {buffer_.data(), size + 2};
}

bool ChunkCutter::Fill(std::vector<char>& buffer, size_t& have, size_t size) {
  if (at_end_) return false;
  if (buffer.size() < have + size + kParserPadding + 1)
    buffer.resize(have + size + kParserPadding + 1);
  size_t filled = 0;
  while (filled < size) {
    Result<size_t> got = source_.Read(buffer.data() + have, size - filled);
    if (!got.ok() || *got == 0) {
      at_end_ = true;
      if (!got.ok()) source_status_ = std::move(got).error();
      break;
    }
    filled += *got;
    have += *got;
  }
  return filled > 0;
}

Status ChunkCutter::ReadHead() {
  std::vector<char> buffer;
  size_t have = 0;
  size_t step = 64 << 10;
  while (Fill(buffer, have, step)) {
    const std::string_view text(buffer.data(), have);
    size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    begin = SkipBlanks(text, begin);
    if (begin == text.size()) continue;
    if (text[begin] == '[') {
      pending_ = text.substr(begin + 1);
      offset_ = begin + 1;
      return {};
    }
    if (text[begin] != '{') {
      return Error{ErrorCode::kCorruptData,
                   fmt::format("{}: not a JSON trace: starts with '{}', '[' or '{{' was expected",
                               name_, text.substr(begin, 1))};
    }
    if (const auto found = FindTraceEvents(text)) {
      head_ = text.substr(begin, found->key - begin);
      pending_ = text.substr(found->events);
      offset_ = found->events;
      return {};
    }
    if (have > kHeadLimit) break;
    step = std::max(step, have);
  }
  if (!source_status_.ok()) return source_status_;
  if (have == 0) return Error{ErrorCode::kCorruptData, fmt::format("{}: the file is empty", name_)};
  return Error{
      ErrorCode::kCorruptData,
      fmt::format("{}: a JSON object without an array 'traceEvents', which a trace must have",
                  name_)};
}

bool ChunkCutter::Next(TracePiece& piece) {
  if (finished_) return false;
  const size_t needed = pending_.size() + kParserPadding + 2;
  if (piece.buffer_.size() < needed) piece.buffer_.resize(needed);
  std::memcpy(piece.buffer_.data() + 1, pending_.data(), pending_.size());
  size_t have = pending_.size() + 1;
  piece.offset_ = offset_;
  piece.is_last_ = false;
  size_t wanted = chunk_bytes_ + 1;
  size_t searched = 0;  // of the text, without a border
  while (true) {
    if (have < wanted) Fill(piece.buffer_, have, wanted - have);
    const std::string_view text(piece.buffer_.data() + 1, have - 1);
    const auto border =
        at_end_ && text.size() <= chunk_bytes_ ? std::nullopt : FindLastBorder(text, searched);
    if (border) {
      pending_ = text.substr(border->next_event);
      offset_ += border->next_event;
      piece.size_ = border->comma;
      return true;
    }
    if (at_end_ || have > kPieceLimit) {
      finished_ = at_end_;
      piece.is_last_ = at_end_;
      piece.size_ = text.size();
      offset_ += text.size();
      pending_.clear();
      return piece.size_ > 0 || piece.is_last_;
    }
    wanted = have + chunk_bytes_;
    searched = std::max(searched, text.size() - std::min(text.size(), kBorderBytes));
  }
}

}  // namespace steplens::readers
