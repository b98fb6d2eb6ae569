#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/side.h"
#include "analysis/overlap/overlap.h"

namespace steplens::analysis::compare {

// The same place of both sides, where one of them lost or won most time in a row.
struct CloseUp {
  struct Slice {
    Interval time;  // in nanoseconds from the start of the window
    std::string name;
    bool is_alone = false;  // nothing of the other side stands for it
  };
  struct Lane {
    std::string name;  // a stream or group of the device; empty: the operators of the host
    std::vector<Slice> slices;
  };
  struct Half {
    int64_t step = store::kNone;  // none where the run marked no steps
    int64_t begin_ns = 0;         // of the window, since the epoch
    std::vector<Lane> lanes;      // the host first
  };
  int64_t length_ns = 0;  // of both windows
  int64_t change_ns = 0;  // what B takes longer there; below 0: what it saves
  std::string before;     // the last task before the difference
  std::string after;      // the first one behind it, which both have
  Half a;
  Half b;
};

// Compares the step of median length of each side: their device tasks are aligned by name, and the
// place is where the distance between two tasks that both have changed most. Nothing if a side has
// no tasks or no two of them meet.
std::optional<CloseUp> FindCloseUp(const Side& a, const Side& b);

}  // namespace steplens::analysis::compare
