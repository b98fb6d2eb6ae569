#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers as the reference tool writes them, appended to a text. No allocation beyond the text's.

namespace steplens::exporting {

void AppendInt(std::string& out, int64_t value);

// Nanoseconds as microseconds with exactly three decimals: "1736408883704643.212".
void AppendUs(std::string& out, int64_t ns);

// Nanoseconds as a number of microseconds without superfluous zeros: "145.57", "12.0", "0".
void AppendUsNumber(std::string& out, int64_t ns);

// The shortest text that reads back as the same double, laid out as Python does it: "0.0", "1.5",
// "4.1e-05". Not for NaN and infinities.
void AppendNumber(std::string& out, double value);

// The same without ".0" for whole numbers.
void AppendShortNumber(std::string& out, double value);

// A JSON number: as AppendShortNumber; null for NaN and infinities.
void AppendJsonNumber(std::string& out, double value);

// Text with a line break behind each ';', as shapes and stacks are shown.
std::string WithLineBreaks(std::string_view text);

}  // namespace steplens::exporting
