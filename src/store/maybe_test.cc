#include "store/maybe.h"

#include <gtest/gtest.h>

#include "store/tables.h"

namespace steplens::store {
namespace {

TEST(MaybeInt, IsKnownUnlessItIsNone) {
  EXPECT_TRUE(MaybeInt(0).is_known());
  EXPECT_TRUE(MaybeInt(kNone + 1).is_known());
  EXPECT_FALSE(MaybeInt(kNone).is_known());
  EXPECT_EQ(MaybeInt(7).value(), 7);
  EXPECT_EQ(MaybeInt(7).value_or(3), 7);
  EXPECT_EQ(MaybeInt(kNone).value_or(3), 3);
}

TEST(MaybeInt, IsCopiedAsItIs) {
  const int64_t seven = MaybeInt(7);
  const int64_t none = MaybeInt(kNone);
  EXPECT_EQ(seven, 7);
  EXPECT_EQ(none, kNone);
}

TEST(MaybeInt, ComparesAsLessThanAnyNumberIfItIsNotKnown) {
  EXPECT_EQ(MaybeInt(7), 7);
  EXPECT_NE(MaybeInt(7), MaybeInt(kNone));
  EXPECT_EQ(MaybeInt(kNone), kNone);
  EXPECT_LT(MaybeInt(kNone), kNone + 1);
  EXPECT_LT(MaybeInt(kNone), MaybeInt(-5));
  EXPECT_GE(MaybeInt(7), 7u);
  EXPECT_LT(6, MaybeInt(7));
}

#ifndef NDEBUG
TEST(MaybeIntDeathTest, TheValueOfWhatIsNotKnownEndsBuildsWithAssertions) {
  EXPECT_DEATH(static_cast<void>(MaybeInt(kNone).value()), "is_known");
}
#endif

// Whole numbers are asked for, unless readers promise that they are there.
TEST(MaybeColumn, IsWhereAValueMayBeMissing) {
  static_assert(std::is_same_v<decltype(KernelTable().dur_ns), MaybeColumn>);
  static_assert(std::is_same_v<decltype(AllocationTable().size_bytes), MaybeColumn>);
  static_assert(std::is_same_v<decltype(SliceTable().dur_ns), Column<int64_t>>);
  static_assert(std::is_same_v<decltype(StepTable().begin_ns), Column<int64_t>>);
  static_assert(std::is_same_v<decltype(StepTraceTable().computing_us), Column<double>>);
  KernelTable kernels;
  kernels.Append({.begin_ns = 5});
  EXPECT_EQ(kernels.begin_ns[0].value(), 5);
  EXPECT_FALSE(kernels.dur_ns[0].is_known());
  EXPECT_EQ(kernels.dur_ns.span()[0], kNone);
}

}  // namespace
}  // namespace steplens::store
