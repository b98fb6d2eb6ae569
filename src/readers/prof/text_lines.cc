#include "readers/prof/text_lines.h"

#include <charconv>

#include "base/file.h"

namespace steplens::readers::prof {

std::vector<std::string_view> SplitWords(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  size_t at = line.find_first_not_of(kBlanks);
  while (at != line.npos) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string ReadTextFamily(const std::vector<Slice>& slices, const ReadOptions& options,
                           store::IssueLog& issues) {
  std::string text;
  for (const Slice& slice : slices) {
    const Result<std::string> part = ReadFile(slice.path);
    if (!part.ok()) {
      issues.Add(store::IssueKind::kFileUnreadable, part.error().message);
      continue;
    }
    text += *part;
    if (options.progress != nullptr) options.progress->Add(part->size());
  }
  return text;
}

std::optional<uint64_t> ParseDeviceTime(std::string_view text) {
  constexpr size_t kMaxDigits = 19;
  std::string digits(text);
  std::erase(digits, ':');
  uint64_t ns = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ns);
  if (digits.empty() || digits.size() > kMaxDigits || error != std::errc() ||
      end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return ns;
}

}  // namespace steplens::readers::prof
