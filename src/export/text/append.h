#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers as the reference tool writes them, appended to a text; digits.h says how they look.

namespace steplens::exporting {

void AppendInt(std::string& out, int64_t value);
void AppendUs(std::string& out, int64_t ns);
void AppendUsNumber(std::string& out, int64_t ns);
void AppendNumber(std::string& out, double value);
std::string NumberText(double value);

// As AppendNumber, without ".0" for whole numbers; null for NaN and infinities.
void AppendJsonNumber(std::string& out, double value);

// Text with a line break behind each ';', as shapes and stacks are shown.
std::string WithLineBreaks(std::string_view text);

}  // namespace steplens::exporting
