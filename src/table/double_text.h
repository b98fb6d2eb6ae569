#pragma once

#include <string>

namespace steplens::table {

// A cell for people: so many decimals, nothing for NaN. Beyond the digits a double has (times in us
// since the epoch, large sums, tiny shares) it is the shortest text that means the same value.
std::string DoubleText(double value, int decimals);

}  // namespace steplens::table
