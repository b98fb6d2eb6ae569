#include "base/kernel_label.h"

#include <cctype>
#include <vector>

namespace steplens {
namespace {

constexpr std::string_view kLambda = "{lambda}";

// A part of a qualified name between two scopes.
struct NamePiece {
  std::string name{};
  std::string_view arguments{};  // of the template, between < and >
};

bool ClosesAngle(std::string_view text, size_t at) {
  return text[at] == '>' && (at == 0 || text[at - 1] != '-');
}

// The position behind the bracket that closes the one at `at`; the end if none does.
size_t BehindBracket(std::string_view text, size_t at, char close) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == text[at]) {
      ++depth;
    } else if (text[i] == close && (close != '>' || ClosesAngle(text, i)) && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Arguments at the commas outside of brackets.
std::vector<std::string_view> SplitArguments(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}' || (c == '>' && ClosesAngle(text, i))) --depth;
    if (i < text.size() && (c != ',' || depth != 0)) continue;
    const std::string_view one = Trimmed(text.substr(begin, i - begin));
    if (!one.empty()) out.push_back(one);
    begin = i + 1;
  }
  return out;
}

// The pieces of a qualified name behind its return type; parameters are left out. `suffix` collects
// * and &.
std::vector<NamePiece> PiecesOf(std::string_view text, std::string& suffix) {
  std::vector<NamePiece> pieces;
  NamePiece now;
  bool is_closed = false;  // parameters were passed: nothing counts until the next scope
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (text.substr(i, 2) == "::") {
      if (!now.name.empty()) pieces.push_back(now);
      now = {};
      is_closed = false;
      i += 2;
    } else if (c == '(') {
      is_closed = !now.name.empty();
      i = BehindBracket(text, i, ')');
    } else if (c == '{') {
      now.name = kLambda;
      i = BehindBracket(text, i, '}');
    } else if (c == '<' && !now.name.empty() && !is_closed) {
      const size_t end = BehindBracket(text, i, '>');
      now.arguments = text.substr(i + 1, end > i + 1 ? end - i - 2 : 0);
      i = end;
    } else {
      if (!is_closed && c == ' ') {
        pieces.clear();
        now = {};
      } else if (!is_closed) {
        (c == '*' || c == '&' ? suffix : now.name) += c;
      }
      ++i;
    }
  }
  if (!now.name.empty()) pieces.push_back(now);
  return pieces;
}

std::string LabelOf(std::string_view text) {
  if (text.find_first_of("<({") == std::string_view::npos &&
      text.find("::") == std::string_view::npos)
    return std::string(text);
  std::string suffix;
  const std::vector<NamePiece> pieces = PiecesOf(text, suffix);
  if (pieces.empty()) return std::string(text);
  size_t at = pieces.size() - 1;
  // A lambda goes by the function that it is written in.
  while (at > 0 && (pieces[at].name == kLambda || pieces[at].name.starts_with("operator"))) --at;
  std::string out = pieces[at].name;
  char separator = '<';
  for (const std::string_view argument : SplitArguments(pieces[at].arguments)) {
    out += separator;
    out += LabelOf(argument);
    separator = ',';
  }
  if (separator == ',') out += '>';
  if (at + 1 < pieces.size()) out += "::lambda";
  return out + suffix;
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether a text is a C++ function with a return type, template arguments or parameters.
bool IsDemangled(std::string_view name) {
  if (name.starts_with("void ")) return true;
  const size_t bracket = name.find_first_of("(<");
  if (bracket == 0 || bracket == std::string_view::npos) return false;
  if (!IsWordChar(name.front()) || std::isdigit(static_cast<unsigned char>(name.front())) != 0)
    return false;
  if (name.find(".py(") != std::string_view::npos) return false;
  const std::string_view rest = name.substr(bracket);
  // "train(23)" is a line, not a parameter.
  if (rest.size() > 2 && rest.find_first_not_of("(0123456789)") == std::string_view::npos)
    return false;
  const bool is_name = IsWordChar(name[bracket - 1]) || rest.starts_with("(anonymous namespace)");
  return is_name && (name.ends_with(')') || name.ends_with('>'));
}

// Without the word "const" and the space beside it.
std::string WithoutConst(std::string_view name) {
  constexpr std::string_view kConst = "const";
  std::string out;
  for (size_t i = 0; i < name.size();) {
    const bool is_word = name.substr(i, kConst.size()) == kConst &&
                         (i == 0 || !IsWordChar(name[i - 1])) &&
                         (i + kConst.size() == name.size() || !IsWordChar(name[i + kConst.size()]));
    const size_t behind = i + kConst.size();
    if (is_word && out.ends_with(' ')) {
      out.pop_back();
      i = behind;
    } else if (is_word && behind < name.size() && name[behind] == ' ') {
      i = behind + 1;
    } else {
      out += name[i++];
    }
  }
  return out;
}

}  // namespace

std::string KernelLabel(std::string_view name) {
  std::string_view plain = name;
  if (const size_t clone = plain.rfind(" [clone ");
      clone != std::string_view::npos && plain.find(']', clone) == plain.size() - 1)
    plain = plain.substr(0, clone);
  return IsDemangled(plain) ? LabelOf(WithoutConst(plain)) : std::string(name);
}

}  // namespace steplens
