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
using analysis::StepParts;
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
    steps.step[i] == kNone ? rows.Null() : rows.Text(std::to_string(steps.step[i].value()));
    for (const auto* column :
         {&steps.computing_us, &steps.comm_not_overlapped_us, &steps.overlapped_us,
          &steps.communication_us, &steps.free_us, &steps.stage_us, &steps.bubble_us,
          &steps.comm_exclude_receive_us, &steps.preparing_us})
      rows.Real((*column)[i]);
    rows.EndRow();
  }
}

// `only_device`: of every row where all are of one device; kNone: no such column.
void WriteComputedSteps(const std::vector<StepParts>& steps, int64_t only_device,
                        SqliteWriter& db) {
  const bool has_several = analysis::HasSeveralDevices(steps);
  const bool has_device = has_several || only_device != kNone;
  TableWriter rows = db.Table("StepTraceTime",
                              (has_device ? "deviceId INTEGER, " : "") + std::string(kStepColumns));
  for (const StepParts& parts : steps) {
    if (has_device) rows.Int(has_several ? parts.device : only_device);
    parts.step == kNone ? rows.Null() : rows.Text(std::to_string(parts.step));
    for (const int64_t ns : {parts.computing_ns, parts.comm_not_overlapped_ns, parts.overlapped_ns,
                             parts.communication_ns, parts.free_ns, parts.stage_ns, parts.bubble_ns,
                             parts.comm_exclude_receive_ns, parts.preparing_ns})
      rows.Real(static_cast<double>(ns) / 1000);
    rows.EndRow();
  }
}

// A db has exact times, where the csv has those of doubles; so they are computed, unless the store
// has them from a db or has no timeline.
void WriteSteps(const TraceStore& store, const ExportOptions& options, SqliteWriter& db) {
  if (store::DividesStepsAsText(store.info.format) || store.step_traces.size() == 0) {
    const std::vector<StepParts> steps =
        analysis::BreakDown(analysis::RankView(store), {.rule = analysis::BreakdownRule::kDb});
    const bool is_newest = options.is_raw && !store::IsMindSpore(store.info.source);
    if (!steps.empty()) return WriteComputedSteps(steps, is_newest ? store.info.device : kNone, db);
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
