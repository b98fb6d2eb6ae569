#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/operation_texts.h"
#include "analysis/cluster/communication/time_texts.h"
#include "analysis/cluster/communication/time_totals.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

using TotalKey = std::tuple<std::string, std::string>;  // (step, group)

// The rows stay bytes until they are asked for: texts that were rendered beside them may be all
// that the answer needs.
struct Part {
  std::vector<GroupUse> used;
  bool has_times = false;
  bool has_bandwidths = false;
  std::string rows;  // a CommunicationPart

  CommunicationPart Rows() const {
    return FromBytes<CommunicationPart>(rows).value_or(CommunicationPart());
  }
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(used, has_times, has_bandwidths, rows);
  }
};

struct RankPart {
  int64_t rank = 0;
  Part part;
  std::optional<TimeTexts> texts{};
  FilePiece json = "";     // what they are an index of
  std::string own_json{};  // if it was rendered here
};

class CommunicationTimeSum : public RecipeOf<Part> {
 public:
  explicit CommunicationTimeSum(const Options& options) : options_(options) {}

  std::optional<Rendered> Render(const RankFacts& facts, std::string_view part) const override {
    const std::optional<Part> read = FromBytes<Part>(part);
    if (!read) return std::nullopt;
    Rendered out;
    out.index = ToBytes(RenderTimes(facts.rank, read->Rows(), out.text));
    return out;
  }
  void AddRendered(std::string_view index, uint64_t text, uint64_t text_size) override {
    if (is_left_out_) return;
    ranks_.back().texts = FromBytes<TimeTexts>(index);
    ranks_.back().json = FilePiece(text, 0, text_size);
  }

  Result<Answer> Finish(Form form) override {
    Answer answer;
    const bool has_rows = std::any_of(ranks_.begin(), ranks_.end(),
                                      [](const RankPart& rank) { return rank.part.has_times; });
    if (form != Form::kTables && has_rows) {
      answer.files.push_back({"cluster_communication.json",
                              [this](const ResultFile::Sink& sink) { return WriteJson(sink); }});
    }
    const bool has_file = !answer.files.empty();
    const bool has_tables = has_rows || !options_.compat || !book_.groups().empty();
    if (has_tables && !(has_file && form == Form::kFiles)) {
      answer.tables.push_back({TimeTable(), "cluster_communication_time.csv"});
      answer.tables.push_back({BandwidthTable(), "cluster_communication_bandwidth.csv"});
    }
    if (!has_rows && !options_.compat) {
      answer.notes.push_back(
          no_tables_ ? "PyTorch's own profiler writes no bandwidths; hccl_sum has the durations of "
                       "communication operators"
                     : "no capture has communication results (communication.json, "
                       "CommAnalyzerTime), which need profiler level 1 or higher");
    }
    answer.suggestion = Message{"suggestion.communication_time_sum"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const CommunicationPart rows = ReadCommunication(rank, options_);
    return {rows.used, !rows.times.empty(), !rows.bandwidths.empty(), ToBytes(rows)};
  }

  void AddRank(const RankFacts& facts, Part part) override {
    book_.Add(facts, part.used);
    no_tables_ &= !store::HasResultTables(facts.source);
    // The reference leaves out a rank that lacks one of the two tables.
    is_left_out_ = options_.compat && facts.format == store::Format::kDb &&
                   !(part.has_times && part.has_bandwidths);
    if (!is_left_out_) ranks_.push_back({facts.rank, std::move(part)});
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
                            std::string_view group, double start_us, const CommTimes& times,
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
    std::vector<std::pair<int64_t, std::map<TotalKey, CommTimes>>> totals;
    for (const RankPart& one : ranks_) {
      const int64_t rank = one.rank;
      const CommunicationPart part = one.part.Rows();
      totals.emplace_back(rank, TimeTotals(part));
      for (const CommTimeRow& row : part.times) {
        CommTimes times;
        times.Add(row);
        append(part.Text(row.step), rank, part.Text(row.op), part.Text(row.group), row.start_us,
               times, !options_.compat);
      }
    }
    for (const auto& [rank, of_rank] : totals) {
      for (const auto& [key, times] : of_rank)
        append(std::get<0>(key), rank, kTotalOperation, std::get<1>(key), 0, times, true);
    }
    return table;
  }

  static std::map<TotalKey, CommTimes> TimeTotals(const CommunicationPart& part) {
    std::map<TotalKey, CommTimes> totals;
    for (const CommTimeRow& row : part.times)
      totals[{part.Text(row.step), part.Text(row.group)}].Add(row);
    return totals;
  }

  using TrafficKey = std::tuple<std::string, std::string, std::string>;  // (step, group, transport)
  static std::map<TrafficKey, CommTraffic> TrafficTotals(const CommunicationPart& part) {
    std::map<TrafficKey, CommTraffic> totals;
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
    for (const char* name :
         {"transit_size", "transit_time", "bandwidth", "large_packet_ratio", "package_size"}) {
      table.AddColumn(name, CellType::kDouble);
    }
    table.AddColumn("count", CellType::kInt);
    table.AddColumn("total_duration", CellType::kDouble);
    const auto append = [&](const std::string& step, int64_t rank, std::string_view op,
                            const std::string& group, const std::string& transport,
                            std::initializer_list<double> cells, const CommPacket& packet) {
      table.AppendText(0, step);
      table.AppendInt(1, rank);
      table.AppendText(2, op);
      table.AppendText(3, group);
      table.AppendText(4, transport);
      size_t column = 5;
      for (const double cell : cells) table.AppendDouble(column++, cell);
      table.AppendDouble(column++, packet.size_mb);
      table.AppendInt(column++, std::llround(packet.count));
      table.AppendDouble(column++, packet.total_ms);
    };
    std::vector<std::pair<int64_t, std::map<TrafficKey, CommTraffic>>> totals;
    for (const RankPart& one : ranks_) {
      const int64_t rank = one.rank;
      const CommunicationPart part = one.part.Rows();
      totals.emplace_back(rank, TrafficTotals(part));
      for (const CommBandwidthRow& row : part.bandwidths) {
        std::vector<CommPacket> packets = row.packets;
        if (packets.empty()) packets.push_back({});
        for (const CommPacket& packet : packets) {
          append(part.Text(row.step), rank, part.Text(row.op), part.Text(row.group),
                 part.Text(row.transport),
                 {row.size_mb, row.time_ms, row.bandwidth_gbps, row.large_packet_ratio}, packet);
        }
      }
    }
    for (auto& [rank, of_rank] : totals) {
      for (auto& [key, traffic] : of_rank) {
        const auto& [step, group, transport] = key;
        if (traffic.packets.empty()) traffic.packets.push_back({});
        std::sort(traffic.packets.begin(), traffic.packets.end(),
                  [](const CommPacket& a, const CommPacket& b) { return a.size_mb < b.size_mb; });
        for (const CommPacket& packet : traffic.packets) {
          append(step, rank, kTotalOperation, group, transport,
                 {traffic.size_mb, traffic.time_ms, traffic.gbps(), 0}, packet);
        }
      }
    }
    return table;
  }

  Status WriteJson(const ResultFile::Sink& sink) {
    OperationTexts file;
    for (RankPart& rank : ranks_) {
      if (!rank.texts) {
        rank.texts = RenderTimes(rank.rank, rank.part.Rows(), rank.own_json);
        rank.json = rank.own_json;
      }
      if (!AddTimeTexts(rank.rank, *rank.texts, rank.json, file))
        return Error{ErrorCode::kInternal, "texts of a rank do not fit their sizes"};
    }
    return file.Write(book_, options_.compat, sink);
  }

  Options options_;
  GroupBook book_;
  std::vector<RankPart> ranks_;
  bool is_left_out_ = false;  // the rank added last
  bool no_tables_ = true;     // no rank's profiler writes any
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
