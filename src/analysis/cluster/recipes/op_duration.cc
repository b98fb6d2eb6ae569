#include "analysis/cluster/recipes/op_duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/cluster/spread.h"
#include "analysis/cluster/step_window.h"
#include "base/number.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// Kernels that do the same.
struct Op {
  std::string name;
  std::string input_shapes;
  std::string input_types;
  std::string output_shapes;
  auto operator<=>(const Op&) const = default;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, input_shapes, input_types, output_shapes);
  }
};

// A counter of the cores (aic_mac_ratio, aiv_time(us), ...) over the kernels of an operator:
// smallest, quartiles, largest.
struct Counter {
  std::string name;
  std::array<double, 5> box{};

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, box[0], box[1], box[2], box[3], box[4]);
  }
};

struct Part {
  std::map<Op, Spread> ops;
  std::map<Op, std::vector<Counter>> counters;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops, counters);
  }
};

// Times and shares; counts of cycles say the same as times.
bool IsPlotted(const store::DynamicColumn& column) {
  return !column.is_text() && (column.name.find("_ratio") != std::string::npos ||
                               column.name.find("_time(us)") != std::string::npos);
}

std::array<double, 5> BoxOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
  };
  return {values.front(), at(0.25), at(0.5), at(0.75), values.back()};
}

// "x/node3/y" -> "3", as clusters of msprof captures are laid out; else the host's name.
std::string NodeOf(const RankFacts& facts) {
  constexpr std::string_view kNode = "node";
  for (size_t begin = 0; begin < facts.path.size();) {
    const size_t end = std::min(facts.path.find('/', begin), facts.path.size());
    const std::string_view word = std::string_view(facts.path).substr(begin, end - begin);
    if (word.starts_with(kNode) && ParseInt64(word.substr(kNode.size())))
      return std::string(word.substr(kNode.size()));
    begin = end + 1;
  }
  return facts.host_name.empty() ? facts.host_uid : facts.host_name;
}

double VarianceUs(const Spread& spread) {
  const double deviation_us = spread.sample_std_ns() / 1000;
  return deviation_us * deviation_us;  // NaN of one value
}

class OpDuration : public RecipeOf<Part> {
 public:
  OpDuration(const Options& options, size_t top) : options_(options), top_(top) {
    for (const char* name : {"Op Name", "Input Shapes", "Input Data Types", "Output Shapes"})
      durations_.AddColumn(name, CellType::kText);
    durations_.AddColumn("device_id", CellType::kInt);
    durations_.AddColumn("node_id", CellType::kText);
    durations_.AddColumn("rank", CellType::kInt);
    durations_.AddColumn("count", CellType::kInt);
    for (const char* name : {"mean(us)", "var(us2)", "max(us)", "min(us)", "range(us)"})
      durations_.AddColumn(name, CellType::kDouble);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.had_input = durations_.rows() > 0;
    answer.tables.push_back({std::move(durations_), "cluster_duration_time_analysis.csv"});
    const std::vector<const Op*> top = TopOps();
    answer.tables.push_back({TopBoxes(top), "top_op_durations.csv"});
    answer.tables.push_back({TopCounters(top), "top_op_counters.csv"});
    answer.suggestion = Message{"suggestion.op_duration"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    const store::KernelTable& kernels = rank.kernels;
    std::map<std::array<StringId, 4>, Spread> by_ids;
    std::map<std::array<StringId, 4>, std::vector<size_t>> rows_of;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone ||
          !window.Contains(kernels.begin_ns[i])) {
        continue;
      }
      const std::array<StringId, 4> ids{kernels.name[i], kernels.input_shapes[i],
                                        kernels.input_types[i], kernels.output_shapes[i]};
      by_ids[ids].Add(kernels.dur_ns[i], rank.info.rank);
      if (!rank.kernel_metrics.empty()) rows_of[ids].push_back(i);
    }
    Part part;
    for (const auto& [ids, spread] : by_ids) {
      const auto text = [&](size_t i) { return std::string(rank.Text(ids[i])); };
      const Op op{text(0), text(1), text(2), text(3)};
      part.ops[op].Merge(spread);
      const auto rows = rows_of.find(ids);
      if (rows != rows_of.end()) AddCounters(rank, rows->second, part.counters[op]);
    }
    return part;
  }

  static void AddCounters(const store::TraceStore& rank, const std::vector<size_t>& rows,
                          std::vector<Counter>& counters) {
    for (const store::DynamicColumn& column : rank.kernel_metrics) {
      if (!IsPlotted(column)) continue;
      std::vector<double> values;
      for (const size_t row : rows) {
        if (row < column.numbers.size() && !std::isnan(column.numbers[row]))
          values.push_back(column.numbers[row]);
      }
      if (!values.empty()) counters.push_back({column.name, BoxOf(std::move(values))});
    }
  }

  void AddRank(const RankFacts& facts, Part part) override {
    const std::string node = NodeOf(facts);
    for (auto& [op, spread] : part.ops) {
      size_t column = 0;
      for (const std::string& text : {op.name, op.input_shapes, op.input_types, op.output_shapes})
        durations_.AppendText(column++, text);
      durations_.AppendInt(column++, facts.device == store::kNone ? table::kNull : facts.device);
      durations_.AppendText(column++, node);
      durations_.AppendInt(column++, facts.rank);
      durations_.AppendInt(column++, spread.count());
      const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
      for (const double value :
           {spread.mean_ns() / 1000, VarianceUs(spread), us(spread.max_ns()), us(spread.min_ns()),
            us(SubtractSaturating(spread.max_ns(), spread.min_ns()))}) {
        durations_.AppendDouble(column++, value);
      }
      if (const auto counters = part.counters.find(op); counters != part.counters.end())
        counters_[op].emplace_back(facts.rank, std::move(counters->second));
      all_[op].Merge(spread);
      by_rank_[op].emplace_back(facts.rank, std::move(spread));
    }
  }

 private:
  // The operators whose durations vary most over the cluster.
  std::vector<const Op*> TopOps() const {
    std::vector<std::pair<double, const Op*>> order;
    for (const auto& [op, spread] : all_) {
      if (const double variance = VarianceUs(spread); !std::isnan(variance))
        order.emplace_back(-variance, &op);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    order.resize(std::min(order.size(), top_));
    std::vector<const Op*> top;
    for (const auto& [variance, op] : order) top.push_back(op);
    return top;
  }

  // What the counters of the cores say of them: a row a counter and rank.
  table::Table TopCounters(const std::vector<const Op*>& top) const {
    table::Table table("ClusterOpCounterTop");
    for (const char* name : {"OpName", "InputShapes", "Counter"})
      table.AddColumn(name, CellType::kText);
    for (const char* name : {"Min", "Q1", "Median", "Q3", "Max"})
      table.AddColumn(name, CellType::kDouble);
    table.AddColumn("Rank", CellType::kInt);
    for (const Op* op : top) {
      const auto of_op = counters_.find(*op);
      if (of_op == counters_.end()) continue;
      for (const auto& [rank, counters] : of_op->second) {
        for (const Counter& counter : counters) {
          table.AppendText(0, op->name);
          table.AppendText(1, op->input_shapes);
          table.AppendText(2, counter.name);
          for (size_t i = 0; i < counter.box.size(); ++i) table.AppendDouble(3 + i, counter.box[i]);
          table.AppendInt(8, rank);
        }
      }
    }
    return table;
  }

  // Their durations, a row a rank.
  table::Table TopBoxes(const std::vector<const Op*>& top) const {
    table::Table table("ClusterOpDurationTop");
    table.AddColumn("OpName", CellType::kText);
    table.AddColumn("InputShapes", CellType::kText);
    SpreadColumns stats(table);
    const size_t rank_column = table.AddColumn("Rank", CellType::kInt);
    for (const Op* op : top) {
      for (const auto& [rank, spread] : by_rank_.at(*op)) {
        table.AppendText(0, op->name);
        table.AppendText(1, op->input_shapes);
        stats.Append(spread);
        table.AppendInt(rank_column, rank);
      }
    }
    return table;
  }

  Options options_;
  size_t top_;
  table::Table durations_{"ClusterOpDuration"};
  std::map<Op, Spread> all_;
  std::map<Op, std::vector<std::pair<int64_t, std::vector<Counter>>>> counters_;
  std::map<Op, std::vector<std::pair<int64_t, Spread>>> by_rank_;
};

}  // namespace

RecipeSpec OpDurationRecipe() {
  RecipeSpec spec;
  spec.name = "op_duration";
  spec.folder = "OpDuration";
  spec.summary = "How durations of the same operator differ between devices";
  spec.needs.timeline = true;
  spec.options = {"top_num"};
  spec.make = [](const Options& options) -> Result<std::unique_ptr<Recipe>> {
    constexpr int64_t kUsual = 10;
    const int64_t top = ParseInt64(options.Value("top_num")).value_or(kUsual);
    return std::unique_ptr<Recipe>(
        std::make_unique<OpDuration>(options, static_cast<size_t>(std::max<int64_t>(1, top))));
  };
  return spec;
}

}  // namespace steplens::analysis::cluster
