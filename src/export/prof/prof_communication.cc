#include "export/prof/prof_communication.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "analysis/communication/lower_case.h"
#include "analysis/time_math.h"
#include "base/json_writer.h"
#include "export/db/sqlite_writer.h"
#include "export/prof/prof_export.h"
#include "export/text/append.h"
#include "export/text/file_out.h"

namespace steplens::exporting {

using store::kNone;
using store::TraceStore;

bool IsPayloadSend(const TraceStore& store, uint32_t row) {
  return store.Text(store.comm_tasks.rdma_type[row]) == "RDMA_SEND_PAYLOAD";
}

PayloadRun FindPayloadRun(const TraceStore& store, const std::vector<uint32_t>& plane, size_t first,
                          std::string_view op_name) {
  // A send is followed by a notify and its acknowledgement; a collective exchanges two more.
  const std::string name = analysis::LowerCase(op_name);
  const bool is_send = name.find("send") != name.npos || name.find("receive") != name.npos;
  const size_t closing_tasks = is_send ? 3 : 5;
  const store::CommTaskTable& tasks = store.comm_tasks;
  PayloadRun run;
  for (size_t i = first; i < plane.size() && IsPayloadSend(store, plane[i]); ++i) {
    ++run.count;
    run.bytes += std::max<int64_t>(0, tasks.size_bytes[plane[i]]);
  }
  const size_t closing = first + run.count + closing_tasks - 2;
  if (closing < plane.size()) {
    run.closing = plane[closing];
    run.dur_ns = analysis::EndNs(tasks.begin_ns[run.closing], tasks.dur_ns[run.closing]) -
                 tasks.begin_ns[plane[first]];
  }
  return run;
}

std::vector<std::vector<uint32_t>> TasksOfCommOps(const TraceStore& store) {
  std::vector<std::vector<uint32_t>> tasks(store.comm_ops.size());
  for (uint32_t row = 0; row < store.comm_tasks.size(); ++row) {
    const int64_t op = store.comm_tasks.comm_op[row];
    if (op >= 0 && op < static_cast<int64_t>(tasks.size()))
      tasks[static_cast<size_t>(op)].push_back(row);
  }
  return tasks;
}

namespace {

// The tasks of an operation by plane, each by start.
std::map<int64_t, std::vector<uint32_t>> PlanesOf(const TraceStore& store,
                                                  const std::vector<uint32_t>& rows) {
  std::map<int64_t, std::vector<uint32_t>> planes;
  for (const uint32_t row : rows) planes[store.comm_tasks.plane[row]].push_back(row);
  for (auto& [plane, list] : planes) {
    std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return store.comm_tasks.begin_ns[a] < store.comm_tasks.begin_ns[b];
    });
  }
  return planes;
}

double GigabytesPerSecond(int64_t bytes, int64_t ns) {
  return ns > 0 && bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

}  // namespace

std::vector<double> SmallOpBandwidths(const TraceStore& store) {
  const store::CommTaskTable& tasks = store.comm_tasks;
  std::vector<double> out(tasks.size());
  for (size_t row = 0; row < tasks.size(); ++row)
    out[row] = GigabytesPerSecond(tasks.size_bytes[row], tasks.dur_ns[row]);
  const std::vector<std::vector<uint32_t>> all = TasksOfCommOps(store);
  for (size_t op = 0; op < all.size(); ++op) {
    const bool has_payload = std::any_of(all[op].begin(), all[op].end(),
                                         [&](uint32_t row) { return IsPayloadSend(store, row); });
    if (!has_payload) continue;
    for (const auto& [plane, list] : PlanesOf(store, all[op])) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (!IsPayloadSend(store, list[i])) continue;
        const PayloadRun run = FindPayloadRun(store, list, i, store.Text(store.comm_ops.name[op]));
        for (size_t k = 0; run.closing != store::kNoId && k < run.count; ++k)
          out[list[i + k]] = GigabytesPerSecond(run.bytes, run.dur_ns);
        i += run.count - 1;
      }
    }
  }
  return out;
}

namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kBytesPerMb = 1e6;
constexpr std::string_view kTotal = "Total HCCL Operators";
constexpr std::string_view kLinks[] = {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"};
enum LinkPlace : size_t { kRdma, kHccs, kPcie, kSdma, kSio, kLinkCount };

double Round(double value, double steps) { return std::round(value * steps) / steps; }
double FourDecimals(double value) { return Round(value, 1e4); }

// Packets of one size.
struct Packets {
  int64_t count = 0;
  int64_t time_ns = 0;
};

struct LinkTraffic {
  int64_t bytes = 0;
  int64_t time_ns = 0;
  std::map<int64_t, Packets> packets;  // by size

  void Add(int64_t size, int64_t ns) {
    bytes += size;
    time_ns += ns;
    Packets& same = packets[size];
    ++same.count;
    same.time_ns += ns;
  }
  double Bandwidth() const {
    return time_ns > 0 ? FourDecimals(GigabytesPerSecond(bytes, time_ns)) : 0;
  }
  double LargeRatio(size_t link) const {
    const int64_t least = link == kRdma ? 500'000 : 32'000'000;
    int64_t large = 0;
    int64_t all = 0;
    for (const auto& [size, same] : packets) {
      all += same.count;
      if (size > least) large += same.count;
    }
    return all > 0 && link != kSdma
               ? FourDecimals(static_cast<double>(large) / static_cast<double>(all))
               : 0;
  }
};

using Pair = std::pair<int64_t, int64_t>;  // sending and receiving rank

struct PairTraffic {
  std::string_view transport;  // empty: of no known kind
  int64_t bytes = 0;
  int64_t time_ns = 0;
};

// One operation, or the sum of all.
struct AnalysedOp {
  std::string name;
  std::string group;
  int64_t begin_ns = kNone;
  int64_t elapse_ns = 0;
  int64_t transit_ns = 0;
  int64_t wait_ns = 0;
  int64_t synchronization_ns = 0;
  std::array<LinkTraffic, kLinkCount> links;
  std::map<Pair, PairTraffic> pairs;

  int64_t idle_ns() const { return elapse_ns - transit_ns - wait_ns; }
  double RatioOf(int64_t ns) const {
    const auto whole = static_cast<double>(ns + transit_ns);
    return whole > 0 ? FourDecimals(static_cast<double>(ns) / whole) : 0;
  }
};

class OpAnalyser {
 public:
  OpAnalyser(const TraceStore& store, size_t op, const std::vector<uint32_t>& rows)
      : store_(store), tasks_(store.comm_tasks), rows_(rows) {
    out_.name = store.Text(store.comm_ops.name[op]);
    out_.group = store.Text(store.comm_ops.group_id[op]);
  }

  std::optional<AnalysedOp> Analyse() {
    const auto planes = PlanesOf(store_, rows_);
    std::optional<int64_t> master_plane;
    for (const uint32_t row : rows_) {
      if (tasks_.is_master[row] != 1) continue;
      if (!master_plane) master_plane = tasks_.plane[row];
      out_.begin_ns = out_.begin_ns == kNone ? tasks_.begin_ns[row]
                                             : std::min(out_.begin_ns, tasks_.begin_ns[row]);
    }
    if (!master_plane) return std::nullopt;
    MeasureTimes(planes.at(*master_plane));
    for (const auto& [plane, list] : planes) MeasureTraffic(list);
    LinkTraffic& sdma = out_.links[kSdma];
    for (const size_t link : {kHccs, kPcie, kSio}) {
      sdma.bytes += out_.links[link].bytes;
      sdma.time_ns += out_.links[link].time_ns;
    }
    return out_;
  }

 private:
  bool IsSdma(uint32_t row) const {
    const std::string_view name = store_.Text(tasks_.name[row]);
    return (name == "Memcpy" || name == "Reduce_Inline") &&
           store_.Text(tasks_.transport[row]) == "SDMA";
  }
  bool IsOnChip(uint32_t row) const { return store_.Text(tasks_.link[row]) == "ON_CHIP"; }

  void MeasureTimes(const std::vector<uint32_t>& plane) {
    int64_t last_ns = kNone;
    bool has_transit = false;
    for (const uint32_t row : plane)
      last_ns = std::max(last_ns, analysis::EndNs(tasks_.begin_ns[row], tasks_.dur_ns[row]));
    out_.elapse_ns = last_ns - tasks_.begin_ns[plane.front()];
    for (size_t i = 0; i < plane.size(); ++i) {
      const uint32_t row = plane[i];
      if (IsPayloadSend(store_, row)) {
        const PayloadRun run = FindPayloadRun(store_, plane, i, out_.name);
        if (run.closing != store::kNoId) {
          out_.transit_ns += run.dur_ns;
          has_transit = true;
          constexpr size_t kClosing = 5;
          constexpr size_t kClosingOfSend = 3;
          const bool is_send = plane.size() > i + run.count + kClosingOfSend - 2 &&
                               plane[i + run.count + kClosingOfSend - 2] == run.closing;
          i += run.count + (is_send ? kClosingOfSend : kClosing) - 2;
        } else {
          i += run.count - 1;
        }
      } else if (IsSdma(row) && !IsOnChip(row)) {
        out_.transit_ns += tasks_.dur_ns[row];
        has_transit = true;
      } else if (store_.Text(tasks_.name[row]) == "Notify_Wait") {
        out_.wait_ns += tasks_.dur_ns[row];
        if (!has_transit) out_.synchronization_ns += tasks_.dur_ns[row];
      }
    }
  }

  void MeasureTraffic(const std::vector<uint32_t>& plane) {
    for (size_t i = 0; i < plane.size(); ++i) {
      const uint32_t row = plane[i];
      if (IsPayloadSend(store_, row)) {
        const PayloadRun run = FindPayloadRun(store_, plane, i, out_.name);
        if (run.closing != store::kNoId) {
          out_.links[kRdma].Add(run.bytes, run.dur_ns);
          AddPair(row, "RDMA", run.bytes, run.dur_ns);
        }
        i += run.count - 1;
      } else if (IsSdma(row)) {
        const int64_t bytes = std::max<int64_t>(0, tasks_.size_bytes[row]);
        const std::string_view link = store_.Text(tasks_.link[row]);
        const bool is_hccs = link == "HCCS" || link == "HCCS_SW";
        if (!IsOnChip(row)) {
          const size_t place = is_hccs          ? kHccs
                               : link == "PCIE" ? kPcie
                               : link == "SIO"  ? kSio
                                                : kSdma;
          out_.links[place].Add(bytes, tasks_.dur_ns[row]);
        }
        AddPair(row,
                IsOnChip(row)                     ? "LOCAL"
                : is_hccs                         ? "HCCS"
                : link == "PCIE" || link == "SIO" ? link
                                                  : std::string_view(),
                bytes, tasks_.dur_ns[row]);
      }
    }
  }

  void AddPair(uint32_t row, std::string_view transport, int64_t bytes, int64_t ns) {
    constexpr int64_t kNobody = 4294967295;
    const int64_t from = tasks_.src_rank[row];
    const int64_t to = tasks_.dst_rank[row] == kNobody ? from : tasks_.dst_rank[row];
    if (from == kNobody || from == kNone) return;
    PairTraffic& pair = out_.pairs[{from, to}];
    pair.transport = transport;
    pair.bytes += bytes;
    pair.time_ns += ns;
  }

  const TraceStore& store_;
  const store::CommTaskTable& tasks_;
  const std::vector<uint32_t>& rows_;
  AnalysedOp out_;
};

AnalysedOp SumOf(const std::vector<AnalysedOp>& ops) {
  AnalysedOp total;
  total.name = kTotal;
  for (const AnalysedOp& op : ops) {
    total.elapse_ns += op.elapse_ns;
    total.transit_ns += op.transit_ns;
    total.wait_ns += op.wait_ns;
    total.synchronization_ns += op.synchronization_ns;
    for (size_t link = 0; link < kLinkCount; ++link) {
      total.links[link].bytes += op.links[link].bytes;
      total.links[link].time_ns += op.links[link].time_ns;
      for (const auto& [size, same] : op.links[link].packets) {
        total.links[link].packets[size].count += same.count;
        total.links[link].packets[size].time_ns += same.time_ns;
      }
    }
    for (const auto& [ranks, traffic] : op.pairs) {
      PairTraffic& pair = total.pairs[ranks];
      pair.transport = traffic.transport;
      pair.bytes += traffic.bytes;
      pair.time_ns += traffic.time_ns;
    }
  }
  return total;
}

std::vector<AnalysedOp> AnalyseAllOps(const TraceStore& store) {
  std::vector<AnalysedOp> out;
  const std::vector<std::vector<uint32_t>> tasks = TasksOfCommOps(store);
  for (size_t op = 0; op < tasks.size(); ++op) {
    if (auto analysed = OpAnalyser(store, op, tasks[op]).Analyse())
      out.push_back(std::move(*analysed));
  }
  return out;
}

double Milliseconds(int64_t ns) { return static_cast<double>(ns) / kNsPerMs; }
double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / kBytesPerMb; }

void Field(JsonWriter& json, std::string_view key, double value) {
  std::string text;
  AppendJsonNumber(text, value);
  json.Key(key).Raw(text);
}

void WriteLinks(JsonWriter& json, const AnalysedOp& op) {
  json.Key("Communication Bandwidth Info").BeginObject();
  for (size_t link = 0; link < kLinkCount; ++link) {
    const LinkTraffic& traffic = op.links[link];
    json.Key(kLinks[link]).BeginObject();
    Field(json, "Transit Size(MB)", Megabytes(traffic.bytes));
    Field(json, "Transit Time(ms)", Milliseconds(traffic.time_ns));
    Field(json, "Bandwidth(GB/s)", traffic.Bandwidth());
    Field(json, "Large Packet Ratio", traffic.LargeRatio(link));
    json.Key("Size Distribution").BeginObject();
    for (const auto& [size, same] : traffic.packets) {
      std::string count;
      AppendJsonNumber(count, static_cast<double>(same.count));
      std::string time;
      AppendJsonNumber(time, Milliseconds(same.time_ns));
      json.Key(NumberText(Megabytes(size))).BeginArray().Raw(count).Raw(time).EndArray();
    }
    json.EndObject().EndObject();
  }
  json.EndObject();
}

std::string KeyOf(const AnalysedOp& op) {
  return op.name == kTotal ? op.name : op.name + "@" + op.group;
}

void WriteTimes(JsonWriter& json, const AnalysedOp& op) {
  json.Key(KeyOf(op)).BeginObject().Key("Communication Time Info").BeginObject();
  if (op.begin_ns == kNone) json.Key("Start Timestamp(us)").Raw("0");
  if (op.begin_ns != kNone) {
    std::string us = std::to_string(op.begin_ns / 1000);
    std::string rest = std::to_string(1000 + op.begin_ns % 1000).substr(1);
    while (rest.size() > 1 && rest.back() == '0') rest.pop_back();
    json.Key("Start Timestamp(us)").Raw(us + "." + rest);
  }
  Field(json, "Elapse Time(ms)", Milliseconds(op.elapse_ns));
  Field(json, "Transit Time(ms)", Milliseconds(op.transit_ns));
  Field(json, "Wait Time(ms)", Milliseconds(op.wait_ns));
  Field(json, "Synchronization Time(ms)", Milliseconds(op.synchronization_ns));
  Field(json, "Idle Time(ms)", Milliseconds(op.idle_ns()));
  Field(json, "Wait Time Ratio", op.RatioOf(op.wait_ns));
  Field(json, "Synchronization Time Ratio", op.RatioOf(op.synchronization_ns));
  json.EndObject();
  WriteLinks(json, op);
  json.EndObject();
}

double PairBandwidth(const PairTraffic& pair) {
  return FourDecimals(GigabytesPerSecond(pair.bytes, pair.time_ns));
}

void WritePairs(JsonWriter& json, const AnalysedOp& op) {
  json.Key(KeyOf(op)).BeginObject();
  for (const auto& [ranks, pair] : op.pairs) {
    json.Key(std::to_string(ranks.first) + "-" + std::to_string(ranks.second)).BeginObject();
    json.Key("Transport Type");
    pair.transport.empty() ? json.Raw("null") : json.String(pair.transport);
    Field(json, "Transit Size(MB)", Megabytes(pair.bytes));
    Field(json, "Transit Time(ms)", Milliseconds(pair.time_ns));
    Field(json, "Bandwidth(GB/s)", PairBandwidth(pair));
    json.EndObject();
  }
  json.EndObject();
}

Status WriteJson(const std::vector<AnalysedOp>& ops, const AnalysedOp& total,
                 void (*write)(JsonWriter&, const AnalysedOp&), const std::string& path) {
  JsonWriter json;
  json.BeginObject();
  for (const AnalysedOp& op : ops) write(json, op);
  write(json, total);
  return WriteWholeFile(path, json.EndObject().Take());
}

void WriteTimeTable(const std::vector<AnalysedOp>& ops, SqliteWriter& db) {
  TableWriter rows = db.Table("CommAnalyzerTime",
                              "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, "
                              "elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, "
                              "synchronization_time NUMERIC, idle_time NUMERIC");
  for (const AnalysedOp& op : ops) {
    rows.Text(op.name).Text(op.group).Real(static_cast<double>(op.begin_ns) / 1000);
    for (const int64_t ns :
         {op.elapse_ns, op.transit_ns, op.wait_ns, op.synchronization_ns, op.idle_ns()})
      rows.Real(Milliseconds(ns));
    rows.EndRow();
  }
}

void WriteTrafficTable(const std::vector<AnalysedOp>& ops, SqliteWriter& db) {
  TableWriter rows =
      db.Table("CommAnalyzerBandwidth",
               "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, "
               "transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, "
               "package_size NUMERIC, count NUMERIC, total_duration NUMERIC");
  for (const AnalysedOp& op : ops) {
    for (size_t link = 0; link < kLinkCount; ++link) {
      const LinkTraffic& traffic = op.links[link];
      if (traffic.bytes == 0 && traffic.time_ns == 0) continue;
      const auto write = [&](int64_t size, const Packets& same) {
        rows.Text(op.name).Text(op.group).Text(kLinks[link]).Real(Megabytes(traffic.bytes));
        rows.Real(Milliseconds(traffic.time_ns)).Real(traffic.Bandwidth());
        rows.Real(traffic.LargeRatio(link)).Real(Megabytes(size)).Int(same.count);
        rows.Real(Milliseconds(same.time_ns)).EndRow();
      };
      if (traffic.packets.empty()) write(0, {});
      for (const auto& [size, same] : traffic.packets) write(size, same);
    }
  }
}

void WritePairTable(const std::vector<AnalysedOp>& ops, SqliteWriter& db) {
  TableWriter rows = db.Table("CommAnalyzerMatrix",
                              "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, "
                              "transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, "
                              "bandwidth NUMERIC");
  for (const AnalysedOp& op : ops) {
    for (const auto& [ranks, pair] : op.pairs) {
      rows.Text(op.name).Text(op.group).IntText(ranks.first).IntText(ranks.second);
      pair.transport.empty() ? rows.Null() : rows.Text(pair.transport);
      rows.Real(Megabytes(pair.bytes)).Real(Milliseconds(pair.time_ns));
      rows.Real(PairBandwidth(pair)).EndRow();
    }
  }
}

}  // namespace

Status WriteProfAnalysis(const TraceStore& store, const ProfAnalysis& what,
                         const std::string& dir) {
  const std::vector<AnalysedOp> ops = AnalyseAllOps(store);
  if (ops.empty()) return {};
  const AnalysedOp total = SumOf(ops);
  if (what.has_text && what.has_times)
    SL_RETURN_IF_ERROR(WriteJson(ops, total, WriteTimes, dir + "/communication.json"));
  if (what.has_text && what.has_matrix)
    SL_RETURN_IF_ERROR(WriteJson(ops, total, WritePairs, dir + "/communication_matrix.json"));
  SL_ASSIGN_OR_RETURN(SqliteWriter db, SqliteWriter::Create(dir + "/communication_analyzer.db"));
  if (what.has_times) {
    WriteTimeTable(ops, db);
    WriteTrafficTable(ops, db);
  }
  if (what.has_matrix) WritePairTable(ops, db);
  return db.Commit();
}

}  // namespace steplens::exporting
