#include <fmt/format.h>

#include <variant>

#include "analysis/data_pipeline/summary.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "export/directory.h"
#include "export/export.h"
#include "export/text/append.h"
#include "export/text/csv_file.h"

namespace steplens::exporting {
namespace {

using analysis::SummaryLine;
using analysis::SummaryValue;

// "[1, 2]"
std::string ListText(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

Status WriteRows(const store::DataPipeline& pipeline, const std::string& path) {
  const std::string header[] = {"op_id",
                                "op_type",
                                "num_workers",
                                "output_queue_size",
                                "output_queue_average_size",
                                "output_queue_length",
                                "output_queue_usage_rate",
                                "sample_interval",
                                "parent_id",
                                "children_id"};
  CsvFile csv(path, header);
  for (const analysis::PipelineRow& row : analysis::PipelineRows(pipeline)) {
    const auto& queue = row.op->queue;
    const double average = queue ? analysis::AverageSize(*queue) : 0;
    csv.Int(row.op->id);
    csv.Text(row.op->type);
    csv.Int(row.op->workers);
    csv.Text(queue ? ListText(queue->sizes) : std::string());
    csv.Text(queue ? NumberText(average) : std::string());
    csv.Int(queue ? queue->length : store::kNone);
    csv.Text(queue && queue->length != 0 ? NumberText(average / static_cast<double>(queue->length))
                                         : std::string());
    csv.Text(pipeline.interval_ms);
    csv.Int(row.parent.value_or(store::kNone));
    csv.Text(row.children.empty() ? std::string() : ListText(row.children));
    csv.EndRow();
  }
  return csv.Commit();
}

std::string ValueText(const SummaryValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return NumberText(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return ListText(std::get<std::vector<int64_t>>(value));
}

// Lines of different lengths, the key first.
std::string SummaryCsv(const std::vector<SummaryLine>& lines) {
  std::string out;
  for (const SummaryLine& line : lines) {
    AppendCsvCell(out, line.key);
    for (const SummaryValue& value : line.values) {
      out += ',';
      AppendCsvCell(out, ValueText(value));
    }
    out += "\r\n";
  }
  return out;
}

std::string SummaryJson(const std::vector<SummaryLine>& lines) {
  JsonWriter json;
  json.BeginObject();
  for (const SummaryLine& line : lines) {
    json.Key(line.key).BeginArray();
    for (const SummaryValue& value : line.values) {
      const auto* const text = std::get_if<std::string>(&value);
      text != nullptr ? json.String(*text) : json.Raw(ValueText(value));
    }
    json.EndArray();
  }
  return json.EndObject().Take();
}

}  // namespace

Status WriteDataPipeline(const store::DataPipeline& pipeline, const std::string& dir) {
  SL_RETURN_IF_ERROR(MakeDirectory(dir));
  const std::string stem = dir + "/minddata_pipeline_";
  SL_RETURN_IF_ERROR(WriteRows(pipeline, fmt::format("{}raw_{}.csv", stem, pipeline.number)));
  if (!pipeline.problem.empty()) return {};
  const std::vector<SummaryLine> summary = analysis::SummarisePipeline(pipeline);
  const std::string name = fmt::format("{}summary_{}", stem, pipeline.number);
  SL_RETURN_IF_ERROR(WriteWholeFile(name + ".csv", SummaryCsv(summary)));
  return WriteWholeFile(name + ".json", SummaryJson(summary));
}

}  // namespace steplens::exporting
