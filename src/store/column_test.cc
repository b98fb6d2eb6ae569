#include "store/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "store/tables.h"

namespace steplens::store {
namespace {

std::vector<int64_t> Values(const Column<int64_t>& column) {
  return {column.begin(), column.end()};
}

TEST(Column, KeepsWhatIsNotKnownBeforeAndAfterWhatIs) {
  Column<int64_t> column;
  column.Append(kNone);
  column.AppendUnknown(2);
  EXPECT_TRUE(column.is_unknown());
  EXPECT_EQ(Values(column), (std::vector<int64_t>{kNone, kNone, kNone}));
  column.Append(7);
  column.Append(kNone);
  column.AppendUnknown(1);
  EXPECT_FALSE(column.is_unknown());
  EXPECT_EQ(Values(column), (std::vector<int64_t>{kNone, kNone, kNone, 7, kNone, kNone}));
}

TEST(Column, SharesOneArrayAmongColumnsThatKnowNothing) {
  Column<int64_t> a;
  Column<int64_t> b;
  a.AppendUnknown(100'000);
  for (int i = 0; i < 50; ++i) b.Append(kNone);
  const int64_t* const of_a = a.span().data();  // the longer one first: it serves both
  EXPECT_EQ(b.span().data(), of_a);
  EXPECT_EQ(a.size(), 100'000u);
  EXPECT_EQ(b.size(), 50u);
}

TEST(Column, RowsThatAreNotKnownAreOnlyCounted) {
  Column<int64_t> column;
  column.AppendUnknown(size_t{1} << 50);  // no machine could hold them
  EXPECT_EQ(column.size(), size_t{1} << 50);
  EXPECT_EQ(column[12'345], kNone);
  const Column<int64_t> copy = column;
  EXPECT_EQ(copy.size(), size_t{1} << 50);
}

TEST(Column, GivesAllWhoAskTheSameArray) {
  Column<int64_t> column;
  column.AppendUnknown(1000);
  std::vector<const int64_t*> seen(8);
  std::vector<std::thread> threads;
  for (const int64_t*& place : seen) {
    threads.emplace_back([&column, &place] { place = column.span().data(); });
  }
  Column<int64_t> longer;
  longer.AppendUnknown(50'000);
  EXPECT_EQ(longer.span().back(), kNone);
  for (std::thread& thread : threads) thread.join();
  for (const int64_t* place : seen) EXPECT_EQ(place, column.span().data());
}

TEST(Column, ViewsOfShorterArraysStayWhenOneGrows) {
  Column<TrackId> few;
  few.Append(kNoTrack);
  const std::span<const TrackId> before = few.span();
  Column<TrackId> many;
  many.AppendUnknown(3'000'000);
  EXPECT_EQ(before[0], kNoTrack);
  EXPECT_TRUE(std::all_of(many.begin(), many.end(), [](TrackId id) { return id == kNoTrack; }));
}

TEST(Column, SetMakesValuesItsOwn) {
  Column<StringId> column;
  column.AppendUnknown(3);
  column.Set(1, StringId::kEmpty);
  EXPECT_TRUE(column.is_unknown());
  column.Set(1, StringId{5});
  EXPECT_EQ(column[0], StringId::kEmpty);
  EXPECT_EQ(column[1], StringId{5});
  EXPECT_EQ(column[2], StringId::kEmpty);
  Column<StringId> other;
  other.AppendUnknown(3);
  EXPECT_EQ(other[1], StringId::kEmpty);
}

TEST(Column, NotANumberIsNotKnown) {
  Column<double> column;
  column.Append(std::nan("1"));
  EXPECT_TRUE(column.is_unknown());
  column.Append(std::vector<double>{1.5, std::nan("")});
  EXPECT_TRUE(std::isnan(column[0]));
  EXPECT_EQ(column[1], 1.5);
  EXPECT_TRUE(std::isnan(column[2]));
}

TEST(Column, CopiesWhatItIsAttachedToBeforeItChanges) {
  const std::vector<uint32_t> mapped{1, 2, 3};
  Column<uint32_t> column;
  column.Attach(mapped);
  column.Set(0, 9);
  column.Append(0);
  EXPECT_EQ(std::vector<uint32_t>(column.begin(), column.end()),
            (std::vector<uint32_t>{9, 2, 3, 0}));
  EXPECT_EQ(mapped.front(), 1u);
}

TEST(Column, IsEmptyWhenItWasMovedAway) {
  Column<int64_t> column;
  column.AppendUnknown(3);
  Column<int64_t> other = std::move(column);
  EXPECT_EQ(other.size(), 3u);
  EXPECT_EQ(column.size(), 0u);  // NOLINT: that is what is tested
}

}  // namespace
}  // namespace steplens::store
