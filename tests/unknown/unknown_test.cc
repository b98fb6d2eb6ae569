// What is not known is no number. Each column of each table loses values in turn, and no analysis,
// metric, recipe, check or export may then show a number that no capture can have: kNone is the
// smallest int64, and what is computed from it is out of all proportion.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <type_traits>

#include "asked.h"
#include "store/sound.h"

namespace steplens::unknown {
namespace {

using store::MaybeColumn;
using store::MaybeInt;
using store::TraceStore;

// What may be missing cannot be computed with before somebody has asked whether it is known: that
// does not compile.
template <typename A, typename B>
concept CanAdd = requires(A a, B b) { a + b; } || requires(A a, B b) { a += b; };
template <typename A, typename B>
concept CanSubtract = requires(A a, B b) { a - b; } || requires(A a, B b) { a -= b; };
template <typename A, typename B>
concept CanScale =
    requires(A a, B b) { a* b; } || requires(A a, B b) { a / b; } || requires(A a, B b) { a % b; };
template <typename A>
concept CanNegate = requires(A a) { -a; };
template <typename A, typename B>
concept CanSaturate =
    requires(A a, B b) { AddSaturating(a, b); } || requires(A a, B b) { SubtractSaturating(a, b); };
template <typename A, typename B>
constexpr bool kCanCompute =
    CanAdd<A&, B> || CanSubtract<A&, B> || CanScale<A, B> || CanSaturate<A, B>;
static_assert(kCanCompute<int64_t, int64_t>);
static_assert(!kCanCompute<MaybeInt, MaybeInt>);
static_assert(!kCanCompute<MaybeInt, int64_t> && !kCanCompute<int64_t, MaybeInt>);
static_assert(!kCanCompute<MaybeInt, int> && !kCanCompute<double, MaybeInt>);
static_assert(!CanNegate<MaybeInt> && CanNegate<int64_t>);
static_assert(!std::is_convertible_v<MaybeInt, double> && !std::is_convertible_v<MaybeInt, int>);
static_assert(!std::is_constructible_v<double, MaybeInt>);
static_assert(std::is_convertible_v<MaybeInt, int64_t>);  // to copy it

// Whether a row loses its value in a column; columns are counted over all tables.
using IsLost = std::function<bool(size_t column, size_t row, size_t rows)>;

// visit(number, table, name, column) of every column of numbers.
template <typename Visit>
void ForEachNumberColumn(TraceStore& rank, const Visit& visit) {
  size_t number = 0;
  rank.ForEachTable([&](auto& table) {
    table.ForEachColumn([&](std::string_view name, std::string_view, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::Value;
      if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
        visit(number++, table.kName, name, column);
    });
  });
}

void Lose(TraceStore& rank, const IsLost& is_lost) {
  ForEachNumberColumn(
      rank, [&](size_t number, std::string_view table, std::string_view name, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::Value;
        if (store::IsAlwaysKnown(table, name)) return;  // guarded, see below
        for (size_t row = 0; row < column.size(); ++row) {
          if (is_lost(number, row, column.size())) column.Set(row, store::NotKnown<T>());
        }
      });
}

class NotKnown : public testing::TestWithParam<const char*> {
 protected:
  static void ExpectNoAbsurdNumber(const IsLost& is_lost) {
    for (const std::string& absurd :
         AbsurdAfter(CapturePath(GetParam()), [&](TraceStore& rank) { Lose(rank, is_lost); }))
      ADD_FAILURE() << absurd;
  }
};
// The sample of the project, and captures of the shared data where they are.
INSTANTIATE_TEST_SUITE_P(Captures, NotKnown,
                         testing::Values("", "data/ascend_pt/db/level1/rank0_ascend_pt",
                                         "data/kineto/hta/nccl_parser_config",
                                         "data/mindinsight/profiler"));

TEST_P(NotKnown, OneValueOfEveryFifthRow) {
  ExpectNoAbsurdNumber([](size_t column, size_t row, size_t) {
    return row % 5 == 2 && (row / 5) % 7 == column % 7;
  });
}

TEST_P(NotKnown, TheFirstRowOfEveryTable) {
  ExpectNoAbsurdNumber([](size_t, size_t row, size_t) { return row == 0; });
}

TEST_P(NotKnown, TheLastRowOfEveryTable) {
  ExpectNoAbsurdNumber([](size_t, size_t row, size_t rows) { return row + 1 == rows; });
}

// Each column is lost as a whole in one of the rounds, while its neighbours are known, as in a
// capture of a format that does not have it.
TEST_P(NotKnown, WholeColumns) {
  constexpr size_t kRounds = 4;
  for (size_t round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    ExpectNoAbsurdNumber(
        [round](size_t column, size_t, size_t) { return column % kRounds == round; });
  }
}

// The columns that are not spoilt above are those that analyses may compute with unasked. They have
// a guard instead: whatever store lacks such a value is not sound, and neither a reader nor the
// cache hands it out.
TEST_P(NotKnown, WhatIsComputedWithUnaskedIsAlwaysKnown) {
  std::optional<store::Job> job = OpenSpoilt(CapturePath(GetParam()), [](TraceStore&) {});
  if (!job) return;
  ThreadPool pool(1);
  for (TraceStore& rank : job->ranks) {
    EXPECT_EQ(store::FindUnsound(rank, pool), "");
    rank.ForEachTable([&](auto& table) {
      table.ForEachColumn([&](std::string_view name, std::string_view, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::Value;
        if constexpr (std::is_same_v<T, int64_t>) {
          if (!store::IsAlwaysKnown(table.kName, name) || column.size() == 0) return;
          const size_t row = column.size() / 2;
          const int64_t before = column[row];
          column.Set(row, store::kNone);
          EXPECT_NE(store::FindUnsound(rank, pool), "") << table.kName << "." << name;
          column.Set(row, before);
        }
      });
    });
  }
}

// Values that are reported as unusable: tables that repeat the files show them, the summary does
// not use them.
TEST_P(NotKnown, AbsurdValuesTakeNoPartInTheSummary) {
  const auto spoil = [](TraceStore& rank) {
    if (rank.step_traces.size() > 0) rank.step_traces.computing_us.Set(0, 9e17);
    for (size_t i = 0; i < rank.comm_times.size(); i += 3) rank.comm_times.start_us.Set(i, 1e300);
  };
  for (const std::string& absurd : AbsurdAfter(CapturePath(GetParam()), spoil)) {
    if (absurd.starts_with("summary")) ADD_FAILURE() << absurd;
  }
}

}  // namespace
}  // namespace steplens::unknown
