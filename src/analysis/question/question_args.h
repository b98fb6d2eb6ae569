#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace steplens::analysis {

// What was asked of a question beyond its name. An argument that is absent has its default; one of
// the wrong type is an error (kInvalidArgument) that names it. Whole numbers given as doubles or
// texts are taken, as they come so from a browser.
struct QuestionArgs {
  using Value = std::variant<int64_t, double, std::string>;
  std::map<std::string, Value, std::less<>> values;

  bool Has(std::string_view name) const { return values.find(name) != values.end(); }
  Result<std::optional<int64_t>> Int(std::string_view name) const;
  Result<int64_t> IntOr(std::string_view name, int64_t otherwise) const;
  Result<double> DoubleOr(std::string_view name, double otherwise) const;
  Result<std::string> TextOr(std::string_view name, std::string_view otherwise) const;
  // Argument `step`: a number, or nothing for absent, empty and "all".
  Result<std::optional<int64_t>> Step() const;
  // "0,3-7" as numbers, ascending, each once; at most 65,536 of them. Empty if absent.
  Result<std::vector<int64_t>> IntList(std::string_view name) const;
};

}  // namespace steplens::analysis
