#include "analysis/compare/compare_sheets.h"

#include <algorithm>

#include "analysis/compare/api_sheet.h"
#include "analysis/compare/communication_sheet.h"
#include "analysis/compare/kernel_sheets.h"
#include "analysis/compare/module_sheets.h"
#include "analysis/compare/names.h"
#include "analysis/compare/operator_sheets.h"
#include "analysis/compare/overall_sheet.h"
#include "analysis/compare/regressions.h"
#include "analysis/compare/unmatched.h"
#include "base/name_pattern.h"

namespace steplens::analysis::compare {
namespace {

constexpr size_t kShownRegressions = 10;

class SheetMaker {
 public:
  SheetMaker(const Side& base, const Side& comparison, const SheetOptions& options)
      : base_(base), comparison_(comparison), options_(options) {}

  Result<SheetResult> Make() {
    AddNotes();
    SL_RETURN_IF_ERROR(AddOverall());
    AddCommunication();
    AddOperators();
    SL_RETURN_IF_ERROR(AddKernels());
    if (!options_.compat) Add(UnmatchedSheet(std::move(unmatched_)));
    return std::move(result_);
  }

 private:
  void Add(ResultSheet sheet) {
    if (sheet.table.rows() > 0) result_.sheets.push_back(std::move(sheet));
  }
  void Note(const Side& side, const char* key) {
    result_.notes.push_back(Message{key, {{"path", side.store.info.path}}});
  }

  // What a reader has to know before the numbers.
  void AddNotes() {
    if (options_.compat) return;
    const std::string& a = base_.store.info.level;
    const std::string& b = comparison_.store.info.level;
    if (a != b && !a.empty() && !b.empty())
      result_.notes.push_back(Message{"compare.note.levels", {{"a", a}, {"b", b}}});
    for (const auto& [pattern, name] : options_.op_names) {
      const auto matches = [&](const HostEvent& op) { return FitsPattern(op.name, pattern); };
      const bool is_used = std::any_of(base_.ops.begin(), base_.ops.end(), matches) ||
                           std::any_of(comparison_.ops.begin(), comparison_.ops.end(), matches);
      if (!is_used)
        result_.notes.push_back(Message{"compare.note.pattern", {{"pattern", pattern}}});
    }
  }

  Status AddOverall() {
    if (!options_.wanted.overall) return {};
    SL_ASSIGN_OR_RETURN(base_overall_, MeasureOverall(base_, options_));
    SL_ASSIGN_OR_RETURN(comparison_overall_, MeasureOverall(comparison_, options_));
    result_.summary = OverallSummary(*base_overall_, *comparison_overall_, options_.compat);
    Add(OverallSheet(CompareOverall(*base_overall_, *comparison_overall_, options_.compat)));
    const auto check = [&](const Side& side, const Overall& overall) {
      if (overall.e2e_ns == 0) Note(side, "compare.note.no_device");
    };
    check(base_, *base_overall_);
    check(comparison_, *comparison_overall_);
    return {};
  }

  void AddCommunication() {
    if (!options_.wanted.communication) return;
    const auto base = CollectCollectives(base_, options_.compat);
    const auto comparison = CollectCollectives(comparison_, options_.compat);
    if (base.empty()) Note(base_, "compare.note.no_collectives");
    if (comparison.empty()) Note(comparison_, "compare.note.no_collectives");
    Add(CommunicationSheet(base, comparison, options_.compat));
    AddUnmatchedCollectives(base, comparison, unmatched_);
  }

  void AddOperators() {
    const SheetChoice& wanted = options_.wanted;
    const bool by_module =
        wanted.operators && options_.modules && base_.HasModules() && comparison_.HasModules();
    if (by_module) AddModules();
    const bool wants_operators = wanted.operators && (!by_module || !options_.compat);
    if (!wanted.memory && !wanted.api && !wants_operators) return;
    for (const Side* side : {&base_, &comparison_}) {
      if (side->ops.empty()) Note(*side, "compare.note.no_operators");
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
      if (memory.empty()) Note(side, "compare.note.no_memory");
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
    result_.regressions = FindRegressions(input, kShownRegressions);
    result_.total_diff_ns = total_diff_ns;
  }

  void AddTrees(const SideTree& base, const SideTree& comparison, bool by_module) {
    const std::vector<Pair> pairs = MatchOperators(base, comparison, options_);
    const bool compat = options_.compat;
    if (options_.wanted.operators && options_.details)
      AddUnmatchedOperators(base, comparison, pairs, unmatched_);
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
    AddUnmatchedModules(base, comparison, unmatched_);
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
      if (base.empty()) Note(base_, "compare.note.no_kernels");
      if (comparison.empty()) Note(comparison_, "compare.note.no_kernels");
      Add(KernelSheet(base, comparison, options_.compat));
      AddUnmatchedKernels(base, comparison, unmatched_);
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
  std::vector<Unmatched> unmatched_;
  SheetResult result_;
};

}  // namespace

Result<SidePair> CollectSides(const RankView& base, const RankView& comparison,
                              const SheetOptions& options) {
  SL_ASSIGN_OR_RETURN(Side base_side, CollectSide(base, options, options.base_step));
  SL_ASSIGN_OR_RETURN(Side comparison_side,
                      CollectSide(comparison, options, options.comparison_step));
  return SidePair{std::move(base_side), std::move(comparison_side)};
}

Result<SheetResult> CompareSheets(const SidePair& sides, const SheetOptions& options) {
  return SheetMaker(sides.base, sides.comparison, options).Make();
}

}  // namespace steplens::analysis::compare
