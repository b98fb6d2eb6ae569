#include "mcp/answer.h"

#include <gtest/gtest.h>

namespace steplens::mcp {
namespace {

table::Table Numbers(int64_t rows) {
  table::Table out("numbers");
  const size_t id = out.AddColumn("id", table::CellType::kInt);
  const size_t empty = out.AddColumn("empty", table::CellType::kText);
  const size_t name = out.AddColumn("name", table::CellType::kText);
  for (int64_t i = 0; i < rows; ++i) {
    out.AppendInt(id, i);
    out.AppendText(empty, "");
    out.AppendText(name, "n\n" + std::to_string(i));
  }
  return out;
}

TEST(McpAnswer, LeavesOutEmptyColumnsAndLineBreaks) {
  Answer answer;
  answer.Table(Numbers(2), 10);
  EXPECT_EQ(answer.Take(), "id | name\n0 | n 0\n1 | n 1\n");
}

TEST(McpAnswer, CountsTheRowsThatAreMissing) {
  Answer answer;
  answer.Table(Numbers(5), 2, 1, "numbers");
  EXPECT_EQ(answer.Take(), "numbers:\nid | name\n1 | n 1\n2 | n 2\n(rows 2-3 of 5)\n");
  Answer behind;
  behind.Table(Numbers(5), 2, 5);
  EXPECT_EQ(behind.Take(), "id | name\n(offset 5 is behind the last of 5 rows)\n");
}

TEST(McpAnswer, NeverGrowsBeyondItsSize) {
  Answer answer;
  answer.Table(Numbers(100'000), 1000);
  for (int i = 0; i < 100; ++i) answer.Line(std::string(500, 'x'));
  const std::string text = answer.Take();
  EXPECT_LE(text.size(), Answer::kMaxChars + 200);
  EXPECT_NE(text.find(" of 100000)"), std::string::npos);
  EXPECT_NE(text.find("cut here"), std::string::npos);
}

TEST(McpAnswer, ShortensBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(Shortened("a\xe4\xb8\xad\xe4\xb8\xad", 6), "a...");
}

}  // namespace
}  // namespace steplens::mcp
