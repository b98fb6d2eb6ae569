#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens::analysis::cluster {

// What the user asked of a cluster analysis beyond its name.
struct Options {
  bool compat = false;            // the reference's numbers, its errors included
  std::optional<int64_t> step{};  // --step_id; none: all steps
  // Options of single recipes by their name without dashes: {"top_num", "10"}.
  std::map<std::string, std::string> values{};

  std::string Value(std::string_view name, std::string_view otherwise = "") const;
  // A positive number; what is absent, no number or not positive is `otherwise`, as the reference
  // has it.
  int64_t PositiveOr(std::string_view name, int64_t otherwise) const;
};

}  // namespace steplens::analysis::cluster
