#include "cluster/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "cluster/summary_text.h"
#include "table/html/page.h"

namespace steplens::cluster {
namespace {

using analysis::cluster::ResultTable;
using table::CellType;
using table::Column;
using table::Table;
namespace html = table::html;

double Number(const Column& column, size_t row) {
  if (column.type == CellType::kDouble) return column.doubles[row];
  if (column.type == CellType::kText || column.ints[row] == table::kNull)
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(column.ints[row]);
}

// Mean of each rank's steps, in milliseconds.
html::Chart StepChart(const Table& steps) {
  struct Sums {
    double computing = 0;
    double not_overlapped = 0;
    double free = 0;
    double steps = 0;
  };
  std::map<int64_t, Sums> by_rank;
  const Column& type = *steps.Find("type");
  const Column& index = *steps.Find("index");
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (type.texts[row] != "rank") continue;
    Sums& sums = by_rank[std::stoll(index.texts[row])];
    sums.computing += Number(*steps.Find("computing"), row) / 1000;
    sums.not_overlapped += Number(*steps.Find("communication_not_overlapped"), row) / 1000;
    sums.free += Number(*steps.Find("free"), row) / 1000;
    ++sums.steps;
  }
  html::BarChart bars;
  bars.key_label = {"Rank", "卡"};
  bars.value_label = {"Time per step (ms)", "每步时间 (ms)"};
  bars.series = {{{"Computing", "计算"}, {}},
                 {{"Communication not overlapped", "未掩盖通信"}, {}},
                 {{"Free", "空闲"}, {}}};
  for (const auto& [rank, sums] : by_rank) {
    bars.keys.push_back(std::to_string(rank));
    bars.series[0].values.push_back(sums.computing / sums.steps);
    bars.series[1].values.push_back(sums.not_overlapped / sums.steps);
    bars.series[2].values.push_back(sums.free / sums.steps);
  }
  return {{"Step time by rank", "各卡单步时间"}, std::move(bars)};
}

std::vector<std::string> RanksOf(const Table& scores) {
  std::vector<std::string> keys;
  for (size_t row = 0; row < scores.rows(); ++row)
    keys.push_back(std::to_string(scores.Find("rank")->ints[row]));
  return keys;
}

html::Chart WaitChart(const Table& scores) {
  html::BarChart bars;
  bars.key_label = {"Rank", "卡"};
  bars.value_label = {"Time per step (ms)", "每步时间 (ms)"};
  bars.layout = html::BarLayout::kGrouped;
  bars.keys = RanksOf(scores);
  bars.series = {{{"Waiting for others", "等待其他卡"}, scores.Find("waitSuffered(ms)")->doubles},
                 {{"Transfer", "传输"}, scores.Find("transit(ms)")->doubles}};
  return {{"Wait versus transfer by rank", "各卡等待与传输"}, std::move(bars)};
}

// The ranks that late ranks, late groups and slow links are about.
std::set<int64_t> RanksNamed(std::span<const Export> exports) {
  std::set<int64_t> out;
  for (const Export& one : exports) {
    for (const analysis::Finding& finding : one.answer->findings) {
      const bool is_meant = finding.rule == analysis::RuleId::kLateRank ||
                            finding.rule == analysis::RuleId::kLateGroup ||
                            finding.rule == analysis::RuleId::kSlowLink;
      if (is_meant) out.insert(finding.ranks.begin(), finding.ranks.end());
    }
  }
  return out;
}

html::Chart LateChart(const Table& scores, std::span<const Export> exports) {
  const std::set<int64_t> named = RanksNamed(exports);
  html::BarChart bars;
  bars.key_label = {"Rank", "卡"};
  bars.value_label = {"Kept its peers waiting (ms per step)", "使同组卡等待 (ms/步)"};
  bars.keys = RanksOf(scores);
  bars.series = {{{"Late", "迟到"}, scores.Find("relativeScore(ms)")->doubles}};
  for (size_t i = 0; i < bars.keys.size(); ++i) {
    if (named.contains(scores.Find("rank")->ints[i])) bars.highlighted.push_back(i);
  }
  return {{"Slow ranks", "慢卡"}, std::move(bars)};
}

// Bandwidth between ranks; the slowest transport where there are several.
html::Chart MatrixChart(const Table& links) {
  std::map<std::pair<int64_t, int64_t>, double> cells;
  std::map<int64_t, size_t> places;
  for (size_t row = 0; row < links.rows(); ++row) {
    const int64_t src = links.Find("srcRank")->ints[row];
    const int64_t dst = links.Find("dstRank")->ints[row];
    const double gbps = links.Find("bandwidth(GB/s)")->doubles[row];
    const auto [place, is_new] = cells.try_emplace({src, dst}, gbps);
    if (!is_new) place->second = std::min(place->second, gbps);
    places.try_emplace(src);
    places.try_emplace(dst);
  }
  html::HeatMap map;
  map.row_label = {"Sending rank", "发送卡"};
  map.column_label = {"Receiving rank", "接收卡"};
  map.value_label = {"Bandwidth (GB/s)", "带宽 (GB/s)"};
  for (auto& [rank, place] : places) {
    place = map.rows.size();
    map.rows.push_back(std::to_string(rank));
  }
  map.columns = map.rows;
  for (const auto& [ends, gbps] : cells)
    map.cells.push_back({places.at(ends.first), places.at(ends.second), gbps});
  return {{"Bandwidth between ranks", "卡间带宽"}, std::move(map)};
}

constexpr double kNoticed = 0.02;  // share of a step below which nothing is named late

double MeanStepMs(const Table& steps) {
  double sum_ms = 0;
  for (const char* part : {"computing(ms)", "communicationNotOverlapped(ms)", "free(ms)"}) {
    for (size_t row = 0; row < steps.rows(); ++row) {
      const double ms = Number(*steps.Find(part), row);
      sum_ms += std::isnan(ms) ? 0 : ms;
    }
  }
  return steps.rows() > 0 ? sum_ms / static_cast<double>(steps.rows()) : 0;
}

// Who stands out among ranks that share a column: who does most, or waits least.
enum class Shown : uint8_t { kLongest, kShortest };

// Ranks and steps by what they spent on something; of many ranks neighbours are one column.
html::Chart StepMap(const Table& steps, const char* column, const html::Text& title, Shown shown) {
  const bool is_longest = shown == Shown::kLongest;
  constexpr size_t kColumns = 64;  // as many as are drawn
  std::map<int64_t, size_t> ranks;
  std::map<int64_t, size_t> numbers;
  for (size_t row = 0; row < steps.rows(); ++row) {
    ranks.try_emplace(steps.Find("rank")->ints[row]);
    numbers.try_emplace(steps.Find("step")->ints[row]);
  }
  const size_t together = (ranks.size() + kColumns - 1) / kColumns;
  html::HeatMap map;
  map.row_label = {"Step", "步"};
  map.column_label = {"Rank", "卡"};
  if (together > 1) {
    map.column_label = {
        fmt::format("Rank (the {} of up to {})", is_longest ? "longest" : "shortest", together),
        fmt::format("卡（最多 {} 张中的最{}者）", together, is_longest ? "长" : "短")};
  }
  map.value_label = title;
  map.least_span = kNoticed * MeanStepMs(steps);
  size_t place = 0;
  int64_t first = 0;
  for (auto& [rank, at] : ranks) {
    at = place / together;
    if (place++ % together == 0) {
      first = rank;
      map.columns.push_back(std::to_string(rank));
    } else {
      map.columns.back() = fmt::format("{}–{}", first, rank);
    }
  }
  place = 0;
  for (auto& [number, at] : numbers) {
    at = place++;
    map.rows.push_back(number == table::kNull ? "" : std::to_string(number));
  }
  map.values.assign(map.rows.size() * map.columns.size(), std::nan(""));
  const Column& values = *steps.Find(column);
  for (size_t row = 0; row < steps.rows(); ++row) {
    double& cell = map.values[numbers.at(steps.Find("step")->ints[row]) * map.columns.size() +
                              ranks.at(steps.Find("rank")->ints[row])];
    const double value = Number(values, row);
    cell = is_longest ? std::fmax(cell, value) : std::fmin(cell, value);
  }
  return {title, std::move(map)};
}

// Bandwidth between hosts; the slowest transport where there are several.
html::Chart HostChart(const Table& links) {
  std::map<std::string, size_t> places;
  for (const char* end : {"srcHost", "dstHost"}) {
    for (const std::string& host : links.Find(end)->texts) places.try_emplace(host);
  }
  html::HeatMap map;
  map.row_label = {"Sending host", "发送主机"};
  map.column_label = {"Receiving host", "接收主机"};
  map.value_label = {"Bandwidth (GB/s)", "带宽 (GB/s)"};
  for (auto& [host, place] : places) {
    place = map.rows.size();
    map.rows.push_back(host);
  }
  map.columns = map.rows;
  std::map<std::pair<size_t, size_t>, double> cells;
  for (size_t row = 0; row < links.rows(); ++row) {
    const double gbps = links.Find("bandwidth(GB/s)")->doubles[row];
    const auto [cell, is_new] = cells.try_emplace({places.at(links.Find("srcHost")->texts[row]),
                                                   places.at(links.Find("dstHost")->texts[row])},
                                                  gbps);
    if (!is_new) cell->second = std::min(cell->second, gbps);
  }
  for (const auto& [ends, gbps] : cells) map.cells.push_back({ends.first, ends.second, gbps});
  return {{"Bandwidth between hosts", "主机间带宽"}, std::move(map)};
}

const Column* FindAny(const Table& table, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Column* column = table.Find(name)) return column;
  }
  return nullptr;
}

// The columns that boxes are drawn from, under any name a recipe uses.
struct BoxColumns {
  explicit BoxColumns(const Table& table)
      : five{FindAny(table, {"MinNs", "minNs", "Min"}), FindAny(table, {"Q1Ns", "Q1"}),
             FindAny(table, {"MedianNs", "medNs", "Median"}), FindAny(table, {"Q3Ns", "Q3"}),
             FindAny(table, {"MaxNs", "maxNs", "Max"})},
        sum(FindAny(table, {"SumNs", "totalTimeNs"})),
        rank(FindAny(table, {"Rank", "rank"})),
        counter(table.Find("Counter")),
        name(FindAny(table, {"OpName"})) {
    for (const Column& column : table.columns()) {
      if (name == nullptr && column.type == CellType::kText) name = &column;
      if (column.type == CellType::kText && column.name != "SlowRank") texts.push_back(&column);
    }
  }
  bool has_all() const {
    return name != nullptr && std::none_of(std::begin(five), std::end(five),
                                           [](const Column* column) { return column == nullptr; });
  }
  html::Box BoxAt(size_t row) const {
    double values[5];
    for (size_t i = 0; i < 5; ++i)
      values[i] = Number(*five[i], row) / (counter == nullptr ? 1000 : 1);
    return {values[0], values[1], values[2], values[3], values[4]};
  }
  // What the row is about, the rank aside.
  std::string KeyAt(size_t row) const {
    std::string key;
    for (const Column* column : texts) {
      const std::string& text = column->texts[row];
      if (!text.empty()) key += (key.empty() ? "" : " \u00b7 ") + text;
    }
    return key;
  }

  const Column* five[5];
  const Column* sum;
  const Column* rank;
  const Column* counter;
  const Column* name;
  std::vector<const Column*> texts;
};

// For tables with a row a rank: a plot for each of what comes first, or takes longest, with a box a
// rank.
std::vector<html::Chart> BoxesOfRanks(const Table& table, const BoxColumns& columns) {
  constexpr size_t kPlots = 8;
  struct Plot {
    html::BoxPlot drawing;
    double sum = 0;
    std::string key;
  };
  std::vector<Plot> plots;
  std::map<std::string, size_t> places;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto [place, is_new] = places.try_emplace(columns.KeyAt(row), plots.size());
    if (is_new) {
      plots.emplace_back().key = place->first;
      plots.back().drawing.key_label = {"Rank", "卡"};
      plots.back().drawing.value_label = {"Duration (us)", "时长 (us)"};
      if (columns.counter != nullptr)
        plots.back().drawing.value_label = {columns.counter->texts[row], ""};
    }
    Plot& plot = plots[place->second];
    plot.drawing.keys.push_back(table::CellText(*columns.rank, row));
    plot.drawing.boxes.push_back(columns.BoxAt(row));
    if (columns.sum != nullptr) plot.sum += Number(*columns.sum, row);
  }
  const bool is_in_order = table.name().ends_with("Top");  // by what the recipe is about
  if (!is_in_order) {
    std::stable_sort(plots.begin(), plots.end(),
                     [](const Plot& a, const Plot& b) { return a.sum > b.sum; });
  }
  std::vector<html::Chart> charts;
  for (size_t i = 0; i < std::min(plots.size(), kPlots); ++i)
    charts.push_back({{plots[i].key, ""}, std::move(plots[i].drawing)});
  return charts;
}

// Box plots of tables with quartiles.
std::vector<html::Chart> Boxes(const Table& table) {
  const BoxColumns columns(table);
  if (!columns.has_all() || table.rows() == 0) return {};
  if (columns.rank != nullptr) return BoxesOfRanks(table, columns);
  constexpr size_t kShown = 30;
  html::BoxPlot plot;
  plot.key_label = {columns.name->name, ""};
  plot.value_label = {"Duration (us)", "时长 (us)"};
  for (size_t row = 0; row < std::min(table.rows(), kShown); ++row) {
    plot.keys.push_back(columns.name->texts[row]);
    plot.boxes.push_back(columns.BoxAt(row));
  }
  return {{{table.name(), ""}, std::move(plot)}};
}

// How often the others waited for a rank, the most in red.
html::Chart VoteChart(const Table& votes) {
  html::BarChart bars;
  bars.key_label = {"Rank", "卡"};
  bars.value_label = {"Calls it was late for", "迟到的通信次数"};
  bars.series = {{{"Late", "迟到"}, {}}};
  std::vector<double>& counts = bars.series[0].values;
  for (size_t row = 0; row < votes.rows(); ++row) {
    bars.keys.push_back(table::CellText(*votes.Find("rankId"), row));
    counts.push_back(Number(*votes.Find("slowAffectCount"), row));
  }
  const double most = *std::max_element(counts.begin(), counts.end());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == most) bars.highlighted.push_back(i);
  }
  return {{"Ranks the others waited for", "被其他卡等待的卡"}, std::move(bars)};
}

std::vector<html::Chart> ChartsOf(const Table& table) {
  if (table.name() == "SlowRank") return {VoteChart(table)};
  return Boxes(table);
}

// The findings without the sentences, which the page has above, in both languages.
Table WithoutSentences(const Table& findings) {
  Table out(findings.name());
  for (const Column& column : findings.columns()) {
    const bool is_sentence = column.name.starts_with("reason") ||
                             column.name.starts_with("advice") || column.name.ends_with("Zh");
    if (!is_sentence) out.AddColumn(column);
  }
  return out;
}

}  // namespace

std::string MakeReport(std::span<const Export> exports, const std::string& input,
                       ReportLanguage language) {
  html::Page page;
  page.title = {"Cluster analysis", "集群分析"};
  page.subtitle = {input, ""};
  const Table* findings = FindTable(exports, "ClusterFindings");
  const Table* scores = FindTable(exports, "ClusterRankScore");
  const Table* steps = FindTable(exports, "ClusterStepTraceTime");
  const Table* links = FindTable(exports, "ClusterLinkBandwidth");
  const Table* rank_steps = FindTable(exports, "ClusterRankStep");
  const Table* hosts = FindTable(exports, "ClusterHostLinks");
  Table short_findings("ClusterFindings");
  std::set<const Table*> shown;
  if (findings != nullptr && scores != nullptr) {
    html::Section section;
    section.title = {"Summary", "概要"};
    section.text = {SummaryText(exports, analysis::Language::kEnglish),
                    SummaryText(exports, analysis::Language::kChinese)};
    if (steps != nullptr && steps->rows() > 0) section.charts.push_back(StepChart(*steps));
    if (scores->rows() > 0) {
      section.charts.push_back(LateChart(*scores, exports));
      section.charts.push_back(WaitChart(*scores));
    }
    if (rank_steps != nullptr && rank_steps->rows() > 0) {
      section.charts.push_back(
          StepMap(*rank_steps, "computing(ms)", {"Computing (ms)", "计算 (ms)"}, Shown::kLongest));
      section.charts.push_back(StepMap(*rank_steps, "waitSuffered(ms)",
                                       {"Waiting for others (ms)", "等待其他卡 (ms)"},
                                       Shown::kShortest));
      section.charts.push_back(
          StepMap(*rank_steps, "free(ms)", {"Free (ms)", "空闲 (ms)"}, Shown::kLongest));
    }
    if (links != nullptr && links->rows() > 0) section.charts.push_back(MatrixChart(*links));
    if (hosts != nullptr && hosts->rows() > 1) section.charts.push_back(HostChart(*hosts));
    short_findings = WithoutSentences(*findings);
    section.tables = {&short_findings, scores};
    shown.insert({findings, scores});
    page.sections.push_back(std::move(section));
  }
  for (const Export& one : exports) {
    html::Section section;
    section.title = {one.recipe, ""};
    if (one.recipe == "summary") section.title = {"Tables of the summary", "概要的数据表"};
    if (const analysis::Message& next = one.answer->suggestion; !next.empty())
      section.text = {English(next), Chinese(next)};
    for (const ResultTable& result : one.answer->tables) {
      if (result.table.rows() == 0 || shown.contains(&result.table)) continue;
      for (html::Chart& chart : ChartsOf(result.table)) section.charts.push_back(std::move(chart));
      section.tables.push_back(&result.table);
    }
    if (!section.tables.empty()) page.sections.push_back(std::move(section));
  }
  return html::ToHtml(page, language == ReportLanguage::kChinese ? html::Language::kChinese
                                                                 : html::Language::kEnglish);
}

}  // namespace steplens::cluster
