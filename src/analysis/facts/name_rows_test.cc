#include "analysis/facts/name_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NameRows, GivesTheRowsOfANameInOrder) {
  const std::vector<StringId> names = {StringId{2}, StringId{0}, StringId{2}, StringId{3}};
  const NameRows rows(names, 5);
  EXPECT_THAT(rows.Of(StringId{2}), ElementsAre(0, 2));
  EXPECT_THAT(rows.Of(StringId{0}), ElementsAre(1));
  EXPECT_THAT(rows.Of(StringId{3}), ElementsAre(3));
  EXPECT_THAT(rows.Of(StringId{1}), IsEmpty());
  EXPECT_THAT(rows.Of(StringId{9}), IsEmpty());
}

TEST(NameRows, AnEmptyTableHasNone) {
  const NameRows rows({}, 0);
  EXPECT_THAT(rows.Of(StringId{0}), IsEmpty());
}

}  // namespace
}  // namespace steplens::analysis
