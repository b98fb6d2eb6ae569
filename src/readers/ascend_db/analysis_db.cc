#include "readers/ascend_db/analysis_db.h"

#include <array>
#include <map>
#include <string_view>

namespace steplens::readers {
namespace {

Status ReadStepTraces(DbContext& db) {
  return ReadTable(
      db, "StepTraceTime",
      {"?deviceId", "!step", "!computing", "!communication_not_overlapped", "!overlapped",
       "!communication", "!free", "!stage", "!bubble",
       "!communication_not_overlapped_and_exclude_receive", "?preparing"},
      [&](Scan& row) {
        db.out.step_traces.Append({row.Int(0), row.Int(1), row.Double(2), row.Double(3),
                                   row.Double(4), row.Double(5), row.Double(6), row.Double(7),
                                   row.Double(8), row.Double(9), row.Double(10)});
        return true;
      });
}

// torch_npu's file has the steps' times and says of every operation which step it belongs to;
// those of msprof and MindSpore do neither.
bool HasSteps(const DbContext& db) {
  return db.file.name() == "analysis.db" || db.file.HasTable("StepTraceTime");
}

struct StepColumns {
  std::string_view step, type, picked_op;
};
StepColumns ColumnsOf(const DbContext& db) {
  if (HasSteps(db)) return {"!step", "!type", "!op_name"};
  return {"?step", "?type", "?op_name"};
}

Status ReadTimes(DbContext& db) {
  const StepColumns columns = ColumnsOf(db);
  return ReadTable(
      db, "CommAnalyzerTime",
      {"hccl_op_name", "group_name", columns.step, columns.type, "!start_timestamp", "!elapse_time",
       "!transit_time", "!wait_time", "!synchronization_time", "!idle_time"},
      [&](Scan& row) {
        store::CommTimeTable::Row time;
        time.op_name = db.Intern(row.Text(0));
        time.group_name = db.Intern(row.Text(1));
        time.step = db.Intern(row.Text(2));
        time.kind = db.Intern(row.Text(3));
        time.start_us = row.Double(4);
        time.elapse_ms = row.Double(5);
        time.transit_ms = row.Double(6);
        time.wait_ms = row.Double(7);
        time.synchronization_ms = row.Double(8);
        time.idle_ms = row.Double(9);
        db.out.comm_times.Append(time);
        return true;
      });
}

// One row per packet size; what they share is repeated in each. A packet size of 0 says that the
// transport has no distribution.
Status ReadBandwidths(DbContext& db) {
  enum Column : size_t {
    kOp,
    kGroup,
    kStep,
    kKind,
    kTransport,
    kSize,
    kTime,
    kBandwidth,
    kLarge,
    kPacket,
    kCount,
    kTotal
  };
  const StepColumns columns = ColumnsOf(db);
  std::map<std::array<StringId, 5>, uint32_t> rows;
  return ReadTable(db, "CommAnalyzerBandwidth",
                   {"hccl_op_name", "group_name", columns.step, columns.type, "transport_type",
                    "!transit_size", "!transit_time", "!bandwidth", "!large_packet_ratio",
                    "!package_size", "!count", "!total_duration"},
                   [&](Scan& row) {
                     store::CommBandwidthTable::Row bandwidth;
                     bandwidth.op_name = db.Intern(row.Text(kOp));
                     bandwidth.group_name = db.Intern(row.Text(kGroup));
                     bandwidth.step = db.Intern(row.Text(kStep));
                     bandwidth.kind = db.Intern(row.Text(kKind));
                     bandwidth.transport = db.Intern(row.Text(kTransport));
                     const auto next = static_cast<uint32_t>(db.out.comm_bandwidths.size());
                     const auto [place, is_new] =
                         rows.try_emplace({bandwidth.step, bandwidth.kind, bandwidth.op_name,
                                           bandwidth.group_name, bandwidth.transport},
                                          next);
                     if (is_new) {
                       bandwidth.transit_size_mb = row.Double(kSize);
                       bandwidth.transit_ms = row.Double(kTime);
                       bandwidth.bandwidth_gbps = row.Double(kBandwidth);
                       bandwidth.large_packet_ratio = row.Double(kLarge);
                       db.out.comm_bandwidths.Append(bandwidth);
                     }
                     const double packet_mb = row.Double(kPacket);
                     if (packet_mb > 0) {
                       db.out.comm_packets.Append(
                           {place->second, packet_mb, row.Double(kCount), row.Double(kTotal)});
                     }
                     return true;
                   });
}

Status ReadLinks(DbContext& db) {
  const StepColumns columns = ColumnsOf(db);
  return ReadTable(
      db, "CommAnalyzerMatrix",
      {"hccl_op_name", "group_name", columns.step, columns.type, "src_rank", "dst_rank",
       "transport_type", "!transit_size", "!transit_time", "!bandwidth", columns.picked_op},
      [&](Scan& row) {
        store::CommLinkTable::Row link;
        link.op_name = db.Intern(row.Text(0));
        link.group_name = db.Intern(row.Text(1));
        link.step = db.Intern(row.Text(2));
        link.kind = db.Intern(row.Text(3));
        link.src_rank = row.Int(4);
        link.dst_rank = row.Int(5);
        link.transport = db.Intern(row.Text(6));
        link.transit_size_mb = row.Double(7);
        link.transit_ms = row.Double(8);
        link.bandwidth_gbps = row.Double(9);
        link.picked_op = db.Intern(row.Text(10));
        db.out.comm_links.Append(link);
        return true;
      });
}

// The tables tell of the same operations, so one that has none of them was lost. Times come alone
// where nobody saw the traffic: those of GPUs do.
void CountLostTables(DbContext& db) {
  const store::TraceStore& out = db.out;
  if (out.comm_times.size() == 0) {
    CountLostTable(db, "CommAnalyzerTime", "CommAnalyzerBandwidth and CommAnalyzerMatrix",
                   out.comm_bandwidths.size() + out.comm_links.size());
  }
  if (out.comm_bandwidths.size() == 0)
    CountLostTable(db, "CommAnalyzerBandwidth", "CommAnalyzerMatrix", out.comm_links.size());
  if (out.comm_links.size() == 0)
    CountLostTable(db, "CommAnalyzerMatrix", "CommAnalyzerBandwidth", out.comm_bandwidths.size());
}

}  // namespace

Status ReadAnalysisTables(DbContext& db, bool with_communication) {
  if (HasSteps(db) && !db.file.HasTable("StepTraceTime")) {
    db.out.issues.Add(store::IssueKind::kDbTableUnreadable,
                      db.file.name() + ": table 'StepTraceTime' is not there");
  }
  SL_RETURN_IF_ERROR(ReadStepTraces(db));
  if (!with_communication) return {};
  SL_RETURN_IF_ERROR(ReadTimes(db));
  SL_RETURN_IF_ERROR(ReadBandwidths(db));
  SL_RETURN_IF_ERROR(ReadLinks(db));
  CountLostTables(db);
  return {};
}

}  // namespace steplens::readers
