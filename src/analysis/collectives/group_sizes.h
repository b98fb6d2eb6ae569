#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/trace_store.h"

namespace steplens::analysis {

// What one rank says of the sizes of its groups, by name as GroupNames (collective_book.h) has it:
// the metadata (parallel_group_info, Kineto's pg_config), the ranks that its links name, and for a
// group without a name the world size.
std::map<std::string, int64_t> GroupSizesOf(const store::TraceStore& rank);

// How many ranks the communication groups of a job have, captured or not, by what its ranks say.
class GroupSizes {
 public:
  GroupSizes() = default;
  explicit GroupSizes(const store::Job& job);
  void Add(const std::map<std::string, int64_t>& of_rank);  // of GroupSizesOf
  // `group` as GroupNames (collective_book.h) has it. 0 if nobody says.
  int64_t Of(const std::string& group) const;

 private:
  std::map<std::string, int64_t> sizes_;
};

}  // namespace steplens::analysis
