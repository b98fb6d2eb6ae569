#include "readers/ascend_text/number_cell.h"

#include <cmath>

#include "base/number.h"
#include "store/tables.h"

namespace steplens::readers {
namespace {

constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
// Up to here a double holds every whole number.
constexpr int64_t kMaxExact = int64_t{1} << 53;
constexpr int64_t kMaxTimeNs = int64_t{1} << 62;

// "53.741" is 53741 with three decimals.
struct PlainDecimal {
  bool is_valid = false;
  int64_t digits = 0;
  size_t decimals = 0;
};

// The form of nearly all cells: digits, maybe with a point between them, at most 16 characters.
// Others are not valid here and go the general way, which has the same result for these.
inline PlainDecimal ParsePlainDecimal(std::string_view text) {
  constexpr size_t kMaxSize = 16;
  if (text.empty() || text.size() > kMaxSize) return {};
  int64_t digits = 0;
  size_t after_point = 0;  // where the decimals begin
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i] - '0');
    if (digit <= 9) {
      digits = digits * 10 + digit;
    } else if (text[i] == '.' && after_point == 0 && i > 0) {
      after_point = i + 1;
    } else {
      return {};
    }
  }
  if (after_point == text.size()) return {};
  return {true, digits, after_point > 0 ? text.size() - after_point : 0};
}

}  // namespace

double ParseNonzeroCell(std::string_view cell) {
  const PlainDecimal plain = ParsePlainDecimal(cell);
  if (!plain.is_valid || plain.digits > kMaxExact) {
    return ParseDouble(cell).value_or(store::NotKnown<double>());
  }
  // Both are exact, so the division rounds correctly.
  return static_cast<double>(plain.digits) / kPowersOfTen[plain.decimals];
}

int64_t ParseWholeCell(std::string_view cell) {
  const PlainDecimal plain = ParsePlainDecimal(cell);
  if (plain.is_valid && plain.decimals == 0) return plain.digits;
  if (cell.ends_with(".0")) cell.remove_suffix(2);
  return ParseInt64(cell).value_or(store::kNone);
}

int64_t ParseUsCell(std::string_view cell) {
  if (cell.ends_with('\t')) cell.remove_suffix(1);
  const auto ns = ParseUsToNs(cell);
  if (!ns || *ns > kMaxTimeNs || *ns < -kMaxTimeNs) return store::kNone;
  return *ns;
}

int64_t ParseBytesCell(std::string_view cell, double bytes_per_unit) {
  const double size_bytes = std::round(ParseNumberCell(cell) * bytes_per_unit);
  const bool is_exact = std::abs(size_bytes) <= static_cast<double>(kMaxExact);  // false for NaN
  return is_exact ? static_cast<int64_t>(size_bytes) : store::kNone;
}

}  // namespace steplens::readers
