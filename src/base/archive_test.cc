#include "base/archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace steplens {
namespace {

enum class Kind : uint8_t { kFirst, kSecond };

struct Inner {
  int64_t number = 0;
  std::string text;
  bool operator==(const Inner&) const = default;
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(number, text);
  }
};

struct Outer {
  int64_t signed_number = 0;
  uint64_t large = 0;
  double real = 0;
  bool flag = false;
  Kind kind = Kind::kFirst;
  std::vector<Inner> items;
  std::map<std::pair<std::string, int64_t>, double> by_key;
  std::optional<std::string> maybe;
  bool operator==(const Outer&) const = default;
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(signed_number, large, real, flag, kind, items, by_key, maybe);
  }
};

Outer Example() {
  Outer value;
  value.signed_number = std::numeric_limits<int64_t>::min();
  value.large = std::numeric_limits<uint64_t>::max();
  value.real = -0.1;
  value.flag = true;
  value.kind = Kind::kSecond;
  value.items = {{-1, "a"}, {1LL << 40, std::string("\0b", 2)}, {}};
  value.by_key = {{{"x", -3}, 1.5}, {{"", 0}, 1e300}};
  value.maybe = "there";
  return value;
}

TEST(Archive, GivesBackWhatWasPutIn) {
  const Outer value = Example();
  const std::optional<Outer> again = FromBytes<Outer>(ToBytes(value));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, value);
}

TEST(Archive, NotANumberStaysOne) {
  const std::optional<double> again =
      FromBytes<double>(ToBytes(std::numeric_limits<double>::quiet_NaN()));
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::isnan(*again));
}

TEST(Archive, BytesThatAreCutOrTooManyGiveNothing) {
  const std::string bytes = ToBytes(Example());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(FromBytes<Outer>(bytes.substr(0, size))) << size;
  EXPECT_FALSE(FromBytes<Outer>(bytes + "x"));
}

TEST(Archive, DamagedBytesNeverAskForMoreMemoryThanTheyHave) {
  const std::string bytes = ToBytes(Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char damage : {'\xff', '\x7f', '\0'}) {
      std::string damaged = bytes;
      damaged[i] = damage;
      const std::optional<Outer> read = FromBytes<Outer>(damaged);  // must return
      if (read) {
        EXPECT_LE(read->items.size(), bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace steplens
