#include "analysis/text/message.h"

#include <algorithm>
#include <utility>

#include "analysis/text/catalogue.h"

// The templates are a small part of ICU's; ui/src/i18n/message.ts fills the same ones.

namespace steplens::analysis {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// The brace that closes the one at `open`; npos if there is none.
size_t ClosingBrace(std::string_view text, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at;
  }
  return text.npos;
}

// "one {# link} other {# links}": the branch for a number. Chinese has one form for all.
std::string_view ChooseBranch(std::string_view branches, std::string_view number,
                              Language language) {
  const std::string_view wanted = language == Language::kEnglish && number == "1" ? "one" : "other";
  std::string_view other;
  for (size_t at = 0; at < branches.size();) {
    const size_t open = branches.find('{', at);
    if (open == branches.npos) break;
    const size_t close = ClosingBrace(branches, open);
    if (close == branches.npos) break;
    const std::string_view name = Trimmed(branches.substr(at, open - at));
    const std::string_view branch = branches.substr(open + 1, close - open - 1);
    if (name == wanted) return branch;
    if (name == "other") other = branch;
    at = close + 1;
  }
  return other;
}

class Filler {
 public:
  Filler(const Message& message, Language language) : message_(message), language_(language) {}

  // `number` stands for "#"; empty outside of plural branches.
  std::string Fill(std::string_view pattern, std::string_view number) const {
    std::string out;
    for (size_t at = 0; at < pattern.size();) {
      const size_t next = pattern.find_first_of(number.empty() ? "{" : "{#", at);
      out += pattern.substr(at, next - at);
      if (next == pattern.npos) break;
      if (pattern[next] == '#') {
        out += number;
        at = next + 1;
        continue;
      }
      const size_t close = ClosingBrace(pattern, next);
      if (close == pattern.npos) return out.append(pattern.substr(next));
      out += Placeholder(pattern.substr(next, close - next + 1));
      at = close + 1;
    }
    return out;
  }

 private:
  std::string Placeholder(std::string_view braced) const {
    const std::string_view inner = braced.substr(1, braced.size() - 2);
    const size_t comma = inner.find(',');
    const std::string_view name = Trimmed(inner.substr(0, comma));
    const auto arg = std::find_if(message_.args.begin(), message_.args.end(),
                                  [&](const MessageArg& one) { return one.name == name; });
    if (arg == message_.args.end()) return std::string(braced);
    const std::string value =
        arg->message.empty() ? arg->text : Render(arg->message.front(), language_);
    if (comma == inner.npos) return value;
    const size_t branches = inner.find(',', comma + 1);
    if (branches == inner.npos) return std::string(braced);
    return Fill(ChooseBranch(inner.substr(branches + 1), value, language_), value);
  }

  const Message& message_;  // outlives this
  Language language_;
};

}  // namespace

MessageArg::MessageArg(std::string arg_name, std::string arg_text)
    : name(std::move(arg_name)), text(std::move(arg_text)) {}

MessageArg::MessageArg(std::string arg_name, Message arg_message) : name(std::move(arg_name)) {
  message.push_back(std::move(arg_message));
}

std::string Render(const Message& message, Language language) {
  const Catalogue& catalogue = CatalogueOf(language);
  const auto found = catalogue.find(message.key);
  if (found == catalogue.end()) return message.key;
  return Filler(message, language).Fill(found->second, {});
}

std::string English(const Message& message) { return Render(message, Language::kEnglish); }

std::string Chinese(const Message& message) { return Render(message, Language::kChinese); }

Message Note(std::string_view text) { return {"warning.note", {{"text", std::string(text)}}}; }

}  // namespace steplens::analysis
