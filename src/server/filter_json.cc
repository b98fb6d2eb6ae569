#include "server/filter_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "server/bad_request.h"

namespace steplens::server {
namespace {

// As deep as the text may be nested.
constexpr int kMaxJsonDepth = 60;
constexpr std::string_view kJsonFields[] = {"name", "cat", "lane", "dur", "self", "rank", "step"};
constexpr std::string_view kJsonOps[] = {"~", "!~", "=~", "=", "!=", "<", "<=", ">", ">=", "in"};

template <size_t N>
bool IsOneOf(std::string_view text, const std::string_view (&all)[N]) {
  return std::find(std::begin(all), std::end(all), text) != std::end(all);
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

Result<std::string> ValueText(JsonValue value, bool is_duration) {
  if (value.IsString()) return Quoted(*value.AsString());
  if (const auto whole = value.AsInt()) return fmt::format("{}{}", *whole, is_duration ? "ns" : "");
  if (const auto number = value.AsDouble()) return fmt::format("{}", *number);
  return Bad(fmt::format("'filter': {} is neither a text nor a number", value.ToText()));
}

Result<std::string> ValuesText(JsonValue value, bool is_duration) {
  if (!value.IsArray()) return ValueText(value, is_duration);
  std::string out;
  Status status;
  value.ForEachElement([&](JsonValue one) {
    Result<std::string> text = ValueText(one, is_duration);
    if (!text.ok()) {
      status = text.error();
      return;
    }
    out += (out.empty() ? "" : ",") + *text;
  });
  SL_RETURN_IF_ERROR(status);
  if (out.empty()) return Bad("'filter': a list of values is empty");
  return out;
}

Result<std::string> TermText(JsonValue term) {
  const std::string_view op = term["op"].AsString().value_or("");
  if (!IsOneOf(op, kJsonOps))
    return Bad(
        fmt::format("'filter': 'op' of {} must be ~ !~ =~ = != < <= > >= or in", term.ToText()));
  if (!term["value"].exists())
    return Bad(fmt::format("'filter': {} has no 'value'", term.ToText()));
  std::string field;
  if (const auto arg = term["arg"].AsString()) {
    if (arg->empty() || arg->find('"') != std::string_view::npos)
      return Bad("'filter': the name of an argument must not be empty nor hold a quote");
    field = fmt::format("arg.\"{}\"", *arg);
  } else {
    field = term["field"].AsString().value_or("");
    if (!IsOneOf(field, kJsonFields))
      return Bad(
          fmt::format("'filter': {} must have 'and', 'or', 'not', 'arg', or a 'field' that "
                      "is name, cat, lane, dur, self, rank or step",
                      term.ToText()));
  }
  SL_ASSIGN_OR_RETURN(const std::string values,
                      ValuesText(term["value"], field == "dur" || field == "self"));
  return fmt::format("{} {} {}", field, op, values);
}

Result<std::string> NodeText(JsonValue node, int depth);

Result<std::string> JoinedText(JsonValue parts, std::string_view word, int depth) {
  if (!parts.IsArray()) return Bad(fmt::format("'filter': '{}' is not a list", word));
  std::string out;
  Status status;
  parts.ForEachElement([&](JsonValue part) {
    if (!status.ok()) return;
    Result<std::string> text = NodeText(part, depth + 1);
    if (!text.ok()) {
      status = text.error();
      return;
    }
    if (!out.empty()) out += fmt::format(" {} ", word);
    out += *text;
  });
  SL_RETURN_IF_ERROR(status);
  if (out.empty()) return Bad(fmt::format("'filter': '{}' is empty", word));
  return "(" + out + ")";
}

Result<std::string> NodeText(JsonValue node, int depth) {
  if (depth > kMaxJsonDepth) return Bad("'filter' is nested too deeply");
  if (!node.IsObject()) return Bad(fmt::format("'filter': {} is not an object", node.ToText()));
  if (node["and"].exists()) return JoinedText(node["and"], "and", depth);
  if (node["or"].exists()) return JoinedText(node["or"], "or", depth);
  if (!node["not"].exists()) return TermText(node);
  SL_ASSIGN_OR_RETURN(const std::string inner, NodeText(node["not"], depth + 1));
  return fmt::format("not ({})", inner);
}

}  // namespace

Result<std::string> FilterText(JsonValue filter) { return NodeText(filter, 0); }

}  // namespace steplens::server
