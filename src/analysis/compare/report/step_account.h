#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/side.h"
#include "store/trace_store.h"

namespace steplens::analysis::compare {

// What a device did with a moment of its time, in the order in which a report lists it.
enum class AccountKind : uint8_t {
  kComputing,      // by the kind of work; computing hides communication
  kTransfer,       // exposed communication by group, where it can be divided
  kWait,           // for the other ranks of the group
  kCommunication,  // exposed, by group, where nobody knows how it divides
  kCopy,           // copies that overlap neither
  kFree,           // nothing, by cause
};

// "computing", "transfer", ...: how the catalogue's keys below compare.account end.
std::string_view KindName(AccountKind kind);

struct AccountKey {
  AccountKind kind = AccountKind::kComputing;
  // A kind of work (ClassName), the name of a group, or a cause ("gap.host_bound").
  std::string name{};
  auto operator<=>(const AccountKey&) const = default;
};

// Where the time of a rank's steps went. Each moment is in one place: what began first counts where
// kernels or calls of several streams ran at once. So `total_ns` adds up to `all_ns` exactly.
struct StepAccount {
  int64_t steps = 0;  // periods from the first device work of a step to that of the next one
  int64_t all_ns = 0;
  std::map<AccountKey, int64_t> total_ns;
};

// One rank of a job as a side of a report. All must outlive what is made of it.
struct ReportSide {
  const store::Job& job;
  uint32_t rank_index = 0;
  const Side& side;
};

// The steps as step_times counts them: all periods, of a single step its work, without steps all
// that the device did. Empty for a rank without device work.
StepAccount AccountOfSteps(const ReportSide& of, const SheetOptions& options);

// The way from A's step to B's.
struct Waterfall {
  struct Bar {
    AccountKey key;
    int64_t a_ns = 0;  // per step
    int64_t b_ns = 0;
    int64_t change_ns() const { return b_ns - a_ns; }
  };
  int64_t a_ns = 0;  // the step
  int64_t b_ns = 0;
  std::vector<Bar> bars;  // by kind, of each kind the largest change first

  // A side without device work: there is nothing to compare.
  bool is_missing_a = false;
  bool is_missing_b = false;
};

// Bars are means per step in whole nanoseconds, rounded so that the bars of each side add up to its
// step, and their changes to the difference of the steps, to the last nanosecond.
Waterfall CompareAccounts(const StepAccount& a, const StepAccount& b);

}  // namespace steplens::analysis::compare
