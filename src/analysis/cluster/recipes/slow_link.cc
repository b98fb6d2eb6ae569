#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/spread.h"
#include "analysis/communication/element_size.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

constexpr std::string_view kNoOutlier =
    "no outlier: all transmit times lie within three standard deviations";

// An operator of one rank.
struct Op {
  std::string group;
  std::string name;
  std::string type;
  std::string data_type;
  int64_t size_bytes = kNone;
  int64_t dur_ns = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(group, name, type, data_type, size_bytes, dur_ns);
  }
};

struct Part {
  std::vector<Op> ops;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops);
  }
};

// An operator as all its ranks saw it.
struct Call {
  const std::pair<std::string, std::string>* key = nullptr;  // of the map that owns it
  int64_t transmit_ns = std::numeric_limits<int64_t>::max();
  int64_t ranks = 0;
};

// A row that waits for the end: what differs between the ranks of a call.
struct Row {
  uint32_t call = 0;
  uint32_t kind = 0;
  int64_t rank = 0;
  int64_t dur_ns = 0;
};

// What operators must have in common to be compared.
struct Kind {
  std::string type;
  std::string data_type;
  int64_t size_bytes = kNone;
  auto operator<=>(const Kind&) const = default;
};

class SlowLink : public RecipeOf<Part> {
 public:
  explicit SlowLink(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    std::map<Population, Members> populations;
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const Kind& kind = *kinds_[row.kind];
      if (kind.size_bytes == kNone) continue;
      Members& members = populations[{kind.type, kind.size_bytes, RelatedRanks(row)}];
      members.rows.push_back(i);
      members.spread.Add(TransmitNs(row), row.rank);
    }
    std::erase_if(populations, [](const auto& one) { return !HasOutlier(one.second.spread); });
    Answer answer;
    answer.had_input = !rows_.empty() && !options_.compat;
    answer.tables.push_back({Summary(populations), "slow_link_sum.csv"});
    answer.tables.push_back({Ops(populations), "slow_link_ops.csv"});
    if (populations.empty() && (options_.compat || !rows_.empty()))
      answer.notes.emplace_back(kNoOutlier);
    answer.suggestion = Message{"suggestion.slow_link"};
    return answer;
  }

 protected:
  Part MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    Part part;
    const GroupIds ids(facts);
    const store::CommOpTable& ops = rank.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      Op& op = part.ops.emplace_back();
      op.group = ids.Find(std::string(rank.Text(ops.group_name[i])));
      op.name = rank.Text(ops.name[i]);
      op.type = rank.Text(ops.op_type[i]);
      op.data_type = rank.Text(ops.data_type[i]);
      op.size_bytes = DataSize(ops.count[i], op.data_type);
      op.dur_ns = ops.dur_ns[i];
    }
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    for (Op& op : part.ops) {
      const uint32_t kind = NumberOf(kind_numbers_, kinds_, {op.type, op.data_type, op.size_bytes});
      const auto [place, is_new] = call_numbers_.try_emplace(
          {groups_.Find(op.group), std::move(op.name)}, static_cast<uint32_t>(calls_.size()));
      if (is_new) calls_.push_back({&place->first});
      Call& call = calls_[place->second];
      call.transmit_ns = std::min(call.transmit_ns, op.dur_ns);
      ++call.ranks;
      rows_.push_back({place->second, kind, facts.rank, op.dur_ns});
    }
  }

 private:
  using Population = std::tuple<std::string, int64_t, int64_t>;  // type, bytes, related ranks
  struct Members {
    Spread spread;  // of the transmit times
    std::vector<uint32_t> rows;
  };

  static uint32_t NumberOf(std::map<Kind, uint32_t>& numbers, std::vector<const Kind*>& items,
                           Kind item) {
    const auto [place, is_new] =
        numbers.try_emplace(std::move(item), static_cast<uint32_t>(items.size()));
    if (is_new) items.push_back(&place->first);
    return place->second;
  }

  const std::string& NameOf(const Row& row) const { return calls_[row.call].key->second; }
  // A send and its receive have different names: nothing to compare them with.
  int64_t TransmitNs(const Row& row) const {
    return IsPointToPoint(NameOf(row)) ? 0 : calls_[row.call].transmit_ns;
  }
  int64_t RelatedRanks(const Row& row) const {
    return IsPointToPoint(NameOf(row)) ? 0 : calls_[row.call].ranks;
  }

  static bool HasOutlier(const Spread& spread) {
    const double three_sigma = 3 * spread.population_std_ns();
    return static_cast<double>(spread.max_ns()) > spread.mean_ns() + three_sigma ||
           static_cast<double>(spread.min_ns()) < spread.mean_ns() - three_sigma;
  }

  static double OffsetRatio(const Spread& spread) {
    const double mean = spread.mean_ns();
    const double offset = std::max(std::abs(static_cast<double>(spread.max_ns()) - mean),
                                   std::abs(static_cast<double>(spread.min_ns()) - mean));
    return offset / spread.sample_std_ns();
  }

  table::Table Summary(const std::map<Population, Members>& populations) const {
    constexpr int64_t kDefaultTop = 15;
    std::vector<const std::pair<const Population, Members>*> order;
    for (const auto& population : populations) order.push_back(&population);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return OffsetRatio(a->second.spread) > OffsetRatio(b->second.spread);
    });
    const auto top = static_cast<size_t>(options_.PositiveOr("top_num", kDefaultTop));
    order.resize(std::min(order.size(), top));

    table::Table table("SlowLinkSum");
    table.AddColumn("opTypeRelatedRanksDataSize", CellType::kText);
    SpreadColumns stats(table);
    const size_t ratio = table.AddColumn("offsetRatio", CellType::kDouble);
    const size_t max_rank = table.AddColumn("maxRank", CellType::kInt);
    const size_t min_rank = table.AddColumn("minRank", CellType::kInt);
    for (const auto* population : order) {
      const auto& [type, size_bytes, ranks] = population->first;
      const Spread& spread = population->second.spread;
      table.AppendText(0, fmt::format("{}{}_{}", type, ranks, size_bytes));
      stats.Append(spread);
      table.AppendDouble(ratio, OffsetRatio(spread));
      table.AppendInt(max_rank, spread.max_rank());
      table.AppendInt(min_rank, spread.min_rank());
    }
    return table;
  }

  table::Table Ops(const std::map<Population, Members>& populations) const {
    table::Table table("SlowLinkOps");
    table.AddColumn("rankId", CellType::kInt);
    table.AddColumn("groupName", CellType::kText);
    table.AddColumn("communicationTime", CellType::kInt);
    for (const char* name : {"opName", "opType", "dataType"})
      table.AddColumn(name, CellType::kText);
    for (const char* name : {"dataSize", "transmitTime", "relatedRanks"})
      table.AddColumn(name, CellType::kInt);
    for (const auto& [population, members] : populations) {
      for (const uint32_t i : members.rows) AppendOp(table, rows_[i]);
    }
    return table;
  }

  void AppendOp(table::Table& table, const Row& row) const {
    const Kind& kind = *kinds_[row.kind];
    table.AppendInt(0, row.rank);
    table.AppendText(1, calls_[row.call].key->first);
    table.AppendInt(2, row.dur_ns);
    table.AppendText(3, NameOf(row));
    table.AppendText(4, kind.type);
    table.AppendText(5, kind.data_type);
    table.AppendInt(6, kind.size_bytes);
    table.AppendInt(7, TransmitNs(row));
    table.AppendInt(8, RelatedRanks(row));
  }

  Options options_;
  GroupSpellings groups_;
  std::map<std::pair<std::string, std::string>, uint32_t> call_numbers_;  // (group, name)
  std::vector<Call> calls_;
  std::map<Kind, uint32_t> kind_numbers_;
  std::vector<const Kind*> kinds_;  // of kind_numbers_
  std::vector<Row> rows_;           // in rank order: a few integers each
};

}  // namespace

RecipeSpec SlowLinkRecipe() {
  RecipeSpec spec;
  spec.name = "slow_link";
  spec.folder = "SlowLink";
  spec.summary = "Operators whose transmit time is far from that of their like";
  spec.needs.timeline = true;
  spec.options = {"top_num"};
  spec.make = MakeRecipe<SlowLink>;
  return spec;
}

}  // namespace steplens::analysis::cluster
