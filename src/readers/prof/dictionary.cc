#include "readers/prof/dictionary.h"

#include <fmt/format.h>

#include <charconv>

#include "base/file.h"
#include "readers/folder_listing.h"

namespace steplens::readers::prof {
namespace {

constexpr uint32_t kDynamicEnable = 27;
constexpr uint32_t kDynamicDisable = 28;

template <typename Number>
bool ParseWhole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

uint64_t TypeKey(uint16_t level, uint32_t type) { return uint64_t{level} << 32 | type; }

}  // namespace

template <typename AddLine>
void Dictionary::ReadLines(const std::vector<Slice>& slices, store::IssueLog& issues,
                           const AddLine& add) {
  for (const Slice& slice : slices) {
    Result<std::string> text = ReadFile(slice.path);
    if (!text.ok()) {
      issues.Add(store::IssueKind::kFileUnreadable, text.error().message);
      continue;
    }
    files_.push_back(std::move(*text));
    std::string_view rest = files_.back();
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || add(line)) continue;
      issues.Add(store::IssueKind::kRecordDamaged,
                 fmt::format("{}: a line is no entry of a dictionary", NameOf(slice.path)));
    }
  }
}

void Dictionary::Read(const Side& host, store::IssueLog& issues) {
  ReadLines(host.Find("additional.hash_dic"), issues,
            [&](std::string_view line) { return AddHashLine(line); });
  ReadLines(host.Find("additional.type_info_dic"), issues,
            [&](std::string_view line) { return AddTypeLine(line); });
}

bool Dictionary::AddHashLine(std::string_view line) {
  const size_t colon = line.find(':');
  uint64_t id = 0;
  if (colon == line.npos || !ParseWhole(line.substr(0, colon), id)) return false;
  hash_texts_[id] = line.substr(colon + 1);
  return true;
}

bool Dictionary::AddTypeLine(std::string_view line) {
  const size_t colon = line.find(':');
  const size_t mark = line.find('_');
  uint16_t level = 0;
  uint32_t type = 0;
  if (colon == line.npos || mark > colon || !ParseWhole(line.substr(0, mark), level) ||
      !ParseWhole(line.substr(mark + 1, colon - mark - 1), type)) {
    return false;
  }
  type_texts_[TypeKey(level, type)] = line.substr(colon + 1);
  return true;
}

StringId Dictionary::Hash(uint64_t id) {
  const auto [place, is_new] = hashes_.try_emplace(id, StringId::kEmpty);
  if (is_new) {
    const auto text = hash_texts_.find(id);
    place->second = text == hash_texts_.end() ? strings_.Intern(fmt::to_string(id))
                                              : strings_.Intern(text->second);
  }
  return place->second;
}

StringId Dictionary::Type(uint16_t level, uint32_t type) {
  const auto [place, is_new] = types_.try_emplace(TypeKey(level, type), StringId::kEmpty);
  if (is_new) {
    const auto text = type_texts_.find(TypeKey(level, type));
    place->second = text != type_texts_.end() ? strings_.Intern(text->second)
                    : type == kDynamicEnable  ? strings_.Intern("DYNAMIC_ENABLE")
                    : type == kDynamicDisable ? strings_.Intern("DYNAMIC_DISABLE")
                                              : strings_.Intern(fmt::to_string(type));
  }
  return place->second;
}

}  // namespace steplens::readers::prof
