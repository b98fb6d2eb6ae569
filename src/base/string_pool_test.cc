#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace steplens {
namespace {

TEST(StringPool, GivesEqualTextsOneIdInOrderOfAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), StringId::kEmpty);
  const StringId a = pool.Intern("aten::add");
  const StringId b = pool.Intern("aten::mul");
  EXPECT_EQ(pool.Intern("aten::add"), a);
  EXPECT_EQ(static_cast<uint32_t>(a), 1u);
  EXPECT_EQ(static_cast<uint32_t>(b), 2u);
  EXPECT_EQ(pool.Get(b), "aten::mul");
  EXPECT_EQ(pool.Find("absent"), std::nullopt);
}

TEST(StringPool, GrowsPastManyTexts) {
  StringPool pool;
  for (int i = 0; i < 20000; ++i) pool.Intern("name" + std::to_string(i));
  for (int i = 0; i < 20000; ++i) {
    const std::string text = "name" + std::to_string(i);
    ASSERT_EQ(pool.Get(*pool.Find(text)), text);
  }
  EXPECT_EQ(pool.size(), 20001u);
}

TEST(StringPool, AttachedPoolReadsFindsAndGrows) {
  StringPool source;
  const StringId a = source.Intern("a");
  StringPool view;
  ASSERT_TRUE(view.Attach(source.offsets(), source.bytes()));
  EXPECT_EQ(view.Find("a"), a);
  const StringId b = view.Intern("b");
  EXPECT_EQ(view.Get(a), "a");
  EXPECT_EQ(view.Get(b), "b");
  EXPECT_EQ(source.size(), 2u);
}

TEST(StringPool, RefusesOffsetsThatDoNotFitTheBytes) {
  StringPool pool;
  const std::string bytes = "ab";
  EXPECT_FALSE(pool.Attach(std::vector<uint64_t>{0, 0, 3}, bytes));
  EXPECT_FALSE(pool.Attach(std::vector<uint64_t>{0, 0, 2, 1}, bytes));
  EXPECT_FALSE(pool.Attach(std::vector<uint64_t>{}, bytes));
}

}  // namespace
}  // namespace steplens
