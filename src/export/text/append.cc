#include "export/text/append.h"

#include <cmath>

#include "export/text/digits.h"

namespace steplens::exporting {
namespace {

template <typename Put, typename Value>
void Append(std::string& out, Put put, Value value) {
  char text[kMaxNumberBytes];
  out.append(text, put(text, value));
}

}  // namespace

void AppendInt(std::string& out, int64_t value) { Append(out, PutInt, value); }
void AppendUs(std::string& out, int64_t ns) { Append(out, PutUs, ns); }
void AppendUsNumber(std::string& out, int64_t ns) { Append(out, PutUsNumber, ns); }
void AppendNumber(std::string& out, double value) { Append(out, PutNumber, value); }

std::string NumberText(double value) {
  std::string text;
  AppendNumber(text, value);
  return text;
}

void AppendJsonNumber(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  AppendNumber(out, value);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
}

std::string WithLineBreaks(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const size_t semicolon = text.find(';');
    out += text.substr(0, semicolon);
    if (semicolon == text.npos) break;
    out += ";\r\n";
    text.remove_prefix(semicolon + 1);
  }
  return out;
}

}  // namespace steplens::exporting
