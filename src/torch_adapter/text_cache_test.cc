#include "torch_adapter/text_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

namespace {

// In place of the recorder's table; counts how often it is asked.
std::map<std::string, sl_string, std::less<>>& Ids() {
  static std::map<std::string, sl_string, std::less<>> ids;
  return ids;
}
int asked = 0;

}  // namespace

sl_string sl_intern(const char* text, size_t length) {
  ++asked;
  return Ids().try_emplace({text, length}, static_cast<sl_string>(Ids().size() + 1)).first->second;
}

namespace steplens::torch_adapter {

NameKind KindOf(std::string_view name) {
  return name.starts_with("c10d::") ? NameKind::kCall : NameKind::kPlain;
}

namespace {

TEST(NameCache, TextsThatLieElsewhereHaveOneId) {
  const auto cache = std::make_unique<NameCache>();
  const std::string first = "AddmmBackward0", again = first, other = "TBackward0";
  const KnownName known = cache->GetByText(first.c_str());
  asked = 0;
  EXPECT_EQ(cache->GetByText(again.c_str()).id, known.id);
  EXPECT_EQ(asked, 0);
  EXPECT_NE(cache->GetByText(other.c_str()).id, known.id);
  EXPECT_EQ(cache->GetByText("c10d::allreduce_").kind, NameKind::kCall);
}

TEST(NameCache, AnotherTextAtTheSamePlaceIsNoticedAfterForget) {
  const auto cache = std::make_unique<NameCache>();
  std::string name = "aten::add";
  const KnownName add = cache->GetByPlace(&name);
  EXPECT_EQ(cache->GetByPlace(&name).id, add.id);
  name = "aten::mul";
  cache->Forget();
  EXPECT_NE(cache->GetByPlace(&name).id, add.id);
}

TEST(NameCache, OnlyPlainNamesThatWereAskedForAreFoundByTheirPlace) {
  const auto cache = std::make_unique<NameCache>();
  const std::string name = "aten::sub", other = "aten::sub", call = "c10d::broadcast_";
  EXPECT_EQ(cache->FindPlain(&name), nullptr);
  const KnownName sub = cache->GetByPlace(&name);
  ASSERT_NE(cache->FindPlain(&name), nullptr);
  EXPECT_EQ(*cache->FindPlain(&name), sub.id);
  EXPECT_EQ(cache->FindPlain(&other), nullptr);
  EXPECT_EQ(cache->GetByPlace(&call).kind, NameKind::kCall);
  EXPECT_EQ(cache->FindPlain(&call), nullptr);
  EXPECT_EQ(cache->GetByPlace(&call).kind, NameKind::kCall);
  cache->Forget();
  EXPECT_EQ(cache->FindPlain(&name), nullptr);
}

TEST(NameCache, NamesOfAnyLengthAreToldApart) {
  const auto cache = std::make_unique<NameCache>();
  for (int round = 0; round < 2; ++round) {
    for (size_t length = 0; length < 300; ++length) {
      const std::string name(length, 'x');
      const sl_string id = cache->GetByText(name.c_str()).id;
      EXPECT_EQ(id, Ids()[name]) << length;
    }
  }
}

}  // namespace
}  // namespace steplens::torch_adapter
