#include "store/schema_doc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace steplens::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TableDoc Find(std::string_view name) {
  for (TableDoc& table : DescribeTables()) {
    if (table.name == name) return table;
  }
  return {};
}

std::vector<std::string> Names(const TableDoc& table) {
  std::vector<std::string> names;
  for (const ColumnDoc& column : table.columns) names.push_back(column.name);
  return names;
}

TEST(DescribeTables, EveryTableHasASentenceAndEveryColumnAMeaning) {
  for (const TableDoc& table : DescribeTables()) {
    EXPECT_NE(table.doc, "") << table.name;
    for (const ColumnDoc& column : table.columns) {
      EXPECT_NE(column.doc, "") << table.name << "." << column.name;
    }
  }
}

TEST(DescribeTables, ColumnNamesOfATableDiffer) {
  for (const TableDoc& table : DescribeTables()) {
    std::vector<std::string> names = Names(table);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << table.name;
  }
}

TEST(DescribeTables, DerivedColumnsStandAmongTheDeclaredOnes) {
  EXPECT_THAT(Names(Find("slices")),
              ElementsAre("id", "rank", "track_id", "begin_ns", "dur_ns", "name", "category",
                          "depth", "parent_id", "correlation", "args_offset", "args_size"));
  EXPECT_THAT(Names(Find("flows")),
              ElementsAre("id", "rank", "kind", "from_track_id", "from_ns", "to_track_id", "to_ns",
                          "from_slice_id", "to_slice_id"));
  EXPECT_THAT(Names(Find("kernels")), testing::Contains("slice_id"));
}

TEST(SchemaMarkdown, ListsColumnsWithTypeAndMeaning) {
  const std::string text = SchemaMarkdown();
  EXPECT_THAT(text, HasSubstr("\n## slices\n\nSpans of work"));
  EXPECT_THAT(text, HasSubstr("| `track_id` | INTEGER | where it ran |\n"));
  EXPECT_THAT(text, HasSubstr("| `value` | REAL | in the unit the series names |\n"));
  EXPECT_THAT(text, HasSubstr("(computed on demand) |\n"));
}

}  // namespace
}  // namespace steplens::store
