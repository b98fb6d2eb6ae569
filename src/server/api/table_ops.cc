#include "server/api/table_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "base/cancel.h"
#include "base/number.h"
#include "server/api/cells.h"
#include "server/bad_request.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

using table::CellType;

// The number a cell shows; NaN for texts and empty cells.
double Shown(const RowColumn& column, const CellValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value))
    return column.type == CellType::kTimeUs ? static_cast<double>(*whole) / 1000
                                            : static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::numeric_limits<double>::quiet_NaN();
}

struct OpName {
  std::string_view name;
  RowCondition::Op op;
  bool negated = false;
};
constexpr OpName kOpNames[] = {
    {"contains", RowCondition::Op::kMatch},  {"!contains", RowCondition::Op::kMatch, true},
    {"regex", RowCondition::Op::kMatch},     {"=", RowCondition::Op::kEqual},
    {"!=", RowCondition::Op::kEqual, true},  {"<", RowCondition::Op::kLess},
    {"<=", RowCondition::Op::kLessEqual},    {">", RowCondition::Op::kGreater},
    {">=", RowCondition::Op::kGreaterEqual}, {"in", RowCondition::Op::kIn},
};

Result<RowCondition> ParseCondition(JsonValue item, const RowSource& source) {
  const std::string_view op_name = item["op"].AsString().value_or("");
  const auto known = std::find_if(std::begin(kOpNames), std::end(kOpNames),
                                  [&](const OpName& op) { return op.name == op_name; });
  if (known == std::end(kOpNames)) return Bad(fmt::format("'filter': there is no '{}'", op_name));
  SL_ASSIGN_OR_RETURN(const SourceColumn column,
                      ParseColumn(item["col"].AsString().value_or(""), source));
  RowCondition out{.column = column, .op = known->op, .negated = known->negated};
  const JsonValue value = item["value"];
  if (value.IsArray()) {
    value.ForEachElement([&](JsonValue one) { out.texts.push_back(one.ToText()); });
  } else {
    out.texts.push_back(value.exists() ? value.ToText() : "");
  }
  if (out.texts.empty()) out.texts.emplace_back();
  if (out.op == RowCondition::Op::kMatch) {
    const MatchMode mode = op_name == "regex" ? MatchMode::kRegex : MatchMode::kContains;
    SL_ASSIGN_OR_RETURN(TextMatcher matcher, TextMatcher::Make(mode, out.texts.front()));
    out.matcher.push_back(std::move(matcher));
  }
  const auto number = ParseDouble(out.texts.front());
  out.is_number = number && column.info().type != CellType::kText;
  out.number = number.value_or(0);
  return out;
}

// Of two numbers or two texts.
template <typename T>
bool Compare(RowCondition::Op op, const T& a, const T& b) {
  switch (op) {
    case RowCondition::Op::kLess:
      return a < b;
    case RowCondition::Op::kLessEqual:
      return a <= b;
    case RowCondition::Op::kGreater:
      return a > b;
    case RowCondition::Op::kGreaterEqual:
      return a >= b;
    default:
      return a == b;
  }
}

bool Meets(const RowCondition& condition, size_t row) {
  const RowColumn& column = condition.column.info();
  const CellValue value = condition.column.At(row);
  const auto* text = std::get_if<std::string_view>(&value);
  bool holds = false;
  if (condition.op == RowCondition::Op::kMatch) {
    holds = text != nullptr ? condition.matcher.front()(*text)
                            : condition.matcher.front()(CellText(column, value));
  } else if (condition.op == RowCondition::Op::kIn) {
    const std::string shown = CellText(column, value);
    holds =
        std::find(condition.texts.begin(), condition.texts.end(), shown) != condition.texts.end();
  } else if (condition.is_number) {
    const double number = Shown(column, value);
    holds = !std::isnan(number) && Compare(condition.op, number, condition.number);
  } else if (text != nullptr) {
    holds = Compare(condition.op, *text, std::string_view(condition.texts.front()));
  } else {
    holds = Compare(condition.op, CellText(column, value), condition.texts.front());
  }
  return holds != condition.negated;
}

int CompareCells(const CellValue& a, const CellValue& b) {
  if (a.index() != b.index()) return a.index() < b.index() ? -1 : 1;
  if (a == b) return 0;
  return a < b ? -1 : 1;
}

// A number of equal order for numeric cells: sorting a million of them needs no look at the source.
int64_t OrderOf(const CellValue& value) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  if (const auto* number = std::get_if<double>(&value)) {
    int64_t bits;
    std::memcpy(&bits, number, sizeof(bits));
    return bits < 0 ? kLeast - bits : bits;
  }
  return kLeast;
}

// The measured values of one group.
struct Measured {
  int64_t count = 0;
  std::vector<double> sum;
  std::vector<double> least;
  std::vector<double> most;
  std::vector<int64_t> known;
  std::vector<std::vector<int64_t>> values;  // of percentiles, in thousandths
  uint32_t first_row = 0;
};

double Finish(const Measure& measure, size_t m, Measured& group) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  if (measure.function == "count") return static_cast<double>(group.known[m]);
  if (group.known[m] == 0) return kNothing;
  if (measure.function == "sum") return group.sum[m];
  if (measure.function == "avg") return group.sum[m] / static_cast<double>(group.known[m]);
  if (measure.function == "min") return group.least[m];
  if (measure.function == "max") return group.most[m];
  const size_t percent = measure.function == "p50" ? 50 : measure.function == "p90" ? 90 : 99;
  return static_cast<double>(Percentile(group.values[m], percent)) / 1000;
}

void AddTo(Measured& group, const std::vector<Measure>& measures, uint32_t row) {
  ++group.count;
  for (size_t m = 0; m < measures.size(); ++m) {
    const CellValue value = measures[m].column.At(row);
    if (measures[m].function == "count") {
      group.known[m] += value.index() != 0 ? 1 : 0;
      continue;
    }
    const double number = Shown(measures[m].column.info(), value);
    if (std::isnan(number)) continue;
    ++group.known[m];
    group.sum[m] += number;
    group.least[m] = group.known[m] == 1 ? number : std::min(group.least[m], number);
    group.most[m] = group.known[m] == 1 ? number : std::max(group.most[m], number);
    if (measures[m].function.starts_with('p'))
      group.values[m].push_back(std::llround(std::clamp(number, -9e15, 9e15) * 1000));
  }
}

}  // namespace

std::string CellText(const RowColumn& column, const CellValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const auto* number = std::get_if<double>(&value)) return FormatDouble(*number);
  if (const auto* whole = std::get_if<int64_t>(&value))
    return column.type == CellType::kTimeUs ? FormatNsAsUs(*whole) : std::to_string(*whole);
  return "";
}

Result<SourceColumn> ParseColumn(std::string_view name, const RowSource& source) {
  if (const std::optional<SourceColumn> column = source.Find(name)) return *column;
  std::string known;
  for (const SourceColumn& one : source.Columns())
    known += (known.empty() ? "" : ", ") + one.info().name;
  return Bad(fmt::format("there is no column '{}'; columns: {}", name, known));
}

Result<std::vector<RowCondition>> ParseConditions(JsonValue list, const RowSource& source) {
  std::vector<RowCondition> out;
  Status status;
  list.ForEachElement([&](JsonValue item) {
    if (!status.ok()) return;
    Result<RowCondition> condition = ParseCondition(item, source);
    if (!condition.ok()) {
      status = std::move(condition).error();
    } else {
      out.push_back(*std::move(condition));
    }
  });
  SL_RETURN_IF_ERROR(status);
  return out;
}

Result<std::vector<SortKey>> ParseSort(JsonValue list, const RowSource& source) {
  std::vector<SortKey> out;
  Status status;
  list.ForEachElement([&](JsonValue item) {
    const Result<SourceColumn> column = ParseColumn(item["col"].AsString().value_or(""), source);
    if (!column.ok()) {
      status = column.error();
    } else {
      out.push_back({*column, item["desc"].AsBool().value_or(false)});
    }
  });
  SL_RETURN_IF_ERROR(status);
  return out;
}

Result<std::vector<Measure>> ParseMeasures(JsonValue list, const RowSource& source) {
  static constexpr std::string_view kFunctions[] = {"sum",   "avg", "min", "max",
                                                    "count", "p50", "p90", "p99"};
  std::vector<Measure> out;
  Status status;
  list.ForEachElement([&](JsonValue item) {
    const std::string_view function = item["fn"].AsString().value_or("");
    const Result<SourceColumn> column = ParseColumn(item["col"].AsString().value_or(""), source);
    if (!column.ok()) {
      status = column.error();
    } else if (std::find(std::begin(kFunctions), std::end(kFunctions), function) ==
               std::end(kFunctions)) {
      status = Bad(fmt::format("'measures': there is no '{}'", function));
    } else {
      out.push_back({*column, std::string(function)});
    }
  });
  SL_RETURN_IF_ERROR(status);
  return out;
}

std::vector<uint32_t> FilterRows(const RowSource& source,
                                 const std::vector<RowCondition>& conditions) {
  std::vector<uint32_t> out;
  if (conditions.empty()) out.reserve(source.rows());
  for (uint32_t row = 0; row < source.rows(); ++row) {
    if (row % kRowsAtOnce == 0 && IsCancelled()) break;
    if (std::all_of(conditions.begin(), conditions.end(),
                    [&](const RowCondition& condition) { return Meets(condition, row); }))
      out.push_back(row);
  }
  return out;
}

void SortRows(const std::vector<SortKey>& keys, std::vector<uint32_t>& rows) {
  // The last key first: each sort keeps what the one before did among equals.
  for (auto key = keys.rbegin(); key != keys.rend() && !IsCancelled(); ++key) {
    const bool descending = key->descending;
    if (key->column.info().type != CellType::kText) {
      std::vector<std::pair<int64_t, uint32_t>> keyed(rows.size());
      for (size_t i = 0; i < rows.size(); ++i)
        keyed[i] = {OrderOf(key->column.At(rows[i])), static_cast<uint32_t>(i)};
      std::sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return descending ? a.first > b.first : a.first < b.first;
        return a.second < b.second;
      });
      std::vector<uint32_t> sorted(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) sorted[i] = rows[keyed[i].second];
      rows = std::move(sorted);
      continue;
    }
    std::vector<std::pair<CellValue, uint32_t>> keyed(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) keyed[i] = {key->column.At(rows[i]), rows[i]};
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
      const int order = CompareCells(a.first, b.first);
      return descending ? order > 0 : order < 0;
    });
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
  }
}

table::Table GroupRows(const std::vector<uint32_t>& rows, const std::vector<SourceColumn>& group,
                       const std::vector<Measure>& measures) {
  std::unordered_map<std::string, size_t> index;
  std::vector<Measured> groups;
  size_t done = 0;
  for (const uint32_t row : rows) {
    if (done++ % kRowsAtOnce == 0 && IsCancelled()) break;
    std::string key;
    for (const SourceColumn& column : group) {
      key += CellText(column.info(), column.At(row));
      key += '\0';
    }
    const auto [at, is_new] = index.try_emplace(std::move(key), groups.size());
    if (is_new) {
      const size_t n = measures.size();
      groups.push_back({0, std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
                        std::vector<int64_t>(n), std::vector<std::vector<int64_t>>(n), row});
    }
    AddTo(groups[at->second], measures, row);
  }
  table::Table out("groups");
  for (const SourceColumn& column : group) {
    const RowColumn& from = column.info();
    const size_t to = out.AddColumn(from.name, from.type, from.decimals);
    for (const Measured& one : groups) {
      const CellValue value = column.At(one.first_row);
      if (from.type == CellType::kText) {
        out.AppendText(to, CellText(from, value));
      } else if (from.type == CellType::kDouble) {
        out.AppendDouble(to, Shown(from, value));
      } else {
        out.AppendInt(to, value.index() == 1 ? std::get<int64_t>(value) : table::kNull);
      }
    }
  }
  const size_t count = out.AddColumn("count", CellType::kInt);
  for (const Measured& one : groups) out.AppendInt(count, one.count);
  for (size_t m = 0; m < measures.size(); ++m) {
    const size_t to =
        out.AddColumn(fmt::format("{}({})", measures[m].function, measures[m].column.info().name),
                      CellType::kDouble, 3);
    for (Measured& one : groups) out.AppendDouble(to, Finish(measures[m], m, one));
  }
  return out;
}

}  // namespace steplens::server
