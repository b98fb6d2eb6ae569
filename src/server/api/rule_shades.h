#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "server/api/context.h"
#include "server/slice_filter.h"

namespace steplens::server {

// Rules by which a user colours slices: filters, the first that holds counts. What they come to is
// worked out a rank at a time, when its tiles are first asked for. For any number of threads.
class RuleSet {
 public:
  static constexpr size_t kMaxRules = 32;

  explicit RuleSet(std::vector<SliceFilter> rules) : rules_(std::move(rules)) {}

  // One byte a slice of the rank's store: 1 + the place of the rule, 0 if none holds. An error if a
  // rule would have to read too many arguments.
  Result<std::span<const uint8_t>> ShadesOf(const Ask& ask, size_t slot) const;

 private:
  std::vector<SliceFilter> rules_;
  mutable std::mutex shades_mutex_;
  mutable std::map<size_t, std::vector<uint8_t>> shades_;  // by slot
};

// The rules of a request ("rules", a list of filters), kept for the next one. Null without rules.
Result<std::shared_ptr<const RuleSet>> RulesParam(const Ask& ask);

}  // namespace steplens::server
