#include "table/notebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steplens::table {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ToNotebook, HasACellForEachFile) {
  const NotebookFile files[] = {{"steps.csv", "Step time by rank.", "Rank", {"Free", "Stage"}},
                                {"other.csv", "", "", {}}};
  const std::string json = ToNotebook("Cluster 报告", files);
  EXPECT_THAT(json, HasSubstr(R"("source": "# Cluster 报告")"));
  EXPECT_THAT(json, HasSubstr(R"("source": "## steps.csv\n\nStep time by rank.")"));
  EXPECT_THAT(json, HasSubstr(R"(show(\"steps.csv\", \"Rank\", [\"Free\", \"Stage\"]))"));
  EXPECT_THAT(json, HasSubstr(R"(show(\"other.csv\", \"\", []))"));
  EXPECT_THAT(json, HasSubstr(R"("nbformat": 4, "nbformat_minor": 5)"));
}

TEST(ToNotebook, QuotesNamesInCodeAndEscapesThemInText) {
  const NotebookFile file{"a\"); import os #<script>\n.csv", "*bold* <b>", "", {}};
  const std::string json = ToNotebook("<h1>", std::span(&file, 1));
  EXPECT_THAT(json, HasSubstr(R"py("show(\"a\\\"); import os #<script>\\n.csv\", \"\", [])")py"));
  EXPECT_THAT(json, HasSubstr(R"("# &lt;h1>")"));
  EXPECT_THAT(json, HasSubstr(R"(\\*bold\\* &lt;b>)"));
  EXPECT_THAT(json, Not(HasSubstr("## a\"); import os #<script>")));
}

TEST(ToNotebook, IsCompleteWithoutFiles) {
  EXPECT_THAT(ToNotebook("", {}), HasSubstr(R"("id": "cell-2")"));
}

}  // namespace
}  // namespace steplens::table
