#include "readers/sniff.h"

#include <string_view>

#include "base/file.h"
#include "base/number.h"

namespace steplens::readers {
namespace {

constexpr size_t kSniffBytes = 64 << 10;

bool Contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

// "ph" written as a key: trace events have it, other arrays of objects hardly.
bool HasPhase(std::string_view text) { return Contains(text, "\"ph\""); }

Sniffed SniffText(std::string_view text) {
  if (text.starts_with("SQLite format 3")) return {Content::kSqlite, ""};
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = Trim(text);
  if (text.empty()) return {Content::kEmpty, "the file is empty"};
  if (text.starts_with('[')) {
    const std::string_view rest = Trim(text.substr(1));
    if (rest.starts_with(']')) return {Content::kTrace, ""};
    if (rest.starts_with('{') && HasPhase(text)) return {Content::kTrace, ""};
    return {Content::kOtherJson, "JSON, but not an array of trace events"};
  }
  if (text.starts_with('{')) {
    if (Contains(text, "\"traceEvents\"") || Contains(text, "\"schemaVersion\"") ||
        Contains(text, "\"deviceProperties\"")) {
      return {Content::kTrace, ""};
    }
    return {Content::kOtherJson, "JSON, but without 'traceEvents'"};
  }
  return {Content::kOther, "not a trace, database or result file that steplens knows"};
}

}  // namespace

Sniffed SniffFile(const std::string& path) {
  const auto source = OpenByteSource(path);
  if (!source.ok()) return {Content::kUnreadable, source.error().message};
  std::string head(kSniffBytes, '\0');
  size_t have = 0;
  while (have < head.size()) {
    const Result<size_t> got = (*source)->Read(head.data() + have, head.size() - have);
    if (!got.ok() && have == 0) return {Content::kUnreadable, got.error().message};
    if (!got.ok() || *got == 0) break;
    have += *got;
  }
  return SniffText(std::string_view(head).substr(0, have));
}

}  // namespace steplens::readers
