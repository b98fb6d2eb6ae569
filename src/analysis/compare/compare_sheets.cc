#include "analysis/compare/compare_sheets.h"

#include <fmt/format.h>

#include "analysis/compare/api_sheet.h"
#include "analysis/compare/communication_sheet.h"
#include "analysis/compare/kernel_sheets.h"
#include "analysis/compare/module_sheets.h"
#include "analysis/compare/operator_sheets.h"
#include "analysis/compare/overall_sheet.h"
#include "analysis/compare/regressions.h"

namespace steplens::analysis::compare {
namespace {

constexpr size_t kShownRegressions = 10;

class SheetMaker {
 public:
  SheetMaker(const Side& base, const Side& comparison, const SheetOptions& options)
      : base_(base), comparison_(comparison), options_(options) {}

  Result<SheetResult> Make() {
    SL_RETURN_IF_ERROR(AddOverall());
    AddCommunication();
    AddOperators();
    SL_RETURN_IF_ERROR(AddKernels());
    return std::move(result_);
  }

 private:
  void Add(ResultSheet sheet) {
    if (sheet.table.rows() > 0) result_.sheets.push_back(std::move(sheet));
  }
  void Note(const Side& side, std::string_view what) {
    result_.notes.push_back(fmt::format("{}: {}", side.store.info.path, what));
  }

  Status AddOverall() {
    if (!options_.wanted.overall) return {};
    SL_ASSIGN_OR_RETURN(base_overall_, MeasureOverall(base_, options_));
    SL_ASSIGN_OR_RETURN(comparison_overall_, MeasureOverall(comparison_, options_));
    result_.summary = OverallSummary(*base_overall_, *comparison_overall_, options_.compat);
    Add(OverallSheet(CompareOverall(*base_overall_, *comparison_overall_, options_.compat)));
    const auto check = [&](const Side& side, const Overall& overall) {
      if (overall.e2e_ns == 0) Note(side, "no device work, so there is no OverallMetrics sheet");
    };
    check(base_, *base_overall_);
    check(comparison_, *comparison_overall_);
    return {};
  }

  void AddCommunication() {
    if (!options_.wanted.communication) return;
    const auto base = CollectCollectives(base_, options_.compat);
    const auto comparison = CollectCollectives(comparison_, options_.compat);
    if (base.empty()) Note(base_, "no collectives");
    if (comparison.empty()) Note(comparison_, "no collectives");
    Add(CommunicationSheet(base, comparison, options_.compat));
  }

  void AddOperators() {
    const SheetChoice& wanted = options_.wanted;
    const bool by_module =
        wanted.operators && options_.modules && base_.HasModules() && comparison_.HasModules();
    if (by_module) AddModules();
    const bool wants_operators = wanted.operators && (!by_module || !options_.compat);
    if (!wanted.memory && !wanted.api && !wants_operators) return;
    for (const Side* side : {&base_, &comparison_}) {
      if (side->ops.empty()) Note(*side, "no operators of the host");
    }
    const OpTree base_tree = TreeOf(base_);
    const OpTree comparison_tree = TreeOf(comparison_);
    const SideTree base{base_, base_tree};
    const SideTree comparison{comparison_, comparison_tree};
    if (wanted.memory || (wanted.operators && !by_module)) AddTrees(base, comparison, by_module);
    if (wanted.api) {
      Add(ApiSheet(CollectApis(base, options_.compat), CollectApis(comparison, options_.compat),
                   options_.compat));
    }
    if (wanted.operators && !options_.compat) AddRegressions(base, comparison);
  }

  OpTree TreeOf(const Side& side) {
    std::vector<MemoryRecord> memory;
    if (options_.wanted.memory && (side.has_tables || side.is_gpu)) {
      memory = CollectMemory(side, options_.compat);
      if (memory.empty()) Note(side, "no memory of operators");
    }
    return BuildOpTree(side, std::move(memory), options_.compat);
  }

  void AddRegressions(const SideTree& base, const SideTree& comparison) {
    RegressionInput input{base, comparison};
    if (base_modules_) input.base_modules = &*base_modules_;
    if (comparison_modules_) input.comparison_modules = &*comparison_modules_;
    int64_t total_diff_ns = 0;
    if (base_overall_) {
      input.base_overall = &*base_overall_;
      input.comparison_overall = &*comparison_overall_;
      total_diff_ns = comparison_overall_->e2e_ns - base_overall_->e2e_ns;
    }
    const std::vector<Regression> found = FindRegressions(input, kShownRegressions);
    if (!found.empty()) result_.regressions = RegressionTable(found, total_diff_ns);
  }

  void AddTrees(const SideTree& base, const SideTree& comparison, bool by_module) {
    const std::vector<Pair> pairs = MatchOperators(base, comparison, options_);
    const bool compat = options_.compat;
    if (options_.wanted.operators && !by_module) {
      Add(OperatorStatisticSheet(base, comparison, pairs, compat));
      if (options_.details) Add(OperatorSheet(base, comparison, pairs, compat));
    }
    const bool has_memory = !base.tree.memory.empty() || !comparison.tree.memory.empty();
    if (!options_.wanted.memory || (!compat && !has_memory)) return;
    Add(MemoryStatisticSheet(base, comparison, pairs, compat));
    if (options_.details) Add(MemorySheet(base, comparison, pairs, compat));
  }

  void AddModules() {
    base_modules_ = BuildModuleTree(base_, options_.compat);
    comparison_modules_ = BuildModuleTree(comparison_, options_.compat);
    const SideModules base{base_, *base_modules_};
    const SideModules comparison{comparison_, *comparison_modules_};
    Add(ModuleStatisticSheet(base, comparison, options_));
    if (options_.details) Add(ModuleSheet(base, comparison, options_));
  }

  Status AddKernels() {
    if (!options_.wanted.kernels) return {};
    if (options_.kernel_types) {
      Add(KernelTypeSheet(CollectKernelTypes(base_, options_),
                          CollectKernelTypes(comparison_, options_)));
      return {};
    }
    SL_ASSIGN_OR_RETURN(const auto base, CollectKernels(base_, options_));
    SL_ASSIGN_OR_RETURN(const auto comparison, CollectKernels(comparison_, options_));
    // Kernels of a GPU and of an NPU have no names in common.
    if (base_.is_gpu == comparison_.is_gpu) {
      if (base.empty()) Note(base_, "no kernels");
      if (comparison.empty()) Note(comparison_, "no kernels");
      Add(KernelSheet(base, comparison, options_.compat));
    }
    return {};
  }

  const Side& base_;
  const Side& comparison_;
  const SheetOptions& options_;
  std::optional<Overall> base_overall_;
  std::optional<Overall> comparison_overall_;
  std::optional<ModuleTree> base_modules_;
  std::optional<ModuleTree> comparison_modules_;
  SheetResult result_;
};

}  // namespace

Result<SheetResult> CompareSheets(const RankView& base, const RankView& comparison,
                                  const SheetOptions& options) {
  SL_ASSIGN_OR_RETURN(const Side base_side, CollectSide(base, options, options.base_step));
  SL_ASSIGN_OR_RETURN(const Side comparison_side,
                      CollectSide(comparison, options, options.comparison_step));
  return SheetMaker(base_side, comparison_side, options).Make();
}

}  // namespace steplens::analysis::compare
