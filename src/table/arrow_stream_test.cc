#include "table/arrow_stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "table/flat_buffer.h"

namespace steplens::table {
namespace {

template <typename T>
T At(std::string_view bytes, size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

std::string Write(const Table& table) {
  std::string out;
  EXPECT_TRUE(WriteArrowStream(table, [&](std::string_view bytes) {
                out += bytes;
                return Status();
              }).ok());
  return out;
}

// Where the heads of the messages begin, and where each body ends.
struct Piece {
  size_t head;
  size_t body;
};
std::vector<Piece> PiecesOf(std::string_view stream) {
  std::vector<Piece> out;
  size_t place = 0;
  while (At<uint32_t>(stream, place) == 0xffffffff && At<uint32_t>(stream, place + 4) != 0) {
    const size_t head = place + 8;
    const size_t body = head + At<uint32_t>(stream, place + 4);
    EXPECT_EQ(body % 8, 0U);
    // The root, its table of fields, and field 3, the size of the body.
    const size_t root = head + At<uint32_t>(stream, head);
    const size_t fields = root - static_cast<size_t>(At<int32_t>(stream, root));
    out.push_back({root, body});
    place = body + At<uint64_t>(stream, root + At<uint16_t>(stream, fields + 4 + 2 * 3));
  }
  EXPECT_EQ(place + 8, stream.size());
  return out;
}

TEST(FlatBuffer, LaysATableOutAsTheFormatSays) {
  FlatBuffer buffer;
  const FlatBuffer::Place text = buffer.AddText("ab");
  const FlatBuffer::Place root = buffer.AddTable({{.id = 2, .bytes = 8, .value = -5},
                                                  {.id = 0, .value = text},
                                                  {.id = 1, .bytes = 2, .value = 7}});
  const std::string bytes = std::move(buffer).Finish(root);
  ASSERT_EQ(bytes.size() % 8, 0U);
  const size_t table = At<uint32_t>(bytes, 0);
  const size_t fields = table - static_cast<size_t>(At<int32_t>(bytes, table));
  EXPECT_EQ(At<uint16_t>(bytes, fields), 4 + 2 * 3);
  EXPECT_EQ((table + At<uint16_t>(bytes, fields + 8)) % 8, 0U);
  EXPECT_EQ(At<int64_t>(bytes, table + At<uint16_t>(bytes, fields + 8)), -5);
  EXPECT_EQ(At<int16_t>(bytes, table + At<uint16_t>(bytes, fields + 6)), 7);
  const size_t reference = table + At<uint16_t>(bytes, fields + 4);
  const size_t length = reference + At<uint32_t>(bytes, reference);
  EXPECT_EQ(At<uint32_t>(bytes, length), 2U);
  EXPECT_EQ(bytes.substr(length + 4, 3), std::string("ab\0", 3));
}

TEST(ArrowStream, IsASchemaItsBatchesAndTheEnd) {
  Table table("t");
  table.AddColumn("n", CellType::kInt);
  for (int64_t i = 0; i < 70'000; ++i) table.AppendInt(0, i);
  const std::string stream = Write(table);
  const std::vector<Piece> pieces = PiecesOf(stream);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(At<int64_t>(stream, pieces[1].body + 8 * 65'535), 65'535);
  EXPECT_EQ(At<int64_t>(stream, pieces[2].body), 65'536);
}

TEST(ArrowStream, EmptyCellsAreNullAndTextsAreNot) {
  Table table("t");
  table.AddColumn("n", CellType::kTimeUs);
  table.AddColumn("x", CellType::kDouble);
  table.AddColumn("s", CellType::kText);
  table.AppendInt(0, kNull);
  table.AppendInt(0, 1500);
  table.AppendDouble(1, 0.5);
  table.AppendDouble(1, std::numeric_limits<double>::quiet_NaN());
  table.AppendText(2, "");
  table.AppendText(2, "\xe5\x8d\xa1");
  const std::string stream = Write(table);
  const size_t body = PiecesOf(stream)[1].body;
  EXPECT_EQ(At<uint64_t>(stream, body), 2U);        // n: only the second row
  EXPECT_EQ(At<int64_t>(stream, body + 16), 1500);  // in nanoseconds
  EXPECT_EQ(At<uint64_t>(stream, body + 24), 1U);   // x: only the first row
  EXPECT_EQ(At<double>(stream, body + 32), 0.5);
  EXPECT_EQ(At<int64_t>(stream, body + 48), 0);  // s: no bits, then where each text begins
  EXPECT_EQ(At<int64_t>(stream, body + 56), 0);
  EXPECT_EQ(At<int64_t>(stream, body + 64), 3);
  EXPECT_EQ(stream.substr(body + 72, 3), "\xe5\x8d\xa1");
}

TEST(ArrowStream, ATableWithoutRowsOrColumnsIsASchema) {
  EXPECT_EQ(PiecesOf(Write(Table("t"))).size(), 1U);
}

TEST(ArrowStream, StopsWhenTheSinkSaysSo) {
  Table table("t");
  table.AddColumn("n", CellType::kInt);
  int calls = 0;
  const Status status = WriteArrowStream(table, [&](std::string_view) -> Status {
    ++calls;
    return Error{ErrorCode::kIo, "full"};
  });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace steplens::table
