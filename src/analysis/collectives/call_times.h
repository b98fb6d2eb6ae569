#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/unknown.h"

namespace steplens::analysis {

// What the division of a communication call rests on, the best first.
enum class TimesSource : uint8_t {
  kResults,   // communication.json or CommAnalyzerTime
  kTasks,     // the tasks on its planes
  kArrivals,  // when its captured ranks arrived
  kUnknown,
};
// "results", "tasks", "arrivals", "unknown": cells of tables and keys of messages.
std::string_view SourceName(TimesSource source);

// Milliseconds of a result file; what is missing or absurd counts as 0.
int64_t NsOfResult(double ms);

// What a rank recorded of its own part in a call.
struct RecordedTimes {
  TimesSource source = TimesSource::kResults;  // or kTasks
  int64_t transit_ns = 0;
  int64_t wait_ns = 0;
  int64_t synchronization_ns = 0;  // the part of the wait before the first transfer
};

// Whether a record gives some of the call to something else than the transfer. A rank none of whose
// records does was written without a look at tasks: its records say nothing. Where one does, a
// record without a wait is true: the rank came last.
bool LeavesTime(const RecordedTimes& recorded, int64_t elapse_ns);

// Who took part in a call.
struct CallPeers {
  int64_t shortest_ns = store::kNone;  // the shortest part of the captured ranks
  int64_t captured = 1;                // ranks whose part was captured
  int64_t members = 0;                 // ranks of the group; 0 if nobody says
  // Ranks are missing: the one that came last may be among them, so nobody can be blamed.
  bool is_partial() const { return members > captured; }
};

// How a rank's part in a communication call divides:
//   transit + wait + idle == elapse, unless all three are not known (kNone).
// Idle is what was neither: the call was open, and nothing of it was recorded.
struct CallTimes {
  int64_t elapse_ns = 0;
  int64_t transit_ns = store::kNone;
  int64_t wait_ns = store::kNone;
  int64_t synchronization_ns = store::kNone;
  int64_t idle_ns = store::kNone;
  TimesSource source = TimesSource::kUnknown;
  // By arrivals of some of the ranks only: it waited at least that long.
  bool is_least_wait = false;
};

// The one model of waiting and transferring. What the rank recorded counts; without it, arrivals:
// all members leave a collective together, so the shortest part is the transfer, and what a part
// took longer it waited for the last rank. No clocks are compared. `recorded` is nothing where the
// rank's records say nothing (LeavesTime).
CallTimes DivideCall(int64_t elapse_ns, const std::optional<RecordedTimes>& recorded,
                     const CallPeers& peers);

}  // namespace steplens::analysis
