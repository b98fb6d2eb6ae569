#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "store/trace_store.h"

namespace steplens::server {

// Names of slices over all ranks of a data set: equal texts have one number whatever the rank.
// Numbers are given in order of first appearance and never change. Not thread safe while adding.
class NamePool {
 public:
  uint32_t Intern(std::string_view text) { return static_cast<uint32_t>(pool_.Intern(text)); }
  // By StringId of the store: the number of every text that names a slice; 0 for other texts.
  std::vector<uint32_t> Add(const store::TraceStore& store);

  size_t size() const { return pool_.size(); }
  std::string_view Text(uint32_t id) const { return pool_.Get(StringId{id}); }

 private:
  StringPool pool_;
};

}  // namespace steplens::server
