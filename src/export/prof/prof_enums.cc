#include "export/prof/prof_enums.h"

#include <utility>
#include <vector>

namespace steplens::exporting {
namespace {

std::vector<DbEnum::Name> WithUnknown(std::vector<DbEnum::Name> names) {
  names.push_back({255, "RESERVED"});
  names.push_back({kEnumNotAvailable, "N/A"});
  names.push_back({65535, "INVALID_TYPE"});
  return names;
}

std::vector<DbEnum::Name> ProfModules() {
  return {{0, "SLOG"},        {1, "IDEDD"},     {2, "SCC"},
          {3, "HCCL"},        {4, "FMK"},       {5, "CCU"},
          {6, "DVPP"},        {7, "RUNTIME"},   {8, "CCE"},
          {9, "HDC"},         {10, "DRV"},      {11, "NET"},
          {22, "DEVMM"},      {23, "KERNEL"},   {24, "LIBMEDIA"},
          {25, "CCECPU"},     {27, "ROS"},      {28, "HCCP"},
          {29, "ROCE"},       {30, "TEFUSION"}, {31, "PROFILING"},
          {32, "DP"},         {33, "APP"},      {34, "TS"},
          {35, "TSDUMP"},     {36, "AICPU"},    {37, "LP"},
          {38, "TDT"},        {39, "FE"},       {40, "MD"},
          {41, "MB"},         {42, "ME"},       {43, "IMU"},
          {44, "IMP"},        {45, "GE"},       {47, "CAMERA"},
          {48, "ASCENDCL"},   {49, "TEEOS"},    {50, "ISP"},
          {51, "SIS"},        {52, "HSM"},      {53, "DSS"},
          {54, "PROCMGR"},    {55, "BBOX"},     {56, "AIVECTOR"},
          {57, "TBE"},        {58, "FV"},       {60, "TUNE"},
          {61, "HSS"},        {62, "FFTS"},     {63, "OP"},
          {64, "UDF"},        {65, "HICAID"},   {66, "TSYNC"},
          {67, "AUDIO"},      {68, "TPRT"},     {69, "ASCENDCKERNEL"},
          {70, "ASYS"},       {71, "ATRACE"},   {72, "RTC"},
          {73, "SYSMONITOR"}, {74, "AMP"},      {75, "ADETECT"},
          {76, "MBUFF"},      {77, "CUSTOM"}};
}

}  // namespace

void UseProfEnums(DbEnums& enums) {
  enums.data_type = DbEnum(WithUnknown({{0, "INT8"},
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
                                        {12, "INT128"},
                                        {14, "HIF8"},
                                        {15, "FP8E4M3"},
                                        {16, "FP8E5M2"},
                                        {17, "FP8E8M0"}}));
  enums.link_type = DbEnum(WithUnknown({{0, "ON_CHIP"},
                                        {1, "HCCS"},
                                        {2, "PCIE"},
                                        {3, "ROCE"},
                                        {4, "SIO"},
                                        {5, "HCCS_SW"},
                                        {6, "STANDARD_ROCE"},
                                        {7, "UB"},
                                        {8, "UBoE"}}));
  enums.transport_type =
      DbEnum(WithUnknown({{0, "SDMA"}, {1, "RDMA"}, {2, "LOCAL"}, {3, "UB"}, {4, "ROCE"}}));
  enums.rdma_type = DbEnum(WithUnknown({{0, "RDMA_SEND_NOTIFY"}, {1, "RDMA_SEND_PAYLOAD"}}));
  enums.module = DbEnum(ProfModules());
}

void WriteProfEnums(DbContext& ctx) {
  SqliteWriter& db = ctx.db;
  DbEnum({{5000, "runtime"},
          {5500, "communication"},
          {10000, "node"},
          {15000, "model"},
          {20000, "acl"}})
      .Write(db, "ENUM_API_TYPE");
  ctx.enums.module.Write(db, "ENUM_MODULE");
  ctx.enums.data_type.Write(db, "ENUM_HCCL_DATA_TYPE");
  ctx.enums.link_type.Write(db, "ENUM_HCCL_LINK_TYPE");
  ctx.enums.transport_type.Write(db, "ENUM_HCCL_TRANSPORT_TYPE");
  ctx.enums.rdma_type.Write(db, "ENUM_HCCL_RDMA_TYPE");
  DbEnum({{0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}})
      .Write(db, "ENUM_MSTX_EVENT_TYPE");
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
  DbEnum({{0, "COMPUTE"},
          {1, "COMMUNICATION"},
          {2, "COMM_NOT_OVERLAP_COMP"},
          {3, "FREE"},
          {65535, "RESERVE"}})
      .Write(db, "ENUM_OVERLAP_ANALYSIS_TYPE");
}

}  // namespace steplens::exporting
