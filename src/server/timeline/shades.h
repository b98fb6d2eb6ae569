#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::server {

// What slices can be coloured by, beside their kind of work and their name.
enum class ShadeBy : uint8_t { kNone, kPercentile, kModule, kRules };

// One byte a slice: 1 + round(254 p), where p is the share of the other slices of its name in the
// rank that are shorter; those as long count half. 0 if no other slice has its name.
std::vector<uint8_t> PercentileShades(const store::TraceStore& store);

// The shades of one rank, worked out when somebody first asks for them. For any number of threads.
class RankShades {
 public:
  // One byte a slice of the rank's store; nothing for kNone, and for rules, which are a request's.
  // By module: 1 + place in Modules(), 0 for slices outside of all.
  std::span<const uint8_t> By(ShadeBy by, const store::TraceStore& store) const;
  // Paths of modules, "Model/Layer_1/MLP", at most 255.
  const std::vector<std::string>& Modules(const store::TraceStore& store) const;

 private:
  void FindModules(const store::TraceStore& store) const;

  mutable std::once_flag percentiles_once_;
  mutable std::once_flag modules_once_;
  mutable std::vector<uint8_t> by_percentile_;
  mutable std::vector<uint8_t> by_module_;
  mutable std::vector<std::string> modules_;
};

}  // namespace steplens::server
