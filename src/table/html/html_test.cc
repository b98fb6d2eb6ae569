#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/file.h"
#include "table/html/assets.h"
#include "table/html/condense.h"
#include "table/html/data_table.h"
#include "table/html/page.h"
#include "table/html/svg.h"

namespace steplens::table::html {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::vector<std::string> Keys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(std::to_string(i));
  return keys;
}

BarChart OneSeries(std::vector<double> values) {
  BarChart chart;
  chart.key_label = {"Rank", ""};
  chart.value_label = {"Time (ms)", "时间 (ms)"};
  chart.keys = Keys(values.size());
  chart.series = {{{"Computing", "计算"}, std::move(values)}};
  return chart;
}

std::vector<std::string> Labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

TEST(Escape, LeavesNoMarkup) {
  EXPECT_EQ(Escape(R"(<script a="b">'&'</script>)"),
            "&lt;script a=&quot;b&quot;&gt;&#39;&amp;&#39;&lt;/script&gt;");
  EXPECT_EQ(Escape("两\n行\x01\xff"), "两\n行\uFFFD\uFFFD");
}

TEST(Bilingual, HoldsBothLanguagesOnlyWhereTheyDiffer) {
  EXPECT_EQ(Bilingual({"Rank", ""}), "Rank");
  EXPECT_EQ(Bilingual({"<Free", "空闲"}),
            R"(<span class="en" lang="en">&lt;Free</span><span class="zh" lang="zh">空闲</span>)");
}

TEST(GroupDigits, SeparatesThousandsOfTheWholePartOnly) {
  EXPECT_EQ(GroupDigits("123"), "123");
  EXPECT_EQ(GroupDigits("-1234567.89012"), "-1,234,567.89012");
  EXPECT_EQ(GroupDigits("9223372036854775807"), "9,223,372,036,854,775,807");
  EXPECT_EQ(GroupDigits(""), "");
  EXPECT_EQ(GroupDigits("inf"), "inf");
}

TEST(FormatValue, IsShort) {
  EXPECT_EQ(FormatValue(0), "0");
  EXPECT_EQ(FormatValue(1234567.89), "1,234,567.9");
  EXPECT_EQ(FormatValue(0.12345), "0.1235");
  EXPECT_EQ(FormatValue(-1e300), "-1e+300");
  EXPECT_EQ(FormatValue(kNan), "–");
}

TEST(RoundTicks, CoverTheRangeInRoundSteps) {
  EXPECT_THAT(Labels(RoundTicks(0, 1087, 6, 0)),
              ElementsAre("0", "200", "400", "600", "800", "1,000", "1,200"));
  EXPECT_THAT(Labels(RoundTicks(-0.3, 0.25, 3, 0)), ElementsAre("-0.4", "-0.2", "0", "0.2", "0.4"));
  EXPECT_THAT(Labels(RoundTicks(0, 2, 6, 1)), ElementsAre("0", "1", "2"));
}

TEST(RoundTicks, SurvivesRangesWithoutExtentOrOfAnySize) {
  for (const double value : {0.0, 5.0, -5.0, 1e300, -1e300, 5e-324, 1e18}) {
    for (const auto& [low, high] : {std::pair(value, value), std::pair(0.0, value)}) {
      const std::vector<Tick> ticks = RoundTicks(low, high, 6, 0);
      ASSERT_GE(ticks.size(), 2u) << value;
      EXPECT_LE(ticks.size(), 12u) << value;
      EXPECT_LT(ticks.front().value, ticks.back().value) << value;
    }
  }
}

TEST(LabelStep, GrowsInRoundNumbers) {
  EXPECT_EQ(LabelStep(8, 30, 900), 1u);
  EXPECT_EQ(LabelStep(64, 30, 900), 5u);
  EXPECT_EQ(LabelStep(1000, 30, 900), 50u);
}

TEST(Condense, TakesMeansOfNeighboursWithoutGaps) {
  EXPECT_EQ(GroupSize(1000, 2000), 1u);
  EXPECT_EQ(GroupSize(5, 2), 3u);
  EXPECT_THAT(CondenseKeys(Keys(5), 2), ElementsAre("0–1", "2–3", "4"));
  const std::vector<double> means = CondenseValues({1, 3, kNan, 7, kNan}, 2);
  EXPECT_EQ(means[0], 2);
  EXPECT_EQ(means[1], 7);
  EXPECT_TRUE(std::isnan(means[2]));
}

TEST(DrawChart, EscapesNamesFromData) {
  BarChart chart = OneSeries({1, 2});
  chart.keys[0] = "<script>alert(1)</script>";
  chart.series[0].name = {"<b>", ""};
  for (const Direction direction : {Direction::kVertical, Direction::kHorizontal}) {
    chart.direction = direction;
    const std::string svg = DrawChart({{"<title>", ""}, chart});
    EXPECT_THAT(svg, Not(HasSubstr("<script>")));
    EXPECT_THAT(svg, Not(HasSubstr("<b>")));
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  }
}

TEST(DrawChart, SaysThatThereIsNothingToDraw) {
  for (const Chart& chart : {Chart{{}, BarChart{}}, Chart{{}, BoxPlot{}}, Chart{{}, LineChart{}},
                             Chart{{}, HeatMap{}}}) {
    EXPECT_THAT(DrawChart(chart), HasSubstr("Nothing to draw."));
  }
}

// The plot of a stacked chart goes from y = 278 (zero) up to y = 28.
TEST(DrawChart, StacksTheSeriesOfAKey) {
  BarChart chart = OneSeries({60});
  chart.series.push_back({{"Free", ""}, {40}});
  const std::string svg = DrawChart({{}, chart});
  EXPECT_THAT(svg, HasSubstr(R"(y="128" width="72" height="150" class="s0")"));
  EXPECT_THAT(svg, HasSubstr(R"(y="28" width="72" height="100" class="s1")"));
}

TEST(DrawChart, PutsGroupedBarsSideBySide) {
  BarChart chart = OneSeries({100});
  chart.layout = BarLayout::kGrouped;
  chart.series.push_back({{"Free", ""}, {50}});
  const std::string svg = DrawChart({{}, chart});
  EXPECT_THAT(svg, HasSubstr(R"(y="28" width="36" height="250" class="s0")"));
  EXPECT_THAT(svg, HasSubstr(R"(y="153" width="36" height="125" class="s1")"));
}

TEST(DrawChart, LeavesGapsForWhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  BarChart chart = OneSeries({kNan, infinity, -infinity, 1e308, -1e308});
  chart.keys.push_back("without a value");
  const std::string svg = DrawChart({{}, chart});
  EXPECT_EQ(Count(svg, "<rect"), 2u);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(DrawChart, HighlightsKeys) {
  BarChart chart = OneSeries({1, 9, 2});
  chart.highlighted = {1};
  const std::string svg = DrawChart({{}, chart});
  EXPECT_EQ(Count(svg, R"(class="hot")"), 1u);
  EXPECT_EQ(Count(svg, R"(class="dim")"), 2u);
}

TEST(DrawChart, ThinsLabelsOfAThousandRanks) {
  const std::string svg = DrawChart({{}, OneSeries(std::vector<double>(1000, 5.0))});
  EXPECT_EQ(Count(svg, "<rect"), 1000u);
  EXPECT_LE(Count(svg, "<text"), 40u);
}

TEST(DrawChart, DrawsMeansWhereKeysOutnumberPixels) {
  const std::string svg = DrawChart({{}, OneSeries(std::vector<double>(10000, 5.0))});
  EXPECT_EQ(Count(svg, "<rect"), 2000u);
  EXPECT_THAT(svg, HasSubstr("mean of 5 neighbours"));
}

TEST(DrawChart, DrawsABoxForEachKeyThatHasOne) {
  BoxPlot chart;
  chart.keys = Keys(3);
  chart.boxes = {{1, 2, 3, 4, 5}, {1, 2, kNan, 4, 5}};
  const std::string svg = DrawChart({{}, chart});
  EXPECT_EQ(Count(svg, "<rect"), 1u);
  EXPECT_THAT(svg, HasSubstr("Q3: 4\n"));
}

TEST(DrawChart, BreaksLinesAtGaps) {
  LineChart chart;
  chart.x = {1, 2, 3, 4, 5};
  chart.series = {{{"a", ""}, {1, 2, kNan, 4, 5}}};
  const std::string svg = DrawChart({{}, chart});
  EXPECT_EQ(Count(svg, "<polyline"), 2u);
  EXPECT_EQ(Count(svg, "<circle"), 4u);
}

TEST(DrawChart, DrawsALineOfOnePoint) {
  LineChart chart;
  chart.x = {7};
  chart.series = {{{"a", ""}, {3}}};
  EXPECT_EQ(Count(DrawChart({{}, chart}), "<circle"), 1u);
}

TEST(DrawChart, ColoursCellsFromLowToHigh) {
  HeatMap chart;
  chart.rows = Keys(2);
  chart.columns = Keys(2);
  chart.values = {kNan, 10, 20, kNan};
  const std::string svg = DrawChart({{}, chart});
  EXPECT_EQ(Count(svg, R"(class="absent")"), 2u);
  EXPECT_THAT(svg, HasSubstr(R"(color="#440154")"));
  EXPECT_THAT(svg, HasSubstr(R"(color="#fde725")"));
}

TEST(DrawChart, DrawsAHeatMapOfFewCellsAsOneThatIsFull) {
  HeatMap full;
  full.rows = full.columns = {"0", "1", "2"};
  full.values.assign(9, std::numeric_limits<double>::quiet_NaN());
  full.values[1] = 5;
  full.values[6] = 2;
  HeatMap sparse = full;
  sparse.values.clear();
  sparse.cells = {{0, 1, 5}, {2, 0, 2}, {7, 7, 1}};  // what lies outside is left out
  EXPECT_EQ(DrawChart({{}, sparse}), DrawChart({{}, full}));
}

TEST(DrawChart, MeansTheSquaresOfALargeHeatMap) {
  HeatMap chart;
  chart.rows = Keys(128);
  chart.columns = Keys(100);
  chart.values.assign(128 * 100, 1.0);
  chart.values[0] = 5;
  const std::string svg = DrawChart({{}, chart});
  EXPECT_THAT(svg, HasSubstr(" 0–1,  0–1: 2<"));
  EXPECT_THAT(svg, HasSubstr("up to 2 × 2 cells"));
}

TEST(DrawChart, KeepsTheFewRowsOfAWideHeatMap) {
  HeatMap chart;
  chart.rows = Keys(2);
  chart.columns = Keys(128);
  chart.values.assign(2 * 128, 1.0);
  chart.values[0] = 5;
  const std::string svg = DrawChart({{}, chart});
  EXPECT_THAT(svg, HasSubstr(" 0,  0–1: 3<"));
  EXPECT_THAT(svg, HasSubstr("up to 1 × 2 cells"));
}

TEST(DrawChart, ShowsWhatHardlyDiffersInOneColour) {
  HeatMap chart;
  chart.rows = Keys(1);
  chart.columns = Keys(2);
  chart.values = {10, 10.01};
  EXPECT_THAT(DrawChart({{}, chart}), HasSubstr(">10.01<"));
  chart.least_span = 100;
  EXPECT_THAT(DrawChart({{}, chart}), HasSubstr(">110<"));
}

TEST(DrawTable, SaysHowManyRowsThereAre) {
  Table table("t");
  const size_t column = table.AddColumn("n", CellType::kInt);
  EXPECT_THAT(DrawTable(table, 200), HasSubstr("0 rows"));
  for (int64_t i = 0; i < 5312; ++i) table.AppendInt(column, i);
  const std::string html = DrawTable(table, 200);
  EXPECT_THAT(html, HasSubstr("first 200 of 5,312 rows"));
  EXPECT_THAT(html, HasSubstr("共 5,312 行，显示前 200 行"));
  EXPECT_EQ(Count(html, "<td"), 200u);
}

TEST(DrawTable, ShowsEveryTypeAndEscapes) {
  Table table("<t>");
  const size_t name = table.AddColumn("<n>", CellType::kText);
  const size_t dur = table.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t ratio = table.AddColumn("Ratio", CellType::kDouble, 1);
  table.AppendText(name, "<img src=x>");
  table.AppendInt(dur, 1736412474714493391);
  table.AppendDouble(ratio, 1234.56);
  table.AppendText(name, "");
  table.AppendInt(dur, kNull);
  table.AppendDouble(ratio, kNan);
  const std::string html = DrawTable(table, 10);
  EXPECT_THAT(html, HasSubstr(R"(<tr><td>&lt;img src=x&gt;</td>)"
                              R"(<td class="number">1,736,412,474,714,493.391</td>)"
                              R"(<td class="number">1,234.6</td></tr>)"));
  EXPECT_THAT(html,
              HasSubstr(R"(<tr><td></td><td class="number"></td><td class="number"></td></tr>)"));
  EXPECT_THAT(html, HasSubstr("<h3>&lt;t&gt;</h3>"));
  EXPECT_THAT(html, HasSubstr("&lt;n&gt;"));
}

TEST(DrawTable, KeepsEveryDigitOfLargeNumbers) {
  Table table("t");
  const size_t start = table.AddColumn("Start Timestamp(us)", CellType::kDouble, 1);
  for (const double value : {1736408883732241.5, 1e300, -2000000000000001.0})
    table.AppendDouble(start, value);
  const std::string html = DrawTable(table, 10);
  EXPECT_THAT(html, HasSubstr(">1,736,408,883,732,241.5<"));
  EXPECT_THAT(html, HasSubstr(">1e+300<"));
  EXPECT_THAT(html, HasSubstr(">-2,000,000,000,000,001<"));
}

TEST(ToHtml, OpensInTheLanguageAskedFor) {
  Page page;
  page.title = {"Report", "报告"};
  EXPECT_THAT(ToHtml(page, Language::kChinese), HasSubstr(R"(<html lang="zh" class="zh">)"));
  EXPECT_THAT(ToHtml(page, Language::kChinese), HasSubstr("<title>报告</title>"));
  EXPECT_THAT(ToHtml(page, Language::kEnglish), HasSubstr("<title>Report</title>"));
  EXPECT_THAT(ToHtml(page, Language::kBrowser), HasSubstr(R"(data-language="browser")"));
}

TEST(ToHtml, NeedsNothingFromOutside) {
  Page page;
  page.title = {"</title><script src=//evil>", ""};
  page.sections.resize(2);
  page.sections[0].text = {"<script>", ""};
  const std::string html = ToHtml(page, Language::kEnglish);
  EXPECT_EQ(Count(html, "<script"), 1u);
  EXPECT_EQ(Count(html, "<link"), 0u);
  EXPECT_EQ(Count(html, "://"), 0u);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = i; k < i + 3; ++k) {
      word = word << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
    }
    for (const unsigned shift : {18u, 12u, 6u, 0u}) out += kDigits[word >> shift & 63];
  }
  const size_t padding = (3 - bytes.size() % 3) % 3;
  return out.replace(out.size() - padding, padding, padding, '=');
}

TEST(Assets, ScriptHashIsThatOfTheScript) {
  const std::string path = ::testing::TempDir() + "steplens_script.js";
  Result<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok() && file->Write(kScript.data(), kScript.size()).ok() && file->Commit().ok());
  FILE* pipe = ::popen(("sha256sum " + path).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 65> hex{};
  const bool has_hash = std::fgets(hex.data(), hex.size(), pipe) != nullptr;
  ::pclose(pipe);
  ::remove(path.c_str());
  if (!has_hash) GTEST_SKIP() << "sha256sum is not installed";
  std::string bytes;
  for (size_t i = 0; i < 64; i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.data() + i, 2), nullptr, 16));
  }
  EXPECT_EQ(kScriptHash, Base64(bytes));
}

TEST(Waterfall, GoesFromOneTotalToTheOther) {
  Waterfall chart;
  chart.value_label = {"Step (ms)", ""};
  chart.first = {"Step of A", ""};
  chart.last = {"Step of B", ""};
  chart.first_value = 10;
  chart.last_value = 9.5;
  chart.changes = {{{"Computing", "计算"}, 2}, {{"<b>", ""}, -2.5}};
  const std::string figure = DrawChart({{"Where", ""}, chart});
  EXPECT_EQ(Count(figure, "<rect"), 4u);
  EXPECT_EQ(Count(figure, R"(class="more")"), 2u) << "the bar and the legend";
  EXPECT_THAT(figure, HasSubstr(">+2<"));
  EXPECT_THAT(figure, HasSubstr(">-2.5<"));
  EXPECT_THAT(figure, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(figure, Not(HasSubstr("<b>")));
  EXPECT_THAT(figure, Not(HasSubstr("does not begin at 0")));
}

TEST(Waterfall, SaysThatItsAxisDoesNotBeginAtZero) {
  Waterfall chart;
  chart.first_value = 1000;
  chart.last_value = 1001;
  chart.changes = {{{"Free", ""}, 1}};
  EXPECT_THAT(DrawChart({{"Where", ""}, chart}), HasSubstr("does not begin at 0"));
  chart.changes = {{{"Free", ""}, kNan}};
  EXPECT_THAT(DrawChart({{"Where", ""}, chart}), HasSubstr("Nothing to draw"));
}

TEST(TimelineChart, DrawsLanesOfSlices) {
  TimelineChart chart;
  chart.x_label = {"us", ""};
  chart.length = 100;
  chart.series = {{"A", ""}, {"B", ""}};
  chart.lanes = {{{"A stream 7", ""}, 0, {{0, 60, "MatMul", false}}},
                 {{"B stream 7", ""}, 1, {{10, 99, "<script>", true}, {99, 100, "Add", false}}}};
  const std::string figure = DrawChart({{"Close-up", ""}, chart});
  EXPECT_EQ(Count(figure, "<rect"), 3u);
  EXPECT_EQ(Count(figure, "s1 marked"), 1u);
  EXPECT_THAT(figure, Not(HasSubstr("<script>")));
  EXPECT_THAT(DrawChart({{"Close-up", ""}, TimelineChart{}}), HasSubstr("Nothing to draw"));
}

TEST(DrawTable, TranslatesItsWordsAndNoNames) {
  Table table("Kernels");
  table.AddColumn("Name", CellType::kText);
  table.AddColumn("Change", CellType::kText);
  table.AppendText(0, "new");
  table.AppendText(1, "new");
  const TableWords words{{{"Kernels", "核"}, {"Name", "名称"}, {"new", "新增"}}, {"Change"}};
  const std::string drawn = DrawTable(table, 10, words);
  EXPECT_EQ(Count(drawn, "新增"), 1u) << "the kernel that is called so keeps its name";
  EXPECT_EQ(Count(drawn, "名称"), 1u);
  EXPECT_EQ(Count(drawn, "核"), 1u);
}

}  // namespace
}  // namespace steplens::table::html
