#include "readers/chrome/damaged_piece.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace steplens::readers {
namespace {

using store::IssueKind;

// The text with '?' for bytes that are not UTF-8, which keeps every position, and the parser's
// padding behind it.
std::string RepairUtf8(std::string_view text) {
  std::string out(text);
  for (std::string_view rest = text; !rest.empty();) {
    const size_t length = Utf8Length(rest);
    if (length == 0) out[text.size() - rest.size()] = '?';
    rest.remove_prefix(std::max<size_t>(1, length));
  }
  return out.append(kParserPadding, '\0');
}

}  // namespace

void PickEvents(std::string_view text, uint64_t offset, bool at_end, EventParser& parser,
                PickedEvents& out) {
  constexpr size_t kMaxQuoted = 60;
  store::IssueLog& issues = out.batch.issues;
  const auto damage = [&](size_t position) {
    if (!issues.IsFirst(IssueKind::kEventDamaged)) return issues.Add(IssueKind::kEventDamaged, {});
    const std::string_view what = text[position] == '{' ? "not valid JSON" : "not an event";
    issues.Add(IssueKind::kEventDamaged, fmt::format("byte {}: {}: '{}'", offset + position, what,
                                                     text.substr(position, kMaxQuoted)));
  };
  const auto take = [&](std::string_view event, size_t position) {
    if (parser.Add(event, offset + position)) return;
    if (IsValidUtf8(event)) return damage(position);
    out.repaired.push_back(RepairUtf8(event));
    issues.Add(IssueKind::kInvalidUtf8, fmt::format("byte {}", offset + position));
    const std::string_view repaired(out.repaired.back().data(), event.size());
    if (!parser.Add(repaired, offset + position)) damage(position);
  };
  out.repaired.clear();
  parser.Begin(out.batch);
  out.end = SplitEvents(text, at_end, {take, damage});
}

}  // namespace steplens::readers
