#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/json_number.h"
#include "analysis/cluster/recipes/recipes.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

constexpr std::string_view kTotal = "Total Op Info";

// The six times of an operation, in milliseconds, and sums of them.
struct Times {
  double elapse = 0;
  double transit = 0;
  double wait = 0;
  double synchronization = 0;
  double idle = 0;

  void Add(const CommTimeRow& row) {
    elapse += row.elapse_ms;
    transit += row.transit_ms;
    wait += row.wait_ms;
    synchronization += row.synchronization_ms;
    idle += row.idle_ms;
  }
  double WaitRatio() const { return Ratio4(wait, wait + transit); }
  double SynchronizationRatio() const { return Ratio4(synchronization, synchronization + transit); }
};

// Traffic of one transport: distinct operations count once, packets by size.
struct Traffic {
  double size_mb = 0;
  double time_ms = 0;
  std::map<double, std::pair<double, double>> packets;  // size -> (count, time)

  void Add(const CommBandwidthRow& row) {
    size_mb += row.size_mb;
    time_ms += row.time_ms;
    for (const CommPacket& packet : row.packets) {
      auto& [count, total_ms] = packets[packet.size_mb];
      count += packet.count;
      total_ms += packet.total_ms;
    }
  }
};

using TotalKey = std::tuple<std::string, std::string>;  // (step, group)

class CommunicationTimeSum : public RecipeOf<CommunicationPart> {
 public:
  explicit CommunicationTimeSum(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form form) override {
    Answer answer;
    size_t rows = 0;
    for (const auto& [rank, part] : parts_) rows += part.times.size();
    if (form != Form::kTables && rows > 0) {
      answer.files.push_back({"cluster_communication.json",
                              [this](const ResultFile::Sink& sink) { return WriteJson(sink); }});
    }
    const bool has_file = !answer.files.empty();
    const bool has_tables = rows > 0 || !options_.compat || !book_.groups().empty();
    if (has_tables && !(has_file && form == Form::kFiles)) {
      answer.tables.push_back({TimeTable(), "cluster_communication_time.csv"});
      answer.tables.push_back({BandwidthTable(), "cluster_communication_bandwidth.csv"});
    }
    if (rows == 0 && !options_.compat) {
      answer.notes.push_back(
          "no capture has communication results (communication.json, CommAnalyzerTime), which "
          "need profiler level 1 or higher");
    }
    answer.suggestion_en =
        "A rank with a high wait_time is waiting for another; a high transit_time with a low "
        "bandwidth points at the link or at small packets (package_size).";
    answer.suggestion_zh =
        "wait_time 高的卡在等待其他卡；transit_time "
        "高且带宽低，说明链路慢或通信包太小（package_size）。";
    return answer;
  }

 protected:
  CommunicationPart MapRank(const store::TraceStore& rank) const override {
    return ReadCommunication(rank, options_);
  }

  void AddRank(const RankFacts& facts, CommunicationPart part) override {
    book_.Add(facts, part.used);
    // The reference leaves out a rank that lacks one of the two tables.
    const bool is_left_out =
        options_.compat && facts.format == "db" && (part.times.empty() || part.bandwidths.empty());
    if (!is_left_out) parts_.emplace_back(facts.rank, std::move(part));
  }

 private:
  table::Table TimeTable() const {
    table::Table table("ClusterCommunicationTime");
    const auto text = [&](const char* name) { return table.AddColumn(name, CellType::kText); };
    text("step");
    table.AddColumn("rank_id", CellType::kInt);
    text("hccl_op_name");
    text("group_name");
    for (const char* name :
         {"start_timestamp", "elapsed_time", "transit_time", "wait_time", "synchronization_time",
          "idle_time", "synchronization_time_ratio", "wait_time_ratio"}) {
      table.AddColumn(name, CellType::kDouble);
    }
    const auto append = [&](std::string_view step, int64_t rank, std::string_view op,
                            std::string_view group, double start_us, const Times& times,
                            bool with_ratios) {
      table.AppendText(0, step);
      table.AppendInt(1, rank);
      table.AppendText(2, op);
      table.AppendText(3, group);
      const double cells[] = {start_us,
                              times.elapse,
                              times.transit,
                              times.wait,
                              times.synchronization,
                              times.idle,
                              with_ratios ? times.SynchronizationRatio() : 0,
                              with_ratios ? times.WaitRatio() : 0};
      for (size_t i = 0; i < std::size(cells); ++i) table.AppendDouble(4 + i, cells[i]);
    };
    for (const auto& [rank, part] : parts_) {
      for (const CommTimeRow& row : part.times) {
        Times times;
        times.Add(row);
        append(part.Text(row.step), rank, part.Text(row.op), part.Text(row.group), row.start_us,
               times, !options_.compat);
      }
    }
    for (const auto& [rank, part] : parts_) {
      for (const auto& [key, times] : TimeTotals(part))
        append(std::get<0>(key), rank, kTotal, std::get<1>(key), 0, times, true);
    }
    return table;
  }

  static std::map<TotalKey, Times> TimeTotals(const CommunicationPart& part) {
    std::map<TotalKey, Times> totals;
    for (const CommTimeRow& row : part.times)
      totals[{part.Text(row.step), part.Text(row.group)}].Add(row);
    return totals;
  }

  static std::map<std::tuple<std::string, std::string, std::string>, Traffic> TrafficTotals(
      const CommunicationPart& part) {
    std::map<std::tuple<std::string, std::string, std::string>, Traffic> totals;
    for (const CommBandwidthRow& row : part.bandwidths)
      totals[{part.Text(row.step), part.Text(row.group), part.Text(row.transport)}].Add(row);
    return totals;
  }

  table::Table BandwidthTable() const {
    table::Table table("ClusterCommunicationBandwidth");
    table.AddColumn("step", CellType::kText);
    table.AddColumn("rank_id", CellType::kInt);
    for (const char* name : {"hccl_op_name", "group_name", "band_type"})
      table.AddColumn(name, CellType::kText);
    for (const char* name : {"transit_size", "transit_time", "bandwidth", "large_packet_ratio",
                             "package_size", "count", "total_duration"}) {
      table.AddColumn(name, CellType::kDouble);
    }
    const auto append = [&](const std::string& step, int64_t rank, std::string_view op,
                            const std::string& group, const std::string& transport,
                            std::initializer_list<double> cells) {
      table.AppendText(0, step);
      table.AppendInt(1, rank);
      table.AppendText(2, op);
      table.AppendText(3, group);
      table.AppendText(4, transport);
      size_t column = 5;
      for (const double cell : cells) table.AppendDouble(column++, cell);
    };
    for (const auto& [rank, part] : parts_) {
      for (const CommBandwidthRow& row : part.bandwidths) {
        std::vector<CommPacket> packets = row.packets;
        if (packets.empty()) packets.push_back({});
        for (const CommPacket& packet : packets) {
          append(part.Text(row.step), rank, part.Text(row.op), part.Text(row.group),
                 part.Text(row.transport),
                 {row.size_mb, row.time_ms, row.bandwidth_gbps, row.large_packet_ratio,
                  packet.size_mb, packet.count, packet.total_ms});
        }
      }
    }
    for (const auto& [rank, part] : parts_) {
      for (auto [key, traffic] : TrafficTotals(part)) {
        const auto& [step, group, transport] = key;
        if (traffic.packets.empty()) traffic.packets[0] = {0, 0};
        for (const auto& [size, counts] : traffic.packets) {
          append(step, rank, kTotal, group, transport,
                 {traffic.size_mb, traffic.time_ms, Ratio4(traffic.size_mb, traffic.time_ms), 0,
                  size, counts.first, counts.second});
        }
      }
    }
    return table;
  }

  // Where an operation's numbers are: index of the part, row of times (or none), rows of
  // bandwidths.
  struct Place {
    size_t part = 0;
    const CommTimeRow* times = nullptr;
    std::vector<const CommBandwidthRow*> bandwidths;
  };
  using Operations = std::map<std::string, std::map<int64_t, Place>>;  // op key -> rank

  // {"(0, 1)": {"step50": {"op@group": {"0": info, "1": info}, ..., "Total Op Info@group": ...}}}
  Status WriteJson(const ResultFile::Sink& sink) const {
    std::map<std::string, std::vector<GroupUse>> groups_of_set;
    std::vector<std::string> sets;
    for (const GroupBook::Group& group : book_.groups()) {
      std::vector<GroupUse>& groups = groups_of_set[group.seen.ToText(", ")];
      if (groups.empty()) sets.push_back(group.seen.ToText(", "));
      groups.push_back(group.use);
    }
    const auto operations = CollectOperations();
    SL_RETURN_IF_ERROR(sink("{"));
    for (size_t i = 0; i < sets.size(); ++i) {
      JsonWriter key;
      key.String(sets[i]);
      SL_RETURN_IF_ERROR(sink(fmt::format("{}{}: {{", i == 0 ? "" : ", ", key.text())));
      std::set<std::string> steps;
      for (const GroupUse& group : groups_of_set[sets[i]]) {
        const auto found = operations.find(group);
        if (found == operations.end()) continue;
        for (const auto& [step, ops] : found->second) steps.insert(step);
      }
      bool is_first = true;
      for (const std::string& step : steps) {
        JsonWriter json;
        json.String(step);
        std::string text = fmt::format("{}{}: {{", is_first ? "" : ", ", json.text());
        is_first = false;
        SL_RETURN_IF_ERROR(sink(text));
        SL_RETURN_IF_ERROR(WriteStep(sink, operations, groups_of_set[sets[i]], step));
        SL_RETURN_IF_ERROR(sink("}"));
      }
      SL_RETURN_IF_ERROR(sink("}"));
    }
    return sink("}");
  }

  using Collected = std::map<GroupUse, std::map<std::string, Operations>>;  // group -> step

  Collected CollectOperations() const {
    Collected out;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const auto& [rank, part] = parts_[p];
      for (const CommTimeRow& row : part.times) {
        Place& place = out[{part.Text(row.group), row.is_p2p}][part.Text(row.step)]
                          [part.Text(row.op) + "@" + part.Text(row.group)][rank];
        place.part = p;
        place.times = &row;
      }
      for (const CommBandwidthRow& row : part.bandwidths) {
        Place& place = out[{part.Text(row.group), row.is_p2p}][part.Text(row.step)]
                          [part.Text(row.op) + "@" + part.Text(row.group)][rank];
        place.part = p;
        place.bandwidths.push_back(&row);
      }
    }
    return out;
  }

  Status WriteStep(const ResultFile::Sink& sink, const Collected& operations,
                   const std::vector<GroupUse>& groups, const std::string& step) const {
    bool is_first = true;
    // A group that is used both ways has one total.
    std::map<std::string, std::map<int64_t, std::vector<const Place*>>> of_total;
    for (const GroupUse& group : groups) {
      const auto found = operations.find(group);
      if (found == operations.end()) continue;
      const auto ops = found->second.find(step);
      if (ops == found->second.end()) continue;
      for (const auto& [key, ranks] : ops->second) {
        JsonWriter json;
        json.BeginObject().Key(key).BeginObject();
        for (const auto& [rank, place] : ranks) {
          json.Key(std::to_string(rank));
          WriteInfo(json, place);
          of_total[group.name][rank].push_back(&place);
        }
        json.EndObject().EndObject();
        SL_RETURN_IF_ERROR(SendMembers(sink, json.text(), is_first));
      }
    }
    for (const auto& [group, ranks] : of_total) {
      JsonWriter json;
      json.BeginObject().Key(fmt::format("{}@{}", kTotal, group)).BeginObject();
      for (const auto& [rank, places] : ranks) {
        json.Key(std::to_string(rank));
        WriteTotal(json, places);
      }
      json.EndObject().EndObject();
      SL_RETURN_IF_ERROR(SendMembers(sink, json.text(), is_first));
    }
    return {};
  }

  // The members of an object, without its braces.
  static Status SendMembers(const ResultFile::Sink& sink, std::string_view object, bool& is_first) {
    if (!is_first) SL_RETURN_IF_ERROR(sink(", "));
    is_first = false;
    return sink(object.substr(1, object.size() - 2));
  }

  static void WriteTimes(JsonWriter& json, const Times& times, double wait_ratio,
                         double synchronization_ratio) {
    json.Key("Elapse Time(ms)").Raw(JsonFloat(times.elapse));
    json.Key("Transit Time(ms)").Raw(JsonFloat(times.transit));
    json.Key("Wait Time(ms)").Raw(JsonFloat(times.wait));
    json.Key("Synchronization Time(ms)").Raw(JsonFloat(times.synchronization));
    json.Key("Idle Time(ms)").Raw(JsonFloat(times.idle));
    json.Key("Wait Time Ratio").Raw(JsonFloat(wait_ratio));
    json.Key("Synchronization Time Ratio").Raw(JsonFloat(synchronization_ratio));
  }

  static void WritePacket(JsonWriter& json, double size_mb, double count, double total_ms) {
    json.Key(JsonFloat(size_mb)).BeginArray().Raw(FormatDouble(count)).Raw(JsonFloat(total_ms));
    json.EndArray();
  }

  void WriteInfo(JsonWriter& json, const Place& place) const {
    const CommunicationPart& part = parts_[place.part].second;
    json.BeginObject();
    if (place.times != nullptr) {
      Times times;
      times.Add(*place.times);
      json.Key("Communication Time Info").BeginObject();
      json.Key("Start Timestamp(us)").Raw(JsonFloat(place.times->start_us));
      WriteTimes(json, times, place.times->wait_ratio, place.times->synchronization_ratio);
      json.EndObject();
    }
    json.Key("Communication Bandwidth Info").BeginObject();
    for (const CommBandwidthRow* row : place.bandwidths) {
      json.Key(part.Text(row->transport)).BeginObject();
      json.Key("Transit Size(MB)").Raw(JsonFloat(row->size_mb));
      json.Key("Transit Time(ms)").Raw(JsonFloat(row->time_ms));
      json.Key("Bandwidth(GB/s)").Raw(JsonFloat(row->bandwidth_gbps));
      json.Key("Large Packet Ratio").Raw(JsonFloat(row->large_packet_ratio));
      json.Key("Size Distribution").BeginObject();
      for (const CommPacket& packet : row->packets)
        WritePacket(json, packet.size_mb, packet.count, packet.total_ms);
      json.EndObject().EndObject();
    }
    json.EndObject().EndObject();
  }

  void WriteTotal(JsonWriter& json, const std::vector<const Place*>& places) const {
    Times times;
    std::vector<std::string> order;  // transports as they come
    std::map<std::string, Traffic> traffic;
    for (const Place* place : places) {
      const CommunicationPart& part = parts_[place->part].second;
      if (place->times != nullptr) times.Add(*place->times);
      for (const CommBandwidthRow* row : place->bandwidths) {
        const std::string& transport = part.Text(row->transport);
        if (!traffic.contains(transport)) order.push_back(transport);
        traffic[transport].Add(*row);
      }
    }
    json.BeginObject().Key("Communication Time Info").BeginObject();
    WriteTimes(json, times, times.WaitRatio(), times.SynchronizationRatio());
    json.EndObject().Key("Communication Bandwidth Info").BeginObject();
    for (const std::string& transport : order) {
      const Traffic& total = traffic[transport];
      json.Key(transport).BeginObject();
      json.Key("Transit Time(ms)").Raw(JsonFloat(total.time_ms));
      json.Key("Transit Size(MB)").Raw(JsonFloat(total.size_mb));
      json.Key("Size Distribution").BeginObject();
      for (const auto& [size, counts] : total.packets)
        WritePacket(json, size, counts.first, counts.second);
      json.EndObject();
      json.Key("Bandwidth(GB/s)").Raw(JsonFloat(Ratio4(total.size_mb, total.time_ms)));
      json.EndObject();
    }
    json.EndObject().EndObject();
  }

  Options options_;
  GroupBook book_;
  std::vector<std::pair<int64_t, CommunicationPart>> parts_;
};

}  // namespace

RecipeSpec CommunicationTimeSumRecipe() {
  RecipeSpec spec;
  spec.name = "communication_time_sum";
  spec.folder = "CommunicationTimeSum";
  spec.summary = "Time and bandwidth of every communication operator of every rank";
  spec.needs.communication = true;
  spec.make = MakeRecipe<CommunicationTimeSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
