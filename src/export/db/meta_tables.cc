#include "base/number.h"
#include "export/db/db_context.h"
#include "export/metadata.h"

namespace steplens::exporting {
namespace {

using store::kNone;
using Names = std::vector<DbEnum::Name>;

Names WithCommon(Names names, int64_t reserved_id) {
  names.push_back({reserved_id, "RESERVED"});
  names.push_back({kEnumNotAvailable, "N/A"});
  names.push_back({65535, "INVALID_TYPE"});
  return names;
}

Names DataTypes() {
  return WithCommon({{0, "INT8"},
                     {1, "INT16"},
                     {2, "INT32"},
                     {3, "FP16"},
                     {4, "FP32"},
                     {5, "INT64"},
                     {6, "UINT64"},
                     {7, "UINT8"},
                     {8, "UINT16"},
                     {9, "UINT32"},
                     {10, "FP64"},
                     {11, "BFP16"},
                     {12, "INT128"}},
                    255);
}

Names LinkTypes(bool is_hccl_era) {
  return WithCommon({{0, "ON_CHIP"},
                     {1, "HCCS"},
                     {2, "PCIE"},
                     {3, "ROCE"},
                     {4, "SIO"},
                     {5, "HCCS_SW"},
                     {6, "STANDARD_ROCE"}},
                    is_hccl_era ? 7 : 255);
}

Names TransportTypes() { return WithCommon({{0, "SDMA"}, {1, "RDMA"}, {2, "LOCAL"}}, 255); }

Names RdmaTypes() {
  return WithCommon({{0, "RDMA_SEND_NOTIFY"},
                     {1, "RDMA_SEND_PAYLOAD"},
                     {2, "RDMA_PAYLOAD_PREPARE"},
                     {3, "RDMA_PAYLOAD_CHECK"},
                     {4, "RDMA_PAYLOAD_ACK"},
                     {5, "RDMA_SEND_OP"}},
                    255);
}

// The components of CANN by id. Three of them have other names since CANN 8.1.
Names Modules(bool is_hccl_era) {
  constexpr std::string_view kNames[] = {"SLOG",        "IDEDD",
                                         "IDEDH",       "HCCL",
                                         "FMK",         "HIAIENGINE",
                                         "DVPP",        "RUNTIME",
                                         "CCE",         "HDC",
                                         "DRV",         "MDCFUSION",
                                         "MDCLOCATION", "MDCPERCEPTION",
                                         "MDCFSM",      "MDCCOMMON",
                                         "MDCMONITOR",  "MDCBSWP",
                                         "MDCDEFAULT",  "MDCSC",
                                         "MDCPNC",      "MLL",
                                         "DEVMM",       "KERNEL",
                                         "LIBMEDIA",    "CCECPU",
                                         "ASCENDDK",    "ROS",
                                         "HCCP",        "ROCE",
                                         "TEFUSION",    "PROFILING",
                                         "DP",          "APP",
                                         "TS",          "TSDUMP",
                                         "AICPU",       "LP",
                                         "TDT",         "FE",
                                         "MD",          "MB",
                                         "ME",          "IMU",
                                         "IMP",         "GE",
                                         "MDCFUSA",     "CAMERA",
                                         "ASCENDCL",    "TEEOS",
                                         "ISP",         "SIS",
                                         "HSM",         "DSS",
                                         "PROCMGR",     "BBOX",
                                         "AIVECTOR",    "TBE",
                                         "FV",          "MDCMAP",
                                         "TUNE",        "HSS",
                                         "FFTS",        "OP",
                                         "UDF",         "HICAID",
                                         "TSYNC",       "AUDIO",
                                         "TPRT",        "ASCENDCKERNEL",
                                         "ASYS",        "ATRACE",
                                         "RTC",         "SYSMONITOR",
                                         "AMP",         "ADETECT",
                                         "MBUFF",       "CUSTOM"};
  Names names;
  for (const std::string_view name : kNames)
    names.push_back({static_cast<int64_t>(names.size()), name});
  if (!is_hccl_era) {
    names[2].name = "SCC";
    names[5].name = "CCU";
    names[11].name = "NET";
  }
  return names;
}

void WriteMetaData(DbContext& ctx) {
  TableWriter rows = ctx.db.Table("META_DATA", "name TEXT, value TEXT");
  rows.Text("SCHEMA_VERSION").Text("1.0.0").EndRow();
  rows.Text("SCHEMA_VERSION_MAJOR").Text("1").EndRow();
  rows.Text("SCHEMA_VERSION_MINOR").Text("0").EndRow();
  rows.Text("SCHEMA_VERSION_MICRO").Text("0").EndRow();
  for (const auto& [name, value] : MetadataFacts(ctx.store)) rows.Text(name).Text(value).EndRow();
}

// Facts with a table of their own.
void WriteMachine(DbContext& ctx) {
  const auto fact = [&](std::string_view name) {
    return ctx.store.FindMeta(name).value_or(std::string_view());
  };
  if (!fact("hostUid").empty() || !fact("hostName").empty()) {
    TableWriter rows = ctx.db.Table("HOST_INFO", "hostUid TEXT, hostName TEXT");
    rows.Text(fact("hostUid")).Text(fact("hostName")).EndRow();
  }
  if (!fact("npuName").empty()) {
    TableWriter rows = ctx.db.Table("NPU_INFO", "id INTEGER, name TEXT");
    rows.Int(ctx.timeline.device).Text(fact("npuName")).EndRow();
  }
  const auto begin_ns = ParseInt64(fact("startTimeNs"));
  const auto end_ns = ParseInt64(fact("endTimeNs"));
  if (begin_ns && end_ns) {
    TableWriter rows = ctx.db.Table("SESSION_TIME_INFO", "startTimeNs INTEGER, endTimeNs INTEGER");
    rows.Int(*begin_ns).Int(*end_ns).EndRow();
  }
}

void WriteRankAndSteps(DbContext& ctx) {
  const store::TraceStore& store = ctx.store;
  TableWriter ranks = ctx.db.Table("RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER");
  ranks.Int(store.info.rank == kNone ? -1 : store.info.rank).Int(ctx.timeline.device).EndRow();
  TableWriter steps = ctx.db.Table("STEP_TIME", "id INTEGER, startNs INTEGER, endNs INTEGER");
  for (size_t i = 0; i < store.steps.size(); ++i)
    steps.Int(store.steps.step[i]).Int(store.steps.begin_ns[i]).Int(store.steps.end_ns[i]).EndRow();
}

}  // namespace

DbEnums::DbEnums(bool is_hccl_era)
    : data_type(DataTypes()),
      link_type(LinkTypes(is_hccl_era)),
      transport_type(TransportTypes()),
      rdma_type(RdmaTypes()),
      module(Modules(is_hccl_era)) {}

void DbEnums::Write(SqliteWriter& db, bool is_hccl_era) const {
  DbEnum({{5000, "runtime"},
          {5500, is_hccl_era ? "hccl" : "communication"},
          {10000, "node"},
          {15000, "model"},
          {20000, "acl"},
          {50001, "op"},
          {50002, "queue"},
          {50003, "trace"},
          {50004, "mstx"}})
      .Write(db, "ENUM_API_TYPE");
  module.Write(db, "ENUM_MODULE");
  data_type.Write(db, "ENUM_HCCL_DATA_TYPE");
  link_type.Write(db, "ENUM_HCCL_LINK_TYPE");
  transport_type.Write(db, "ENUM_HCCL_TRANSPORT_TYPE");
  rdma_type.Write(db, "ENUM_HCCL_RDMA_TYPE");
  DbEnum({{0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}})
      .Write(db, "ENUM_MSTX_EVENT_TYPE");
  if (is_hccl_era) return;
  DbEnum({{0, "host to host"},
          {1, "host to device"},
          {2, "device to host"},
          {3, "device to device"},
          {4, "managed memory"},
          {5, "addr device to device"},
          {6, "host to device ex"},
          {7, "device to host ex"},
          {65535, "other"}})
      .Write(db, "ENUM_MEMCPY_OPERATION");
}

void WriteMetaTables(DbContext& ctx) {
  WriteMetaData(ctx);
  WriteMachine(ctx);
  WriteRankAndSteps(ctx);
}

}  // namespace steplens::exporting
