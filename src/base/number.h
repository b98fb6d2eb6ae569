#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace steplens {

// "1736408883704643.212" (microseconds) -> 1736408883704643212 (nanoseconds), never through a
// double. The fourth and further decimals are rounded half up. Surrounding blanks and TABs are
// ignored; an exponent is accepted ("1.7e3"). Nothing for text that is not a finite number or
// overflows int64.
std::optional<int64_t> ParseUsToNs(std::string_view text);

// The same for a decimal number scaled by 10^digits: ParseScaled("1.5", 3) == 1500.
std::optional<int64_t> ParseScaled(std::string_view text, int digits);

// Whole text as a signed decimal integer; blanks and TABs around it are ignored.
std::optional<int64_t> ParseInt64(std::string_view text);

// Whole text as a finite double, correctly rounded; blanks and TABs around it are ignored.
std::optional<double> ParseDouble(std::string_view text);

// 1736408883704643212 -> "1736408883704643.212": microseconds with exactly three decimals.
std::string FormatNsAsUs(int64_t ns);

// The shortest decimal text that reads back as the same double ("0.1", "100", "1e+300").
std::string FormatDouble(double value);

// Text without the blanks, TABs, CRs and LFs around it.
std::string_view Trim(std::string_view text);

}  // namespace steplens
