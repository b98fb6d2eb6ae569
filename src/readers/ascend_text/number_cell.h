#pragma once

#include <cstdint>
#include <string_view>

#include "base/literal.h"

// The numbers of csv cells. Each gives the "not known" value of its type (NaN or kNone) for a cell
// that is not a number; blanks and TABs around a number are ignored.

namespace steplens::readers {

double ParseNonzeroCell(std::string_view cell);
inline double ParseNumberCell(std::string_view cell) {
  return EqualsLiteral(cell, "0.0") ? 0
                                    : ParseNonzeroCell(cell);  // as most metrics of a kernel are
}

// A whole number. Tools that pass a file through a data frame write it as '50.0'.
int64_t ParseWholeCell(std::string_view cell);

// Microseconds to nanoseconds. Not known beyond +-2^62 ns (the year 2116), so that a start plus a
// duration never overflows.
int64_t ParseUsCell(std::string_view cell);

// KB or MB to bytes, rounded to a whole one. Exact for a size that was written in full, as bytes
// divided by a power of two: the double holds it exactly.
int64_t ParseBytesCell(std::string_view cell, double bytes_per_unit);

}  // namespace steplens::readers
