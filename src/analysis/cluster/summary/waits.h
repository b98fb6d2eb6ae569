#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace steplens::analysis::cluster {

// One rank's part in a communication call.
struct CallMember {
  int64_t rank = 0;
  int64_t dur_ns = 0;
  int64_t start_ns = 0;  // on the rank's clock
};

// Who waited and who was waited for, in nanoseconds over all calls.
struct WaitShare {
  double suffered_ns = 0;
  double caused_ns = 0;
};

// Divides the waiting of one call. All members leave a collective together, so the one that stayed
// longest came first: no clock is compared. Until the next member arrives, those who are there wait
// for those who are not, who share the blame equally. Over a call, caused and suffered are equal.
//
//   duration  10  7  3      arrival order a, b, c
//   a waits 3 for b and c, then a and b wait 4 for c:  a suffers 7, b 4; b causes 1.5, c 9.5
//
// Members in any order; ties share. Adds to `shares` by rank.
void AttributeWaits(std::span<const CallMember> members, std::map<int64_t, WaitShare>& shares);

}  // namespace steplens::analysis::cluster
