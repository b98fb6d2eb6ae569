#include "export/db/analysis_tables.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/breakdown/breakdown.h"
#include "analysis/communication/communication.h"
#include "export/db/sqlite_writer.h"

namespace steplens::exporting {
namespace {

using analysis::CommunicationClass;
using analysis::CommunicationStep;
using analysis::OperationFacts;
using store::kNone;
using store::TraceStore;

constexpr const char* kStepColumns =
    "step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, "
    "communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, "
    "communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC";

void WriteStoredSteps(const TraceStore& store, SqliteWriter& db) {
  const store::StepTraceTable& steps = store.step_traces;
  const bool has_device = std::any_of(steps.device.begin(), steps.device.end(),
                                      [](int64_t device) { return device != kNone; });
  TableWriter rows = db.Table("StepTraceTime",
                              (has_device ? "deviceId INTEGER, " : "") + std::string(kStepColumns));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (has_device) rows.Int(steps.device[i]);
    steps.step[i] == kNone ? rows.Null() : rows.Text(std::to_string(steps.step[i]));
    for (const auto* column :
         {&steps.computing_us, &steps.comm_not_overlapped_us, &steps.overlapped_us,
          &steps.communication_us, &steps.free_us, &steps.stage_us, &steps.bubble_us,
          &steps.comm_exclude_receive_us, &steps.preparing_us})
      rows.Real((*column)[i]);
    rows.EndRow();
  }
}

// `only_device`: of every row where the table does not name one; kNone: no such column.
void WriteComputedSteps(const table::Table& table, int64_t only_device, SqliteWriter& db) {
  const table::Column* device = table.Find("Device_id");
  const bool has_device = device != nullptr || only_device != kNone;
  TableWriter rows = db.Table("StepTraceTime",
                              (has_device ? "deviceId INTEGER, " : "") + std::string(kStepColumns));
  constexpr std::string_view kColumns[] = {
      "Computing",  "Communication(Not Overlapped)",
      "Overlapped", "Communication",
      "Free",       "Stage",
      "Bubble",     "Communication(Not Overlapped and Exclude Receive)",
      "Preparing"};
  const table::Column* step = table.Find("Step");
  for (size_t row = 0; row < table.rows(); ++row) {
    if (has_device) rows.Int(device != nullptr ? device->ints[row] : only_device);
    const bool has_step = step != nullptr && step->ints[row] != table::kNull;
    has_step ? rows.Text(std::to_string(step->ints[row])) : rows.Null();
    for (const std::string_view name : kColumns) {
      const table::Column* column = table.Find(name);
      const bool is_known = column != nullptr && column->ints[row] != table::kNull;
      is_known ? rows.Real(static_cast<double>(column->ints[row]) / 1000) : rows.Null();
    }
    rows.EndRow();
  }
}

// A db has exact times, where the csv has those of doubles; so they are computed, unless the store
// has them from a db or has no timeline.
void WriteSteps(const TraceStore& store, const ExportOptions& options, SqliteWriter& db) {
  if (store.info.format != "db" || store.step_traces.size() == 0) {
    const table::Table table =
        analysis::StepBreakdown(std::span(&store, 1), {.rule = analysis::BreakdownRule::kDb});
    const bool is_newest = options.is_raw && store.info.source != "ascend_ms";
    if (table.rows() > 0)
      return WriteComputedSteps(table, is_newest ? store.info.device : kNone, db);
  }
  WriteStoredSteps(store, db);
}

class CommunicationWriter {
 public:
  explicit CommunicationWriter(SqliteWriter& db)
      : times_(db.Table("CommAnalyzerTime",
                        "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, "
                        "elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, "
                        "synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT")),
        bandwidths_(db.Table("CommAnalyzerBandwidth",
                             "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, "
                             "transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, "
                             "large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC, "
                             "total_duration NUMERIC, step TEXT, type TEXT")),
        links_(db.Table("CommAnalyzerMatrix",
                        "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, "
                        "transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, "
                        "bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT")) {}

  void Write(const std::string& step, const char* type, const CommunicationClass& of) {
    for (const OperationFacts& operation : of.operations) {
      times_.Text(operation.name).Text(operation.group);
      for (const double value :
           {operation.start_us, operation.elapse_ms, operation.transit_ms, operation.wait_ms,
            operation.synchronization_ms, operation.idle_ms})
        times_.Real(value);
      times_.Text(step).Text(type).EndRow();
      for (const analysis::TransportFacts& transport : operation.transports)
        WriteTransport(operation, transport, step, type);
    }
    for (const analysis::MatrixEntry& entry : of.matrix) {
      for (const analysis::LinkFacts& link : entry.links) WriteLink(entry, link, step, type);
    }
  }

 private:
  // A row per packet size; one with size 0 for traffic without a distribution; none for idle links.
  void WriteTransport(const OperationFacts& operation, const analysis::TransportFacts& transport,
                      const std::string& step, const char* type) {
    std::vector<analysis::PacketFacts> packets = transport.packets;
    if (packets.empty() && transport.transit_size_mb == 0 && transport.transit_ms == 0) return;
    if (packets.empty()) packets.emplace_back();
    for (const analysis::PacketFacts& packet : packets) {
      bandwidths_.Text(operation.name).Text(operation.group).Text(transport.transport);
      for (const double value :
           {transport.transit_size_mb, transport.transit_ms, transport.bandwidth_gbps,
            transport.large_packet_ratio, packet.size_mb, packet.count, packet.total_ms})
        bandwidths_.Real(value);
      bandwidths_.Text(step).Text(type).EndRow();
    }
  }

  void WriteLink(const analysis::MatrixEntry& entry, const analysis::LinkFacts& link,
                 const std::string& step, const char* type) {
    links_.Text(entry.name).Text(entry.group);
    links_.Text(std::to_string(link.src_rank)).Text(std::to_string(link.dst_rank));
    links_.Text(link.transport).Real(link.transit_size_mb).Real(link.transit_ms);
    links_.Real(link.bandwidth_gbps).Text(step).Text(type).Text(link.picked_op).EndRow();
  }

  TableWriter times_;
  TableWriter bandwidths_;
  TableWriter links_;
};

}  // namespace

Status WriteAnalysisDb(const TraceStore& store, const ExportOptions& options,
                       const std::string& path) {
  SL_ASSIGN_OR_RETURN(SqliteWriter db, SqliteWriter::Create(path));
  WriteSteps(store, options, db);
  if (store.comm_times.size() > 0 || store.info.level != "Level0") {
    CommunicationWriter writer(db);
    for (const CommunicationStep& step : analysis::CollectCommunication(store)) {
      writer.Write(step.step, "collective", step.collective);
      writer.Write(step.step, "p2p", step.p2p);
    }
  }
  return db.Commit();
}

}  // namespace steplens::exporting
