#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "store/trace_store.h"

namespace steplens::server {

// Names of slices over all ranks of a data set: equal texts have one number whatever the rank.
// Numbers are given in order of first appearance and never change. Not thread safe while adding,
// except for late names.
class NamePool {
 public:
  uint32_t Intern(std::string_view text) { return static_cast<uint32_t>(pool_.Intern(text)); }
  // By StringId of the store: the number of every text that names a slice; 0 for other texts.
  std::vector<uint32_t> Add(const store::TraceStore& store);
  // The number of a name that no rank may have, once all ranks are read. For any number of threads.
  uint32_t InternLate(std::string_view text) const;

  size_t size() const;
  std::string_view Text(uint32_t id) const;

 private:
  StringPool pool_;
  mutable std::mutex late_mutex_;         // guards what follows, and looking texts up in the pool
  mutable std::deque<std::string> late_;  // numbered behind the pool; never moved
  mutable std::map<std::string_view, uint32_t> late_ids_;
};

}  // namespace steplens::server
