#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/link_part.h"

namespace steplens::analysis::cluster {

// Who the ranks inside a group are, which is how links name their ends: as the metadata say, else
// by the links that ranks have with themselves. Where the ranks seen are as many as the links tell
// of, they are the members in their order. Else nobody says.
class LocalRanks {
 public:
  // What a rank's links tell, about all groups or one.
  void Add(int64_t rank, const LinkPart& part);
  void Add(int64_t rank, const std::string& group, const GroupSight& sight);

  // By rank inside the group; kNone where nobody says. Compat knows links with themselves only.
  std::vector<int64_t> Of(const std::string& group, const GroupBook& book, bool compat) const;

 private:
  struct Group {
    std::map<int64_t, int64_t> selves;  // rank inside the group -> rank; the first one counts
    std::set<int64_t> ranks;            // that have links in it
    int64_t largest = -1;               // inside the group
  };
  std::map<std::string, Group> groups_;
};

}  // namespace steplens::analysis::cluster
