#include "analysis/cluster/recipes/recipes.h"
#include "analysis/modules/module_ops.h"

#include <fmt/format.h>

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

struct Row {
  std::string parent;
  std::string module;
  std::string op;
  std::string kernels;
  int64_t total_ns = 0;
  int64_t count = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(parent, module, op, kernels, total_ns, count);
  }
};

// The operators of one rank's modules.
struct Part {
  std::vector<Row> rows;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rows);
  }
};

class ModuleStatistic : public RecipeOf<Part> {
 public:
  explicit ModuleStatistic(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    Answer answer;
    ResultTable& result = answer.tables.emplace_back(ResultTable{.table = std::move(table_)});
    result.csv_name = "module_statistic_{}.xlsx";
    result.file_per = "rankID";
    result.csv_headers = {"Parent Module",
                          "Module",
                          "Op Name",
                          "Kernel List",
                          "Total Kernel Duration(ns)",
                          "Avg Kernel Duration(ns)",
                          "Op Count",
                          ""};
    result.is_sheet = true;
    result.merged_columns = 2;
    result.column_widths = {40, 40, 40, 50, 10, 10, 10};
    answer.Note(ranks_without_modules_,
                "{ranks} {have} no module ranges (mstx ranges of domain 'Module', or "
                "'nn.Module: ...' Python functions) with kernels in them");
    answer.suggestion = Message{"suggestion.module_statistic"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    Part part;
    for (const ModuleOp& op : SummarizeModules(rank, /*only_marked=*/options_.compat))
      part.rows.push_back({op.parent, op.module, op.op, op.kernels, op.total_ns, op.count()});
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.rows.empty()) ++ranks_without_modules_;
    for (const Row& row : part.rows) {
      table_.AppendText(0, row.parent);
      table_.AppendText(1, row.module);
      table_.AppendText(2, row.op);
      table_.AppendText(3, row.kernels);
      const auto total_ns = static_cast<double>(row.total_ns);
      table_.AppendDouble(4, total_ns);
      table_.AppendDouble(5, total_ns / static_cast<double>(row.count));
      table_.AppendInt(6, row.count);
      table_.AppendInt(7, facts.rank);
    }
  }

 private:
  static table::Table EmptyTable() {
    table::Table table("ModuleStatistic");
    for (const char* name : {"parentModule", "module", "opName", "kernelList"})
      table.AddColumn(name, CellType::kText);
    table.AddColumn("totalKernelDuration(ns)", CellType::kDouble);
    table.AddColumn("avgKernelDuration(ns)", CellType::kDouble);
    table.AddColumn("opCount", CellType::kInt);
    table.AddColumn("rankID", CellType::kInt);
    return table;
  }

  Options options_;
  table::Table table_ = EmptyTable();
  size_t ranks_without_modules_ = 0;
};

}  // namespace

RecipeSpec ModuleStatisticRecipe() {
  RecipeSpec spec;
  spec.name = "module_statistic";
  spec.folder = "ModuleStatistic";
  spec.summary = "Kernel time of nn.Modules by operator, forward and backward";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<ModuleStatistic>;
  return spec;
}

}  // namespace steplens::analysis::cluster
