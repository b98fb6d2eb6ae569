#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Which parts of a step graph an edit is about: a kind of part, of those the ones whose name
// matches, on one rank or on all.
struct EditSelector {
  enum class Part : uint8_t {
    kKernel,  // what a kernel computes; by name or operator type
    kCopy,
    kComm,    // what a collective transfers; by name or kind
    kHost,    // what the host does inside operators of that name and everything below them
    kLaunch,  // launching calls, and what a launch takes to reach the device
    kSync,    // waits of the host for the device
    kWait,    // waits for other ranks
    kIdle,    // gaps that nothing recorded explains
  };
  Part part = Part::kKernel;
  std::string pattern = "*";  // '*' and '?' as in file names
  std::optional<int64_t> rank{};
  // Rules name what they found: of the parts only these slices (ascending), and on the host what
  // runs inside of them ...
  std::vector<store::SliceId> slices{};
  // ... or what the host does in these stretches of time (epoch ns, ascending, disjoint) ...
  std::vector<Interval> ranges{};

  // ... or these collectives: rows of comm_ops, ascending. All three need a rank.
  std::vector<uint32_t> comm_ops{};

  bool IsExact() const { return !slices.empty() || !ranges.empty() || !comm_ops.empty(); }
};

// A change to a step whose effect a replay shows.
struct Edit {
  enum class Action : uint8_t {
    kScale,    // takes `factor` times as long
    kRemove,   // takes no time, and nobody waits for it
    kOverlap,  // computing does not wait for it any more
    kBalance,  // every rank computes as long as the average rank
  };
  Action action = Action::kScale;
  EditSelector selector{};
  // kBalance: only these ranks, which then do each thing as long as the others usually do.
  std::vector<int64_t> ranks{};
  double factor = 1;
  std::string text{};  // as the user wrote it
};

// "kernel:MatMul*@3": the part, a pattern and a rank; the last two may be left out.
Result<EditSelector> ParseSelector(std::string_view text);
// "kernel:MatMul*=0.5".
Result<Edit> ParseScale(std::string_view text);
// "2x" or "2": so many times as fast.
Result<Edit> ParseFaster(std::string_view text, EditSelector::Part part, std::string_view option);
Result<Edit> ParseRemove(std::string_view text);
Result<Edit> ParseOverlap(std::string_view text);
Result<Edit> ParseBalance(std::string_view text);

}  // namespace steplens::analysis
