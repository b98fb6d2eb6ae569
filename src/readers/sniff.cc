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

// What is not text of ours but can be made one; empty for other bytes.
std::string_view KnownOtherForm(std::string_view bytes) {
  using namespace std::string_view_literals;
  struct Form {
    std::string_view begin, reason;
  };
  constexpr Form kForms[] = {
      {"PK\x03\x04"sv, "a zip archive: unpack it first"},
      {"\xFD\x37zXZ\0"sv, "compressed with xz: unpack it first; gzip is read as it is"},
      {"\x28\xB5\x2F\xFD"sv, "compressed with zstd: unpack it first; gzip is read as it is"},
      {"BZh"sv, "compressed with bzip2: unpack it first; gzip is read as it is"},
      {"\xFF\xFE"sv, "a text in UTF-16; UTF-8 was expected"},
      {"\xFE\xFF"sv, "a text in UTF-16; UTF-8 was expected"},
  };
  for (const Form& form : kForms) {
    if (bytes.starts_with(form.begin)) return form.reason;
  }
  return {};
}

Sniffed SniffText(std::string_view text) {
  if (text.starts_with("SQLite format 3")) return {Content::kSqlite, ""};
  if (const std::string_view reason = KnownOtherForm(text); !reason.empty()) {
    return {Content::kOther, std::string(reason)};
  }
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
    if (!got.ok() && have == 0) {
      return {Content::kUnreadable, got.error().message, got.error().code};
    }
    if (!got.ok() || *got == 0) break;
    have += *got;
  }
  return SniffText(std::string_view(head).substr(0, have));
}

}  // namespace steplens::readers
