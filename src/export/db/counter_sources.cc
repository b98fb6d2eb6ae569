#include "export/db/counter_sources.h"

namespace steplens::exporting {
namespace {

using Columns = std::vector<CounterColumn>;

constexpr double kMb = 1 << 20;
constexpr double kKb = 1 << 10;
constexpr double kPercent = 100;  // the trace has fractions
constexpr double kNsPerUs = 1000;

const CounterColumn kDevice{"deviceId INTEGER", CounterRole::kDevice};
const CounterColumn kTime{"timestampNs INTEGER", CounterRole::kTime};
const CounterColumn kTimeNumeric{"timestampNs NUMERIC", CounterRole::kTime};

CounterColumn Number(std::string column) {
  return {std::move(column) + " INTEGER", CounterRole::kNumber};
}
CounterColumn Text(std::string column) {
  return {std::move(column) + " INTEGER", CounterRole::kText};
}
CounterColumn Value(std::string column, std::string_view name, std::string_view label,
                    double factor = 1) {
  return {std::move(column), CounterRole::kValue, name, label, factor};
}
CounterColumn Empty(std::string column) { return {std::move(column), CounterRole::kEmpty}; }

void AppendSoc(std::vector<CounterSource>& out) {
  out.push_back({"AICORE_FREQ",
                 "AI Core Freq",
                 {kDevice, kTimeNumeric, Value("freq INTEGER", "AI Core Freq", "MHz")}});
  out.push_back({"ACC_PMU",
                 "Acc PMU",
                 {Number("accId"), Value("readBwLevel INTEGER", "read_bandwidth", "{0}"),
                  Value("writeBwLevel INTEGER", "write_band_width", "{0}"),
                  Value("readOstLevel INTEGER", "read_ost", "{0}"),
                  Value("writeOstLevel INTEGER", "write_ost", "{0}"), kTimeNumeric, kDevice}});
  out.push_back(
      {"SOC_BANDWIDTH_LEVEL",
       "Stars Soc Info",
       {Value("l2BufferBwLevel INTEGER", "L2 Buffer Bw Level", "L2 Buffer Bw Level"),
        Value("mataBwLevel INTEGER", "Mata Bw Level", "Mata Bw Level"), kTimeNumeric, kDevice}});
  out.push_back(
      {"QOS",
       "QoS",
       {kDevice, Text("eventName"), Value("bandwidth NUMERIC", "QoS {1}", "value", kMb), kTime}});
  out.push_back(
      {"SAMPLE_PMU_TIMELINE",
       "AI Core Utilization",
       {kDevice, kTime, Value("totalCycle INTEGER", "Core {0}", "Cycles"),
        Value("usage NUMERIC", "Core {0}", "Usage(%)"), Value("freq NUMERIC", "Core {0}", "MHz"),
        Number("coreId"), Empty("coreType INTEGER")}});
}

void AppendMemory(std::vector<CounterSource>& out) {
  out.push_back({"NPU_MEM",
                 "NPU MEM",
                 {Text("type"), Value("ddr NUMERIC", "{1}/DDR", "KB", kKb),
                  Value("hbm NUMERIC", "{1}/HBM", "KB", kKb), kTime, kDevice}});
  out.push_back({"HBM",
                 "HBM",
                 {kDevice, kTime, Value("bandwidth NUMERIC", "HBM {0}/{1}", "{1}(MB/s)", kMb),
                  Number("hbmId"), Text("type")}});
  out.push_back({"DDR",
                 "DDR",
                 {kDevice, kTime, Value("read NUMERIC", "Read", "Read(MB/s)", kMb),
                  Value("write NUMERIC", "Write", "Write(MB/s)", kMb)}});
  out.push_back({"LLC",
                 "LLC",
                 {kDevice, Number("llcId"), kTime,
                  Value("hitRate REAL", "LLC {0} {1}/Hit Rate", "Hit Rate(%)", kPercent),
                  Value("throughput INTEGER", "LLC {0} {1}/Throughput", "Throughput(MB/s)", kMb),
                  Text("mode")}});
}

Columns PortColumns() {
  return {kDevice,
          kTime,
          Empty("bandwidth INTEGER"),
          Value("rxPacketRate NUMERIC", "Port {0}/Rx", "Rx Packets"),
          Value("rxByteRate NUMERIC", "Port {0}/Rx", "Rx(MB/s)", kMb),
          Empty("rxPackets INTEGER"),
          Empty("rxBytes INTEGER"),
          Value("rxErrors INTEGER", "Port {0}/Rx", "Rx Errors"),
          Value("rxDropped INTEGER", "Port {0}/Rx", "Rx Dropped"),
          Value("txPacketRate NUMERIC", "Port {0}/Tx", "Tx Packets"),
          Value("txByteRate NUMERIC", "Port {0}/Tx", "Tx(MB/s)", kMb),
          Empty("txPackets INTEGER"),
          Empty("txBytes INTEGER"),
          Value("txErrors INTEGER", "Port {0}/Tx", "Tx Errors"),
          Value("txDropped INTEGER", "Port {0}/Tx", "Tx Dropped"),
          Number("funcId")};
}

// Of each kind of transfer the table has the smallest, largest and average rate; the trace shows
// the last.
Columns PcieColumns() {
  Columns columns = {kDevice, kTime};
  const auto add = [&](const std::string& column, std::string_view name, std::string_view label,
                       double factor) {
    columns.push_back(Empty(column + "Min NUMERIC"));
    columns.push_back(Empty(column + "Max NUMERIC"));
    columns.push_back(Value(column + "Avg NUMERIC", name, label, factor));
  };
  add("txPost", "PCIe_post", "Tx", kMb);
  add("txNonpost", "PCIe_nonpost", "Tx", kMb);
  add("txCpl", "PCIe_cpl", "Tx", kMb);
  add("txNonpostLatency", "PCIe_nonpost_latency", "Tx", kNsPerUs);
  add("rxPost", "PCIe_post", "Rx", kMb);
  add("rxNonpost", "PCIe_nonpost", "Rx", kMb);
  add("rxCpl", "PCIe_cpl", "Rx", kMb);
  return columns;
}

void AppendLinks(std::vector<CounterSource>& out) {
  out.push_back({"HCCS",
                 "HCCS",
                 {kDevice, kTime, Value("txThroughput NUMERIC", "Tx", "Tx(MB/s)", kMb),
                  Value("rxThroughput NUMERIC", "Rx", "Rx(MB/s)", kMb)}});
  out.push_back({"PCIE", "PCIe", PcieColumns()});
  out.push_back({"NIC", "NIC", PortColumns()});
  out.push_back({"ROCE", "RoCE", PortColumns()});
}

void AppendNetdev(std::vector<CounterSource>& out) {
  struct Series {
    std::string_view name;
    std::string_view unit;
  };
  constexpr Series kSeries[] = {
      {"macTxPfcPkt", "packets"},  {"macRxPfcPkt", "packets"},  {"macTxByte", "bytes"},
      {"macTxBandwidth", "MB/s"},  {"macRxByte", "bytes"},      {"macRxBandwidth", "MB/s"},
      {"macTxBadByte", "bytes"},   {"macRxBadByte", "bytes"},   {"roceTxPkt", "packets"},
      {"roceRxPkt", "packets"},    {"roceTxErrPkt", "packets"}, {"roceRxErrPkt", "packets"},
      {"roceTxCnpPkt", "packets"}, {"roceRxCnpPkt", "packets"}, {"roceNewPktRty", "packets"},
      {"nicTxByte", "bytes"},      {"nicTxBandwidth", "MB/s"},  {"nicRxByte", "bytes"},
      {"nicRxBandwidth", "MB/s"}};
  CounterSource source{"NETDEV_STATS", "Netdev Stats", {kDevice, kTime}};
  for (const Series& series : kSeries)
    source.columns.push_back(Value(std::string(series.name) + " NUMERIC", series.name, series.unit,
                                   series.unit == "MB/s" ? kMb : 1));
  out.push_back(std::move(source));
}

void AppendHost(std::vector<CounterSource>& out) {
  out.push_back({"CPU_USAGE",
                 "CPU Usage",
                 {kTime, Number("cpuId"), Value("usage NUMERIC", "CPU {0}", "Usage(%)")}});
  out.push_back({"HOST_MEM_USAGE",
                 "Memory Usage",
                 {kTime, Value("usage NUMERIC", "Memory Usage", "Usage(%)")}});
  out.push_back({"HOST_DISK_USAGE",
                 "Disk Usage",
                 {kTime, Empty("readRate NUMERIC"), Empty("writeRate NUMERIC"),
                  Value("usage NUMERIC", "Disk Usage", "Usage(%)")}});
  out.push_back(
      {"HOST_NETWORK_USAGE",
       "Network Usage",
       {kTime, Value("usage NUMERIC", "Network Usage", "Usage(%)"), Empty("speed NUMERIC")}});
}

}  // namespace

void AddProfSources(std::vector<CounterSource>& sources) {
  for (CounterSource& source : sources) {
    if (source.table == "AICORE_FREQ" || source.table == "QOS")
      source.columns.push_back({"dieId NUMERIC", CounterRole::kNoNumber});
    if (source.table != "QOS") continue;
    for (CounterColumn& column : source.columns) {
      if (column.role == CounterRole::kValue) column.name = "{1}";  // with "QoS "
    }
  }
  CounterSource sio{"SIO", "SIO", {{"deviceId NUMERIC", CounterRole::kDevice}}};
  sio.columns.push_back({"name NUMERIC", CounterRole::kText});
  sio.columns.push_back(kTimeNumeric);
  constexpr std::pair<std::string_view, std::string_view> kSeries[] = {
      {"rxReq", "req_rx"}, {"rxRsp", "rsp_rx"}, {"rxSnp", "snp_rx"}, {"rxDat", "dat_rx"},
      {"txReq", "req_tx"}, {"txRsp", "rsp_tx"}, {"txSnp", "snp_tx"}, {"txDat", "dat_tx"}};
  for (const auto& [column, name] : kSeries)
    sio.columns.push_back(Value(std::string(column) + " NUMERIC", name, "{1}", kMb));
  sources.push_back(std::move(sio));
}

std::vector<CounterSource> CounterSources() {
  std::vector<CounterSource> sources;
  AppendSoc(sources);
  AppendMemory(sources);
  AppendLinks(sources);
  AppendNetdev(sources);
  AppendHost(sources);
  return sources;
}

}  // namespace steplens::exporting
