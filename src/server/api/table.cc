#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/cancel.h"
#include "base/csv.h"
#include "base/number.h"
#include "server/api/cells.h"
#include "server/api/handlers.h"
#include "server/api/metric_source.h"
#include "server/api/table_ops.h"

namespace steplens::server {
namespace {

constexpr std::string_view kMetricPrefix = "metric:";
constexpr size_t kRowsAPiece = 2000;

struct Opened {
  std::shared_ptr<const RowSource> rows;
  std::string definition;
};

Result<Opened> OpenEvents(const Ask& ask) {
  SL_RETURN_IF_ERROR(NeedJob(ask));  // its rows outlive the request
  std::vector<int64_t> ids;
  ask.params.Raw("args")["tracks"].ForEachElement(
      [&](JsonValue value) { ids.push_back(value.AsInt().value_or(0)); });
  Result<std::vector<const Lane*>> found = SliceLanes(ask, ids);
  if (!found.ok()) return std::move(found).error().During("'args.tracks'");
  std::vector<EventLane> lanes;
  for (const Lane* lane : *found) {
    const ShownRank& rank = ask.view.RankOf(*lane);
    lanes.push_back(
        {lane, rank.store, rank.rank, ask.BaseNs(lane->rank_slot), LaneTitle(ask, *lane)});
  }
  return Opened{RowsOf(std::move(lanes), ask.view.names()), ""};
}

Result<Opened> OpenMetric(const Ask& ask, const store::Job& job, std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view wanted =
      colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  SL_ASSIGN_OR_RETURN(NamedResult result, ComputeNamed(ask, name.substr(0, colon), job));
  for (table::Table& table : result.tables) {
    if (wanted.empty() || table.name() == wanted)
      return Opened{RowsOf(std::move(table)), std::move(result.definition)};
  }
  return Error{ErrorCode::kNotFound, fmt::format("the metric has no table '{}'", wanted)};
}

Result<Opened> OpenSource(const Ask& ask, const std::string& source) {
  if (source == "events") return OpenEvents(ask);
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  if (source.starts_with(kMetricPrefix))
    return OpenMetric(ask, *job, std::string_view(source).substr(kMetricPrefix.size()));
  SL_ASSIGN_OR_RETURN(query::Catalog * catalog, ask.open.cache->Catalog(*job));
  const std::lock_guard lock(ask.open.cache->catalog_mutex());
  query::SqlTable* table = catalog->Find(source);
  if (table == nullptr)
    return Error{ErrorCode::kNotFound, fmt::format("there is no table '{}'", source)};
  table->Prepare();
  if (table->result) return Opened{RowsOf(table::Table(*table->result)), ""};
  return Opened{RowsOf(*table), ""};
}

Result<std::vector<SourceColumn>> ParseColumns(const std::vector<std::string>& names,
                                               const RowSource& source) {
  std::vector<SourceColumn> columns;
  for (const std::string& name : names) {
    SL_ASSIGN_OR_RETURN(const SourceColumn column, ParseColumn(name, source));
    columns.push_back(column);
  }
  return columns;
}

// Everything but which rows and columns are wanted: requests that differ in those alone share a
// table.
std::string QuestionOf(const Ask& ask, const std::string& source) {
  std::string out = source + '\n' + std::to_string(ask.align);
  for (const std::string_view part : {"args", "filter", "group", "measures", "sort"}) {
    const JsonValue value = ask.params.Raw(part);
    out += '\n' + (value.exists() ? value.ToText() : "");
  }
  return out;
}

Result<std::shared_ptr<const PreparedTable>> Prepare(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string source, ask.params.Text("source"));
  const std::string question = QuestionOf(ask, source);
  if (auto known = ask.open.cache->FindTable(question)) return known;
  SL_ASSIGN_OR_RETURN(Opened opened, OpenSource(ask, source));
  if (opened.rows->rows() > UINT32_MAX)
    return Error{ErrorCode::kUnsupported, "the table has more than 4 billion rows"};
  auto table = std::make_shared<PreparedTable>();
  table->definition = std::move(opened.definition);
  table->total = opened.rows->rows();
  SL_ASSIGN_OR_RETURN(const std::vector<RowCondition> conditions,
                      ParseConditions(ask.params.Raw("filter"), *opened.rows));
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> group, ask.params.Texts("group"));
  SL_ASSIGN_OR_RETURN(const std::vector<Measure> measures,
                      ParseMeasures(ask.params.Raw("measures"), *opened.rows));
  table->order = FilterRows(*opened.rows, conditions);
  table->source = opened.rows;
  if (!group.empty() || !measures.empty()) {
    SL_ASSIGN_OR_RETURN(const std::vector<SourceColumn> columns, ParseColumns(group, *opened.rows));
    table->source = RowsOf(GroupRows(table->order, columns, measures));
    table->order = FilterRows(*table->source, {});
  }
  SL_ASSIGN_OR_RETURN(std::vector<SortKey> sort, ParseSort(ask.params.Raw("sort"), *table->source));
  if (sort.empty() && table->source == opened.rows && source == "events") {
    SL_ASSIGN_OR_RETURN(const SourceColumn start, ParseColumn("start_ns", *table->source));
    sort.push_back({start, false});
  }
  SortRows(sort, table->order);
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "the client has disconnected"};
  ask.open.cache->KeepTable(question, table);
  return std::shared_ptr<const PreparedTable>(table);
}

Result<std::vector<SourceColumn>> ColumnsParam(const Ask& ask, const RowSource& source) {
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> names, ask.params.Texts("cols"));
  if (names.empty()) return source.Columns();
  return ParseColumns(names, source);
}

void WriteValue(JsonWriter& json, const RowColumn& column, const CellValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    json.String(*text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    json.Double(*number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    if (column.type == table::CellType::kTimeUs) {
      json.Raw(FormatNsAsUs(*whole));
    } else {
      json.Int(*whole);
    }
  } else {
    json.Null();
  }
}

void WriteColumns(JsonWriter& json, const std::vector<SourceColumn>& columns) {
  json.Key("columns").BeginArray();
  for (const SourceColumn& one : columns) {
    const RowColumn& column = one.info();
    json.BeginObject().Key("name").String(column.name).Key("type").String(TypeName(column.type));
    if (column.type == table::CellType::kDouble) json.Key("decimals").Int(column.decimals);
    json.EndObject();
  }
  json.EndArray();
}

struct ExportForm {
  std::string format;   // csv, tsv or json
  bool guards = false;  // texts that a spreadsheet would run as a formula
};

void AppendDelimited(std::string& out, std::string_view text, bool tabs) {
  if (!tabs) return AppendCsvCell(out, text);
  for (const char c : text) out += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

// Hands an export out in pieces of some thousand rows.
class Exporter {
 public:
  Exporter(std::shared_ptr<const PreparedTable> table, std::vector<SourceColumn> columns,
           ExportForm form)
      : table_(std::move(table)), columns_(std::move(columns)), form_(std::move(form)) {}

  bool Next(std::string& out) {
    if (done_) return false;
    const bool is_json = form_.format == "json";
    if (at_ == 0) out += is_json ? "[" : Header();
    const size_t end = std::min(at_ + kRowsAPiece, table_->order.size());
    for (; at_ < end; ++at_) {
      if (is_json) {
        AppendObject(out);
      } else {
        AppendLine(out);
      }
    }
    done_ = at_ == table_->order.size();
    if (done_ && is_json) out += "]\n";
    return true;
  }

 private:
  char Separator() const { return form_.format == "tsv" ? '\t' : ','; }
  void AppendText(std::string& out, const std::string& text) const {
    AppendDelimited(out, form_.guards ? GuardedCell(text) : text, form_.format == "tsv");
  }

  std::string Header() const {
    std::string out;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += Separator();
      AppendText(out, columns_[i].info().name);
    }
    return out + '\n';
  }

  void AppendLine(std::string& out) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += Separator();
      const CellValue value = columns_[i].At(table_->order[at_]);
      AppendText(out, CellText(columns_[i].info(), value));
    }
    out += '\n';
  }

  void AppendObject(std::string& out) const {
    JsonWriter json;
    json.BeginObject();
    for (const SourceColumn& column : columns_) {
      json.Key(column.info().name);
      WriteValue(json, column.info(), column.At(table_->order[at_]));
    }
    json.EndObject();
    out += at_ > 0 ? ",\n" : "\n";
    out += json.text();
  }

  std::shared_ptr<const PreparedTable> table_;
  std::vector<SourceColumn> columns_;
  ExportForm form_;
  size_t at_ = 0;
  bool done_ = false;
};

}  // namespace

Result<Response> PostTable(const Ask& ask) {
  const auto started = std::chrono::steady_clock::now();
  SL_ASSIGN_OR_RETURN(const auto table, Prepare(ask));
  SL_ASSIGN_OR_RETURN(const std::vector<SourceColumn> columns, ColumnsParam(ask, *table->source));
  SL_ASSIGN_OR_RETURN(const int64_t offset, ask.params.IntIn("offset", 0, 0, UINT32_MAX));
  SL_ASSIGN_OR_RETURN(const int64_t limit, ask.params.IntIn("limit", 200, 0, 10'000));
  JsonWriter json;
  json.BeginObject();
  WriteColumns(json, columns);
  json.Key("rows").BeginArray();
  const size_t first = std::min(static_cast<size_t>(offset), table->order.size());
  const size_t last = std::min(first + static_cast<size_t>(limit), table->order.size());
  for (size_t i = first; i < last; ++i) {
    json.BeginArray();
    for (const SourceColumn& column : columns)
      WriteValue(json, column.info(), column.At(table->order[i]));
    json.EndArray();
  }
  json.EndArray().Key("total").Int(static_cast<int64_t>(table->total));
  json.Key("filtered").Int(static_cast<int64_t>(table->order.size()));
  if (!table->definition.empty()) json.Key("definition").String(table->definition);
  const auto passed = std::chrono::steady_clock::now() - started;
  json.Key("elapsed_us")
      .Int(std::chrono::duration_cast<std::chrono::microseconds>(passed).count())
      .EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostExport(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string format, ask.params.TextOr("format", "csv"));
  if (format != "csv" && format != "tsv" && format != "json")
    return Error{ErrorCode::kInvalidArgument, "'format' must be csv, tsv or json"};
  SL_ASSIGN_OR_RETURN(const bool guards, ask.params.BoolOr("guard", false));
  SL_ASSIGN_OR_RETURN(const auto table, Prepare(ask));
  SL_ASSIGN_OR_RETURN(std::vector<SourceColumn> columns, ColumnsParam(ask, *table->source));
  SL_ASSIGN_OR_RETURN(const std::string source, ask.params.Text("source"));
  std::string name;
  for (const char c : source) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  Response response;
  response.content_type = format == "json"  ? "application/json"
                          : format == "csv" ? "text/csv; charset=utf-8"
                                            : "text/tab-separated-values; charset=utf-8";
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"{}.{}\"", name, format));
  // Shared: std::function must be copyable.
  auto exporter = std::make_shared<Exporter>(table, std::move(columns), ExportForm{format, guards});
  response.stream = [exporter](std::string& out) { return exporter->Next(out); };
  return response;
}

}  // namespace steplens::server
