#include "store/schema_doc.h"

#include <array>
#include <utility>

#include "store/trace_store.h"

namespace steplens::store {
namespace {

constexpr std::pair<std::string_view, std::string_view> kTableSentences[] = {
    {"tracks", "Rows of the timeline: processes, threads, streams, planes and counters."},
    {"slices",
     "Spans of work on a track: host operators, Python functions, API calls, device tasks. "
     "`args_offset` points into the text of the rank's first trace (`info` lists its files); for a "
     "slice of another trace, 2^41 times (1 + the place of that file in the list) is added."},
    {"host_ops", "What PyTorch says of a host operator beyond its slice."},
    {"copies", "What Kineto says of a copy or memset of the device beyond its slice."},
    {"markers", "What mstx says of a mark or range beyond its slice."},
    {"flows", "Arrows between two points of the timeline."},
    {"instants", "Moments without duration: trace markers, iteration starts."},
    {"counters", "Samples of the counter series."},
    {"cann_calls", "What raw device data say of a CANN call beyond its slice."},
    {"device_tasks", "Every run of a task on a device, as raw device data have it."},
    {"kernels",
     "What kernel_details.csv has: compute tasks and whole collectives; metric columns of the "
     "input follow under their headers."},
    {"comm_ops",
     "Collective and point-to-point operations on the track of their group. Where the input has no "
     "size, `size_bytes` is the count of elements times their size."},
    {"comm_tasks", "The tasks of a collective on one plane: Memcpy, Notify_Wait, RDMASend."},
    {"comm_times", "communication.json: how the time of each operation divides."},
    {"comm_bandwidths", "communication.json: traffic of each operation over one kind of link."},
    {"comm_packets", "The packet sizes behind a row of comm_bandwidths."},
    {"comm_links", "communication_matrix.json: traffic from one rank to another."},
    {"allocations", "operator_memory.csv: memory blocks from allocation to release."},
    {"memory_samples", "memory_record.csv: the totals of the allocators over time."},
    {"module_memory", "npu_module_mem.csv: memory reserved by each CANN component over time."},
    {"steps",
     "Training steps as the host marked them, or the device (iterations of a whole graph)."},
    {"step_traces", "step_trace_time.csv as written."},
    {"op_statistics", "op_statistic.csv as written."},
    {"api_statistics", "api_statistic.csv as written."},
    {"operator_details", "operator_details.csv as written."},
    {"meta", "Facts about the run, by name."},
};

// Columns that analyses compute from the store; each follows the column `after` of its table.
struct DerivedColumn {
  std::string_view table;
  std::string_view after;
  std::string_view name;
  std::string_view doc;
};
constexpr DerivedColumn kDerivedColumns[] = {
    {"slices", "category", "depth", "row it is drawn in below its track, 0 at the top"},
    {"slices", "depth", "parent_id", "the innermost slice of the track around it"},
    {"kernels", "correlation", "slice_id",
     "the slice that shows it: the task, or the collective of its group, of the same name and "
     "start"},
    {"flows", "to_ns", "from_slice_id", "the slice at the start"},
    {"flows", "from_slice_id", "to_slice_id", "the slice at the end"},
};

constexpr std::string_view kRankDoc = "the rank it belongs to";

TableDoc DescribeRanks() {
  return {"ranks",
          "The ranks of the job.",
          {{"rank", "INTEGER", "number of the rank", ColumnOrigin::kRank},
           {"source", "TEXT", "ascend_pt, ascend_ms, msprof, kineto or nsys"},
           {"format", "TEXT", "text, db, json or raw"},
           {"level", "TEXT", "profiler level; empty if the input does not say"},
           {"device", "INTEGER", "device id"},
           {"path", "TEXT", "its folder or file"},
           {"begin_ns", "INTEGER", "first start over slices, kernels and communication"},
           {"end_ns", "INTEGER", "last end over the same"},
           {"slices", "INTEGER", "number of slices"},
           {"kernels", "INTEGER", "number of kernels"}}};
}

std::string_view SentenceOf(std::string_view table) {
  for (const auto& [name, sentence] : kTableSentences) {
    if (name == table) return sentence;
  }
  return "";
}

// Adds what follows the last column of `table`, and what follows that.
void AppendDerived(TableDoc& table) {
  for (const DerivedColumn& derived : kDerivedColumns) {
    if (derived.table != table.name || derived.after != table.columns.back().name) continue;
    table.columns.push_back(
        {std::string(derived.name), "INTEGER", derived.doc, ColumnOrigin::kDerived});
  }
}

void AppendTableMarkdown(std::string& out, const TableDoc& table) {
  out += "\n## " + std::string(table.name) + "\n\n" + std::string(table.doc) + "\n\n";
  out += "| column | type | meaning |\n|---|---|---|\n";
  for (const ColumnDoc& column : table.columns) {
    out += "| `" + column.name + "` | " + std::string(column.type) + " | ";
    for (const char c : column.doc) {
      if (c == '|') out += '\\';
      out += c;
    }
    out += column.origin == ColumnOrigin::kDerived ? " (computed on demand) |\n" : " |\n";
  }
}

}  // namespace

std::vector<TableDoc> DescribeTables() {
  std::vector<TableDoc> tables = {DescribeRanks()};
  const TraceStore empty;
  empty.ForEachTable([&](const auto& declared) {
    TableDoc table{declared.kName, SentenceOf(declared.kName), {}};
    table.columns.push_back(
        {"id", "INTEGER", "row number within its rank", ColumnOrigin::kRowNumber});
    table.columns.push_back({"rank", "INTEGER", kRankDoc, ColumnOrigin::kRank});
    declared.ForEachColumn([&](std::string_view field, std::string_view doc, const auto& column) {
      using Value = typename std::remove_cvref_t<decltype(column)>::Value;
      table.columns.push_back({SqlName<Value>(field), SqlType<Value>(), doc});
      AppendDerived(table);
    });
    tables.push_back(std::move(table));
  });
  return tables;
}

std::string SchemaMarkdown() {
  std::string out =
      "# Tables\n\n"
      "What `steplens query` can ask. Made from `src/store/tables.h`; do not edit by hand.\n\n"
      "Times are integer nanoseconds since the epoch. What the input does not say is NULL, an "
      "empty\n"
      "text for texts. A row is named by `rank` and `id`; columns ending in `_id` hold the `id` of "
      "a\n"
      "row of the same rank. The csv files of a profile that have no table here appear under "
      "their\n"
      "own names, with `id`, `rank` and the columns of the file.\n";
  for (const TableDoc& table : DescribeTables()) AppendTableMarkdown(out, table);
  return out;
}

}  // namespace steplens::store
