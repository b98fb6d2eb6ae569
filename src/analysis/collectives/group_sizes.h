#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/trace_store.h"

namespace steplens::analysis {

// How many ranks the communication groups of a job have, captured or not: by the metadata
// (parallel_group_info, Kineto's pg_config), by the ranks that links name, or, for a group without
// a name, by the world size.
class GroupSizes {
 public:
  explicit GroupSizes(const store::Job& job);
  // `group` as GroupNames (collective_book.h) has it. 0 if nobody says.
  int64_t Of(const std::string& group) const;

 private:
  void AddKineto(const store::TraceStore& rank);
  void Raise(const std::string& group, int64_t size);

  std::map<std::string, int64_t> sizes_;
};

}  // namespace steplens::analysis
