#include "store/empty_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace steplens::store {
namespace {

TEST(EmptyTexts, AreEmptyAndStayWhereTheyAre) {
  const std::span<const StringId> few = EmptyTexts(3);
  const std::span<const StringId> many = EmptyTexts(1'000'000);
  ASSERT_EQ(few.size(), 3u);
  ASSERT_EQ(many.size(), 1'000'000u);
  const auto is_empty = [](StringId text) { return text == StringId::kEmpty; };
  EXPECT_TRUE(std::all_of(few.begin(), few.end(), is_empty));
  EXPECT_TRUE(std::all_of(many.begin(), many.end(), is_empty));
  EXPECT_EQ(EmptyTexts(500).data(), many.data());
  EXPECT_TRUE(EmptyTexts(0).empty());
}

}  // namespace
}  // namespace steplens::store
