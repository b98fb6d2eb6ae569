#include "store/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
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

TEST(Column, GivesAllWhoAskTheSameArrayOfCountedAndStoredRows) {
  Column<int64_t> column;
  column.AppendUnknown(2000);
  column.Reserve(2001);
  column.Append(1);
  std::vector<const int64_t*> seen(8);
  std::vector<std::thread> threads;
  for (const int64_t*& place : seen) {
    threads.emplace_back([&column, &place] { place = column.span().data(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int64_t* place : seen) EXPECT_EQ(place, column.span().data());
  const Column<int64_t> moved = std::move(column);
  EXPECT_EQ(moved.span().data(), seen[0]);
  EXPECT_EQ(moved.span().back(), 1);
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

TEST(Column, RowsThatAreTheSameAreOnlyCounted) {
  Column<int64_t> column;
  for (int i = 0; i < 5000; ++i) column.Append(7);
  column.Append(std::vector<int64_t>(3000, 7));
  EXPECT_EQ(column.same_rows(), 8000u);
  EXPECT_TRUE(column.stored().empty());
  EXPECT_FALSE(column.is_unknown());
  EXPECT_EQ(column[7999], 7);
  EXPECT_EQ(Values(column), std::vector<int64_t>(8000, 7));
}

TEST(Column, CountsTheSameRowsOnIfTheyAreMostOfThoseAnnounced) {
  Column<int64_t> column;
  column.AppendUnknown(4000);
  column.Reserve(5000);
  std::vector<int64_t> expected(4000, kNone);
  for (int64_t i = 0; i < 1000; ++i) {
    column.Append(i);
    expected.push_back(i);
  }
  column.AppendUnknown(1);
  expected.push_back(kNone);
  EXPECT_EQ(column.same_rows(), 4000u);
  EXPECT_EQ(column.stored().size(), 1001u);
  EXPECT_FALSE(column.is_unknown());
  EXPECT_EQ(column[3999], kNone);
  EXPECT_EQ(column[4001], 1);
  EXPECT_EQ(column.last(3)[0], 998);
  EXPECT_EQ(column.last(3).data(), &column.stored().back() - 2);
  EXPECT_EQ(Values(column), expected);
  const Column<int64_t> copy = column;
  EXPECT_EQ(Values(copy), expected);
  EXPECT_EQ(column.last(4500).size(), 4500u);
  column.Append(std::vector<int64_t>{5, 6});  // after the array was asked for
  expected.insert(expected.end(), {5, 6});
  EXPECT_EQ(Values(column), expected);
}

TEST(Column, StoresTheSameRowsIfManyOthersFollow) {
  Column<int64_t> unannounced;
  Column<int64_t> few;
  few.Reserve(10'000);
  for (Column<int64_t>* column : {&unannounced, &few}) {
    for (int i = 0; i < 4000; ++i) column->Append(1);
    column->Append(2);
    EXPECT_EQ(column->same_rows(), 0u);
    EXPECT_EQ(column->size(), 4001u);
    EXPECT_EQ((*column)[3999], 1);
    EXPECT_EQ((*column)[4000], 2);
  }
  Column<int64_t> later;
  later.AppendUnknown(4000);
  later.Reserve(5000);
  later.Append(2);
  EXPECT_EQ(later.same_rows(), 4000u);
  later.Reserve(10'000);
  EXPECT_EQ(later.same_rows(), 0u);
  EXPECT_EQ(later.span().back(), 2);
  EXPECT_EQ(later.size(), 4001u);
}

TEST(Column, SetStoresRowsThatWereCounted) {
  Column<uint32_t> column;
  column.Append(std::vector<uint32_t>(4000, 3));
  EXPECT_EQ(column.span().front(), 3u);
  column.Set(5, 3);
  EXPECT_EQ(column.same_rows(), 4000u);
  column.Set(5, 4);
  EXPECT_EQ(column[4], 3u);
  EXPECT_EQ(column[5], 4u);
  EXPECT_EQ(column.span()[5], 4u);
  EXPECT_EQ(column.size(), 4000u);
}

TEST(Column, TellsZerosOfEitherSignApart) {
  Column<double> column;
  column.Append(0.0);
  column.Append(-0.0);
  EXPECT_FALSE(std::signbit(column[0]));
  EXPECT_TRUE(std::signbit(column[1]));
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

TEST(Column, GrowsAfterAnEmptyOneWasCopiedOverIt) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 10; ++i) column.Append(i);
  const Column<int64_t> empty;
  column = empty;
  column.Append(7);
  column.Append(8);
  EXPECT_EQ(std::vector<int64_t>(column.begin(), column.end()), (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(column[1], 8);
}

// One change of a column, and the same of a vector.
void ChangeBoth(std::mt19937& random, Column<int64_t>& column, std::vector<int64_t>& expected) {
  const auto pick = [&](size_t count) { return static_cast<size_t>(random()) % count; };
  const int64_t value = pick(3) == 0 ? kNone : static_cast<int64_t>(pick(2));
  const size_t rows = pick(8) == 0 ? 1500 : pick(4);
  const std::vector<int64_t> values(rows, value);
  switch (pick(8)) {
    case 0:
      column.Append(value);
      expected.push_back(value);
      break;
    case 1:
      column.Append(values);
      expected.insert(expected.end(), values.begin(), values.end());
      break;
    case 2:
      column.AppendUnknown(rows);
      expected.insert(expected.end(), rows, kNone);
      break;
    case 3:
      column.Reserve(expected.size() + rows);
      break;
    case 4:
      if (expected.empty()) break;
      column.Set(rows % expected.size(), value);
      expected[rows % expected.size()] = value;
      break;
    case 5:
      column = Column<int64_t>(column);
      break;
    case 6:
      column = Column<int64_t>(std::move(column));
      break;
    default:
      ASSERT_TRUE(std::equal(column.begin(), column.end(), expected.begin(), expected.end()));
  }
}

TEST(Column, IsAVectorWhateverIsDoneToIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Column<int64_t> column;
    std::vector<int64_t> expected;
    for (int change = 0; change < 20; ++change) {
      ChangeBoth(random, column, expected);
      ASSERT_EQ(column.size(), expected.size());
      for (size_t row = 0; row < expected.size(); row += 1 + expected.size() / 7)
        ASSERT_EQ(column[row], expected[row]);
    }
    ASSERT_TRUE(std::equal(column.begin(), column.end(), expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace steplens::store
