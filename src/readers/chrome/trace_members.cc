#include "readers/chrome/trace_members.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/number.h"
#include "base/saturate.h"
#include "readers/chrome/event_splitter.h"

namespace steplens::readers {
namespace {

using store::IssueKind;

constexpr size_t kMaxQuoted = 60;

void CountTextBehind(std::string_view text, const std::string& name, store::TraceStore& out) {
  text = Trim(text);
  if (text.empty()) return;
  out.issues.Add(
      IssueKind::kTextBehindEnd,
      fmt::format("{}: text behind the end of the trace: '{}'", name, text.substr(0, kMaxQuoted)));
}

// The members of an object as meta rows; events are none of them. Returns baseTimeNanoseconds, or
// 0; nothing if the text is not an object.
std::optional<int64_t> ReadMembers(std::string_view object, const std::string& name,
                                   store::TraceStore& out) {
  const Result<JsonDocument> document = JsonDocument::Parse(object, "trace");
  if (!document.ok()) return std::nullopt;
  int64_t base_ns = 0;
  document->root().ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "traceEvents") {
      size_t events = 0;
      value.ForEachElement([&](JsonValue) { ++events; });
      out.issues.Add(
          IssueKind::kJsonKeyRepeated,
          fmt::format("{}: a second 'traceEvents' is not used; events in it: {}", name, events));
      return;
    }
    out.meta.Append({out.strings.Intern(key), out.strings.Intern(value.ToText())});
    if (key != "baseTimeNanoseconds") return;
    const auto base = value.AsInt();
    base_ns = base.value_or(0);
    if (base) return;
    out.issues.Add(IssueKind::kJsonFieldInvalid,
                   fmt::format("{}: baseTimeNanoseconds is not a whole number: '{}'", name,
                               value.ToText().substr(0, kMaxQuoted)));
  });
  return base_ns;
}

// The members of an object that is not closed or damaged: those that are whole, each read alone.
int64_t ReadWholeMembers(std::string_view object, const std::string& name, store::TraceStore& out) {
  constexpr int kMaxMembers = 1000;
  int64_t base_ns = 0;
  std::string_view rest = object.substr(1);
  for (int i = 0; i < kMaxMembers; ++i) {
    const auto end = FindMemberEnd(rest);
    if (!end) break;  // the last one, which is cut off
    const std::string member = fmt::format("{{{}}}", rest.substr(0, *end));
    base_ns = AddSaturating(base_ns, ReadMembers(member, name, out).value_or(0));
    rest.remove_prefix(*end + 1);
  }
  return base_ns;
}

// The rest of the object form: "}" or ", "a": 1 }".
int64_t ReadTail(std::string_view tail, const std::string& name, store::TraceStore& out) {
  tail = Trim(tail);
  if (tail.starts_with('}')) {
    CountTextBehind(tail.substr(1), name, out);
    return 0;
  }
  if (tail.starts_with(',')) {
    const std::string object = "{" + std::string(tail.substr(1));
    const size_t length = ValueLength(object).value_or(object.size());
    if (const auto base_ns = ReadMembers(std::string_view(object).substr(0, length), name, out)) {
      CountTextBehind(std::string_view(object).substr(length), name, out);
      return *base_ns;
    }
    out.issues.Add(IssueKind::kTraceTruncated,
                   fmt::format("{}: the text behind the events is cut off or damaged: '{}'", name,
                               tail.substr(0, kMaxQuoted)));
    return ReadWholeMembers(object, name, out);
  }
  out.issues.Add(IssueKind::kTraceTruncated,
                 fmt::format("{}: the object of the trace is not closed", name));
  CountTextBehind(tail, name, out);
  return 0;
}

}  // namespace

int64_t ReadTraceMembers(std::string_view head, std::optional<std::string_view> tail,
                         const std::string& name, store::TraceStore& out) {
  head = Trim(head);
  if (head.empty()) {
    CountTextBehind(tail.value_or(""), name, out);
    return 0;
  }
  if (head.ends_with(',')) head.remove_suffix(1);
  const int64_t base_ns = ReadMembers(std::string(head) + "}", name, out).value_or(0);
  return tail ? AddSaturating(base_ns, ReadTail(*tail, name, out)) : base_ns;
}

}  // namespace steplens::readers
