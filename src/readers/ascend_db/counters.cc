#include "readers/ascend_db/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace steplens::readers {
namespace {

using store::kNone;
using store::TrackId;

// What the db's value is divided by to be in the unit of the text.
constexpr double kMb = 1 << 20;
constexpr double kKb = 1 << 10;
constexpr double kFraction = 100;  // from percent
constexpr double kUs = 1000;       // from ns

// A column of a sampled table. In `name` and `label` "{0}" stands for the instance's number, "{1}"
// for its text.
struct Series {
  std::string_view column;
  std::string_view name;
  std::string_view label;
  double divisor = 1;
  std::string_view added_column = {};  // the value is the sum of both
};

// A sampled table: which columns tell instances apart (none: empty) and which are series.
struct Source {
  std::string_view table;
  ExporterProcess process;
  std::string_view number_column;
  std::string_view text_column;  // an id of STRING_IDS
  std::vector<Series> series;
};

std::vector<Source> HostSources() {
  return {
      {"CPU_USAGE", kCpuUsage, "cpuId", "", {{"usage", "CPU {0}", "Usage(%)"}}},
      {"HOST_MEM_USAGE", kMemoryUsage, "", "", {{"usage", "Memory Usage", "Usage(%)"}}},
      {"HOST_NETWORK_USAGE", kNetworkUsage, "", "", {{"usage", "Network Usage", "Usage(%)"}}},
      {"HOST_DISK_USAGE", kDiskUsage, "", "", {{"usage", "Disk Usage", "Usage(%)"}}},
  };
}

std::vector<Source> MemorySources() {
  return {
      {"NPU_MEM",
       kNpuMem,
       "",
       "type",
       {{"ddr", "{1}/DDR", "KB", kKb},
        {"hbm", "{1}/HBM", "KB", kKb},
        {"ddr", "{1}/Memory", "KB", kKb, "hbm"}}},
      {"HBM", kHbm, "hbmId", "type", {{"bandwidth", "HBM {0}/{1}", "{1}(MB/s)", kMb}}},
      {"DDR",
       kDdr,
       "",
       "",
       {{"read", "Read", "Read(MB/s)", kMb}, {"write", "Write", "Write(MB/s)", kMb}}},
      {"LLC",
       kLlc,
       "llcId",
       "mode",
       {{"throughput", "LLC {0} {1}/Throughput", "Throughput(MB/s)", kMb},
        {"hitRate", "LLC {0} {1}/Hit Rate", "Hit Rate(%)", kFraction}}},
  };
}

std::vector<Source> SocSources(bool is_hccl_era) {
  return {
      {"AICORE_FREQ", kAiCoreFreq, "", "", {{"freq", "AI Core Freq", "MHz"}}},
      {"ACC_PMU",
       kAccPmu,
       "accId",
       "",
       {{"readBwLevel", "read_bandwidth", "{0}"},
        {"writeBwLevel", is_hccl_era ? "write_band_width" : "write_bandwidth", "{0}"},
        {"readOstLevel", "read_ost", "{0}"},
        {"writeOstLevel", "write_ost", "{0}"}}},
      {"SOC_BANDWIDTH_LEVEL",
       kStarsSocInfo,
       "",
       "",
       {{"l2BufferBwLevel", "L2 Buffer Bw Level", "L2 Buffer Bw Level"},
        {"mataBwLevel", "Mata Bw Level", "Mata Bw Level"}}},
      {"QOS", kQos, "", "eventName", {{"bandwidth", "QoS {1}", "value", kMb}}},
      {"SAMPLE_PMU_TIMELINE",
       kAiCoreUtilization,
       "coreId",
       "",
       {{"usage", "Core {0}", "Usage(%)"},
        {"freq", "Core {0}", "MHz"},
        {"totalCycle", "Core {0}", "Cycles"}}},
      {"SIO",
       kSio,
       "",
       "name",
       {{"rxReq", "req_rx", "{1}", kMb},
        {"rxRsp", "rsp_rx", "{1}", kMb},
        {"rxSnp", "snp_rx", "{1}", kMb},
        {"rxDat", "dat_rx", "{1}", kMb},
        {"txReq", "req_tx", "{1}", kMb},
        {"txRsp", "rsp_tx", "{1}", kMb},
        {"txSnp", "snp_tx", "{1}", kMb},
        {"txDat", "dat_tx", "{1}", kMb}}},
  };
}

// The text trace shows rates in percent that it derives; here are the counts behind them.
std::vector<Series> PortSeries() {
  return {
      {"rxPacketRate", "Port {0}/Rx", "Rx Packets"}, {"rxByteRate", "Port {0}/Rx", "Rx(MB/s)", kMb},
      {"rxErrors", "Port {0}/Rx", "Rx Errors"},      {"rxDropped", "Port {0}/Rx", "Rx Dropped"},
      {"txPacketRate", "Port {0}/Tx", "Tx Packets"}, {"txByteRate", "Port {0}/Tx", "Tx(MB/s)", kMb},
      {"txErrors", "Port {0}/Tx", "Tx Errors"},      {"txDropped", "Port {0}/Tx", "Tx Dropped"}};
}

std::vector<Source> LinkSources() {
  std::vector<Source> sources = {
      {"HCCS",
       kHccs,
       "",
       "",
       {{"rxThroughput", "Rx", "Rx(MB/s)", kMb}, {"txThroughput", "Tx", "Tx(MB/s)", kMb}}},
      {"PCIE",
       kPcie,
       "",
       "",
       {{"rxCplAvg", "PCIe_cpl", "Rx", kMb},
        {"txCplAvg", "PCIe_cpl", "Tx", kMb},
        {"rxNonpostAvg", "PCIe_nonpost", "Rx", kMb},
        {"txNonpostAvg", "PCIe_nonpost", "Tx", kMb},
        {"txNonpostLatencyAvg", "PCIe_nonpost_latency", "Tx", kUs},
        {"rxPostAvg", "PCIe_post", "Rx", kMb},
        {"txPostAvg", "PCIe_post", "Tx", kMb}}},
      {"NIC", kNic, "funcId", "", PortSeries()},
      {"ROCE", kRoce, "funcId", "", PortSeries()},
  };
  Source& netdev = sources.emplace_back(Source{"NETDEV_STATS", kNetdevStats, "", "", {}});
  for (const std::string_view packets :
       {"macTxPfcPkt", "macRxPfcPkt", "roceTxPkt", "roceRxPkt", "roceTxErrPkt", "roceRxErrPkt",
        "roceTxCnpPkt", "roceRxCnpPkt", "roceNewPktRty"}) {
    netdev.series.push_back({packets, packets, "packets"});
  }
  for (const std::string_view bytes :
       {"macTxByte", "macRxByte", "macTxBadByte", "macRxBadByte", "nicTxByte", "nicRxByte"}) {
    netdev.series.push_back({bytes, bytes, "bytes"});
  }
  for (const std::string_view rate :
       {"macTxBandwidth", "macRxBandwidth", "nicTxBandwidth", "nicRxBandwidth"}) {
    netdev.series.push_back({rate, rate, "MB/s", kMb});
  }
  return sources;
}

// How the text trace writes the kinds that the db has in small letters.
std::string_view DisplayText(std::string_view text) {
  if (text == "read") return "Read";
  if (text == "write") return "Write";
  if (text == "app") return "APP";
  if (text == "device") return "Device";
  constexpr std::string_view kQosPrefix = "QoS ";  // newer files have it in the name already
  return text.starts_with(kQosPrefix) ? text.substr(kQosPrefix.size()) : text;
}

class SourceReader {
 public:
  SourceReader(DbContext& db, const Source& source) : db_(db), source_(source) {}

  Status Read() {
    const size_t first = db_.out.counters.size();
    std::vector<std::string> columns = {"timestampNs", "?deviceId", Expected(source_.number_column),
                                        Expected(source_.text_column)};
    for (const Series& series : source_.series) {
      columns.push_back(Expected(series.column));
      columns.push_back(Expected(series.added_column));
    }
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    SL_RETURN_IF_ERROR(
        ReadTable(db_, source_.table, names, [&](Scan& row) { return ReadRow(row); }));
    SortFrom(first);
    return {};
  }

 private:
  enum Column : size_t { kTime, kDevice, kNumber, kText, kFirstSeries };
  using Instance = std::tuple<int64_t, int64_t, int64_t>;  // device, number, text id

  // Without a name: a column of NULLs.
  static std::string Expected(std::string_view column) {
    return column.empty() ? "?" : fmt::format("!{}", column);
  }

  bool ReadRow(Scan& row) {
    const int64_t ts_ns = row.Int(kTime);
    if (ts_ns < 0) return false;
    const Instance instance(row.Int(kDevice), row.Int(kNumber), row.Int(kText));
    if (current_ == nullptr || instance != current_instance_) Select(instance);
    for (size_t i = 0; i < source_.series.size(); ++i) {
      const Series& series = source_.series[i];
      double value = row.Double(kFirstSeries + 2 * i);
      if (!series.added_column.empty()) value += row.Double(kFirstSeries + 2 * i + 1);
      if (std::isnan(value)) continue;
      TrackId& track = (*current_)[i];
      if (track == store::kNoTrack) track = AddTrack(series, instance);
      db_.out.counters.Append({track, ts_ns, value / series.divisor});
    }
    return true;
  }

  void Select(const Instance& instance) {
    current_instance_ = instance;
    current_ = &tracks_[instance];
    current_->resize(source_.series.size(), store::kNoTrack);
  }

  TrackId AddTrack(const Series& series, const Instance& instance) {
    const auto [device, number, text_id] = instance;
    const std::string text(DisplayText(db_.out.Text(db_.String(text_id))));
    const int64_t known_number = number == kNone ? 0 : number;
    return db_.tracks.AddCounter(source_.process, device == kNone ? db_.device : device,
                                 fmt::format(fmt::runtime(series.name), known_number, text),
                                 fmt::format(fmt::runtime(series.label), known_number, text));
  }

  // Some tables are not in the order of time (AICORE_FREQ has the ends of the capture last).
  void SortFrom(size_t first) {
    store::CounterTable& counters = db_.out.counters;
    const auto times = counters.ts_ns.span().subspan(first);
    if (std::is_sorted(times.begin(), times.end())) return;
    std::vector<store::CounterTable::Row> rows;
    for (size_t i = first; i < counters.size(); ++i) rows.push_back(counters.Get(i));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
    for (size_t i = 0; i < rows.size(); ++i) {
      counters.track.Set(first + i, rows[i].track);
      counters.ts_ns.Set(first + i, rows[i].ts_ns);
      counters.value.Set(first + i, rows[i].value);
    }
  }

  DbContext& db_;
  const Source& source_;
  std::map<Instance, std::vector<TrackId>> tracks_;
  Instance current_instance_;
  std::vector<TrackId>* current_ = nullptr;
};

}  // namespace

Status ReadCounters(DbContext& db) {
  for (const auto& sources :
       {SocSources(db.is_hccl_era), MemorySources(), LinkSources(), HostSources()}) {
    for (const Source& source : sources) SL_RETURN_IF_ERROR(SourceReader(db, source).Read());
  }
  return {};
}

}  // namespace steplens::readers
