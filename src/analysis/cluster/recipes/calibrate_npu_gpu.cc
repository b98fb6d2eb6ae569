#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/cluster/recipes/gpu_modules.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/rounding.h"
#include "analysis/cluster/recipes/similarity.h"
#include "analysis/modules/module_ops.h"
#include "base/number.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;
using table::CellType;

using Profile = std::vector<ProfileRow>;

struct Part {
  Profile rows;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rows);
  }
};

// The operators of one rank's modules, ordered by (parent, module, op).
Profile SummarizeProfile(const TraceStore& store, bool only_marked) {
  struct Sum {
    ProfileRow row;
    int64_t kinds = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
  for (const ModuleOp& op : SummarizeModules(store, only_marked)) {
    Sum& sum = sums[{op.parent, op.module, op.op}];
    sum.row.kernels += (sum.row.kernels.empty() ? "" : ", ") + op.kernels;
    sum.row.total_ns = AddSaturating(sum.row.total_ns, op.total_ns);
    sum.row.mean_ns += static_cast<double>(op.total_ns) / static_cast<double>(op.count());
    sum.row.count += op.count();
    ++sum.kinds;
  }
  Profile rows;
  for (auto& [key, sum] : sums) {
    std::tie(sum.row.parent, sum.row.module, sum.row.op) = key;
    sum.row.mean_ns /= static_cast<double>(sum.kinds);
    rows.push_back(std::move(sum.row));
  }
  return rows;
}

int64_t TotalNs(const Profile& rows) {
  int64_t total_ns = 0;
  for (const ProfileRow& row : rows) total_ns = AddSaturating(total_ns, row.total_ns);
  return total_ns;
}

bool IsBackward(std::string_view key) { return key.find("[Backward]") != key.npos; }

// What modules of both sides are told by.
std::string KeyOf(const ProfileRow& row) {
  return row.parent.empty() ? row.module : row.parent + "/" + row.module;
}
std::string NpuKeyOf(const ProfileRow& row) {
  constexpr std::string_view kVendor = "Ascend";
  std::string key = KeyOf(row);
  for (size_t at = key.find(kVendor); at != key.npos; at = key.find(kVendor))
    key.erase(at, kVendor.size());
  return key;
}

// Which GPU module a NPU module is compared with.
struct Match {
  std::string gpu_key;  // empty: none
  bool is_fuzzy = false;
};

class Matcher {
 public:
  Matcher(const std::map<std::string, Profile>& gpu, double threshold, bool compat)
      : gpu_(gpu), threshold_(threshold), compat_(compat) {}

  // The module of the same name, else the most similar one (of several the last in the alphabet).
  // The backward pass of a module is no match for its forward pass; in the reference it is.
  Match Find(const std::string& npu_key) const {
    if (gpu_.contains(npu_key)) return {npu_key, false};
    Match best;
    double best_similarity = threshold_;
    for (const auto& [key, rows] : gpu_) {
      if (!compat_ && IsBackward(key) != IsBackward(npu_key)) continue;
      if (SimilarityAtMost(key, npu_key) < best_similarity) continue;
      const double similarity = Similarity(key, npu_key);
      if (similarity < best_similarity) continue;
      best_similarity = similarity;
      best = {key, true};
    }
    return best;
  }

 private:
  const std::map<std::string, Profile>& gpu_;  // owned by the caller
  double threshold_;
  bool compat_;
};

// The rows of one GPU module and of all NPU modules that are compared with it; or of a module that
// only one side has.
struct Group {
  Profile npu;
  Profile gpu;
  std::string match;  // of the NPU rows: rule, fuzzy, none
};

// Rows as the report has them, cell by cell. The reference writes numbers as texts and a blank
// where there is nothing.
class ReportTable {
 public:
  ReportTable(std::string name, bool compat) : table_(std::move(name)), compat_(compat) {
    const CellType number = compat ? CellType::kText : CellType::kDouble;
    for (const char* column : {"(GPU) Parent Module", "(GPU) Module", "(NPU) Parent Module",
                               "(NPU) Module", "Match Type"})
      table_.AddColumn(column, CellType::kText);
    for (const char* side : {"NPU", "GPU"}) {
      const auto add = [&](const char* column, CellType type) {
        table_.AddColumn(fmt::format("({}) {}", side, column), type);
      };
      add("Op Name", CellType::kText);
      add("Op Count", number);
      add("Kernel List", CellType::kText);
      add("Total Kernel Duration(us)", number);
      add("Total Kernel Duration(%)", number);
      add("Avg Kernel Duration(us)", number);
    }
    table_.AddColumn("(NPU/GPU) Module Time Ratio", number);
    table_.AddColumn("(NPU-GPU,us) Module Time Diff", number);
  }

  void Text(std::string_view text) {
    table_.AppendText(Next(), text.empty() && compat_ ? " " : text);
  }
  void Number(std::optional<double> value) {
    if (!compat_) {
      table_.AppendDouble(Next(), value.value_or(std::numeric_limits<double>::quiet_NaN()));
    } else {
      table_.AppendText(Next(), value ? FormatDouble(*value) : " ");
    }
  }
  void Percent(std::optional<double> share) {
    if (compat_ && share) {
      table_.AppendText(Next(), fmt::format("{:.2f}%", 100 * *share));
    } else {
      Number(share ? std::optional(RoundTo(100 * *share, 2)) : std::nullopt);
    }
  }
  // The six cells of one side; blank without a row.
  void Side(const ProfileRow* row, int64_t all_ns) {
    const auto number = [&](double value) {
      Number(row != nullptr ? std::optional(value) : std::nullopt);
    };
    const ProfileRow& shown = row != nullptr ? *row : kNothing;
    const auto total_ns = static_cast<double>(shown.total_ns);
    Text(shown.op);
    number(static_cast<double>(shown.count));
    Text(shown.kernels);
    number(total_ns / kNsPerUs);
    Percent(row != nullptr && all_ns > 0 ? std::optional(total_ns / static_cast<double>(all_ns))
                                         : std::nullopt);
    number(shown.mean_ns / kNsPerUs);
  }

  table::Table Take() { return std::move(table_); }

  static constexpr double kNsPerUs = 1000;

 private:
  size_t Next() {
    const size_t column = next_;
    next_ = (next_ + 1) % table_.columns().size();
    return column;
  }

  inline static const ProfileRow kNothing;
  table::Table table_;
  bool compat_;
  size_t next_ = 0;
};

// Compares the modules of one rank and one device.
class Comparison {
 public:
  Comparison(const Profile& npu, const Profile& gpu, double threshold, bool compat)
      : npu_all_ns_(TotalNs(npu)), gpu_all_ns_(TotalNs(gpu)), compat_(compat) {
    std::map<std::string, Profile> gpu_modules;
    for (const ProfileRow& row : gpu) gpu_modules[KeyOf(row)].push_back(row);
    std::map<std::string, Profile> npu_modules;
    for (const ProfileRow& row : npu) npu_modules[NpuKeyOf(row)].push_back(row);
    const Matcher matcher(gpu_modules, threshold, compat);
    for (const auto& [key, rows] : npu_modules) {
      const Match match = matcher.Find(key);
      const bool is_matched = !match.gpu_key.empty();
      Group& group = groups_[is_matched ? match.gpu_key : key];
      group.npu.insert(group.npu.end(), rows.begin(), rows.end());
      group.match = match.is_fuzzy ? "fuzzy" : is_matched || compat ? "rule" : "none";
    }
    for (auto& [key, rows] : gpu_modules) groups_[key].gpu = std::move(rows);
  }

  table::Table MakeTable(const std::string& name) {
    ReportTable report(name, compat_);
    for (auto& [key, group] : groups_) AddGroup(group, report);
    return report.Take();
  }

 private:
  // The longest with the longest, and so on.
  void AddGroup(Group& group, ReportTable& report) const {
    const auto longer = [](const ProfileRow& a, const ProfileRow& b) {
      return a.total_ns > b.total_ns;
    };
    std::stable_sort(group.npu.begin(), group.npu.end(), longer);
    std::stable_sort(group.gpu.begin(), group.gpu.end(), longer);
    const bool has_both = !group.npu.empty() && !group.gpu.empty();
    const auto npu_ns = static_cast<double>(TotalNs(group.npu));
    const auto gpu_ns = static_cast<double>(TotalNs(group.gpu));
    for (size_t i = 0; i < std::max(group.npu.size(), group.gpu.size()); ++i) {
      const ProfileRow* npu = i < group.npu.size() ? &group.npu[i] : nullptr;
      const ProfileRow* gpu = i < group.gpu.size() ? &group.gpu[i] : nullptr;
      AddModules(group, npu, gpu, report);
      report.Side(npu, npu_all_ns_);
      report.Side(gpu, gpu_all_ns_);
      const bool has_ratio = has_both && gpu_ns > 0 && (npu != nullptr || !compat_);
      report.Number(has_ratio ? std::optional(RoundTo(npu_ns / gpu_ns, 2)) : std::nullopt);
      report.Number(has_ratio ? std::optional((npu_ns - gpu_ns) / ReportTable::kNsPerUs)
                              : std::nullopt);
    }
  }

  // The modules' names and how they were matched. The reference repeats the name of one side where
  // the other has no such module.
  void AddModules(const Group& group, const ProfileRow* npu, const ProfileRow* gpu,
                  ReportTable& report) const {
    const ProfileRow* npu_name = npu;
    if (npu_name == nullptr && !compat_ && !group.npu.empty()) npu_name = &group.npu.front();
    const ProfileRow* gpu_name = group.gpu.empty() ? nullptr : &group.gpu.front();
    if (compat_ && npu_name == nullptr) npu_name = gpu;
    if (compat_ && gpu_name == nullptr) gpu_name = npu;
    for (const ProfileRow* name : {gpu_name, npu_name}) {
      report.Text(name != nullptr ? name->parent : "");
      report.Text(name != nullptr ? name->module : "");
    }
    if (compat_) return report.Text(npu != nullptr ? group.match : "");
    report.Text(group.npu.empty() ? "none" : group.match);
  }

  int64_t npu_all_ns_;
  int64_t gpu_all_ns_;
  bool compat_;
  std::map<std::string, Group> groups_;
};

table::Table ProfileTable(const std::string& name, const Profile& rows) {
  table::Table table(name);
  for (const char* column : {"Parent Module", "Module", "Op Name"})
    table.AddColumn(column, CellType::kText);
  table.AddColumn("Op Count", CellType::kInt);
  table.AddColumn("Kernel List", CellType::kText);
  table.AddColumn("Total Kernel Duration(us)", CellType::kDouble);
  table.AddColumn("Avg Kernel Duration(us)", CellType::kDouble);
  for (const ProfileRow& row : rows) {
    table.AppendText(0, row.parent);
    table.AppendText(1, row.module);
    table.AppendText(2, row.op);
    table.AppendInt(3, row.count);
    table.AppendText(4, row.kernels);
    table.AppendDouble(5, static_cast<double>(row.total_ns) / ReportTable::kNsPerUs);
    table.AppendDouble(6, row.mean_ns / ReportTable::kNsPerUs);
  }
  return table;
}

class CalibrateNpuGpu : public RecipeOf<Part> {
 public:
  CalibrateNpuGpu(const Options& options, double threshold)
      : options_(options), threshold_(threshold) {}

  // The devices of an Nsight Systems export are ranks; the captures of another profiler say theirs.
  void SetBaseline(const store::Job& baseline) override {
    for (const TraceStore& store : baseline.ranks) {
      if (store.info.source == store::Source::kNsys) {
        for (auto& [device, rows] : SummarizeGpuModules(store))
          gpu_.try_emplace(device, std::move(rows));
        continue;
      }
      Profile rows = SummarizeProfile(store, /*only_marked=*/false);
      if (!rows.empty()) gpu_.try_emplace(store.info.rank, std::move(rows));
    }
    // The reference begins the path of a nested module with a slash on this side only, so that none
    // of them is ever equal to one of the other side.
    if (!options_.compat) return;
    for (auto& [rank, rows] : gpu_) {
      for (ProfileRow& row : rows) {
        if (!row.parent.empty()) row.parent.insert(0, "/");
      }
    }
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    for (const auto& [rank, npu] : npu_) {
      const Profile& gpu = gpu_.at(rank);
      if (!options_.Value("dump_intermediate_results").empty()) {
        answer.tables.push_back({ProfileTable(fmt::format("NPUProfileRank{}", rank), npu),
                                 fmt::format("npu_report_{}.xlsx", rank)});
        answer.tables.push_back({ProfileTable(fmt::format("GPUProfileRank{}", rank), gpu),
                                 fmt::format("gpu_report_{}.xlsx", rank)});
      }
      Comparison comparison(npu, gpu, threshold_, options_.compat);
      ResultTable& result = answer.tables.emplace_back(ResultTable{
          .table = comparison.MakeTable(fmt::format("CompareProfileReportRank{}", rank))});
      result.csv_name = fmt::format("compare_profile_report_{}.xlsx", rank);
      result.is_sheet = true;
      result.merged_columns = 4;
      result.column_widths = {20, 20, 20, 20, 10, 20, 10, 40, 10, 10,
                              10, 20, 10, 40, 10, 10, 10, 10, 10};
    }
    AddNotes(answer);
    answer.suggestion = Message{"suggestion.calibrate_npu_gpu"};
    return answer;
  }

 protected:
  Part MapRank(const TraceStore& rank) const override {
    return {SummarizeProfile(rank, /*only_marked=*/options_.compat)};
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.rows.empty()) {
      ++ranks_without_modules_;
    } else if (!gpu_.contains(facts.rank)) {
      ++ranks_without_gpu_;
    } else {
      npu_.emplace(facts.rank, std::move(part.rows));
    }
  }

 private:
  void AddNotes(Answer& answer) const {
    if (gpu_.empty()) {
      answer.notes.push_back(
          "the baseline has no kernels inside module ranges (NVTX ranges named after layers)");
    }
    answer.Note(ranks_without_gpu_,
                "{ranks} {have} no device of {their} number in the baseline and {are} not "
                "compared");
    answer.Note(ranks_without_modules_, "{ranks} {have} no module ranges with kernels in them");
  }

  Options options_;
  double threshold_;
  std::map<int64_t, Profile> gpu_;  // by device, which plays the role of the rank
  std::map<int64_t, Profile> npu_;  // by rank; those that have a device
  size_t ranks_without_gpu_ = 0;
  size_t ranks_without_modules_ = 0;
};

Result<std::unique_ptr<Recipe>> Make(const Options& options) {
  if (options.Value("baseline_profiling_path").empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "calibrate_npu_gpu needs --baseline_profiling_path: the Nsight Systems export "
                 "(.sqlite) of the same model on GPUs"};
  }
  const std::string text = options.Value("fuzzy_threshold", "0.8");
  const std::optional<double> threshold = ParseDouble(text);
  if (!threshold || *threshold < 0 || *threshold > 1) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--fuzzy_threshold: '{}' is not a number from 0 to 1", text)};
  }
  // The reference takes the option but always compares with this.
  constexpr double kReferenceThreshold = 0.6;
  return std::unique_ptr<Recipe>(std::make_unique<CalibrateNpuGpu>(
      options, options.compat ? kReferenceThreshold : *threshold));
}

}  // namespace

RecipeSpec CalibrateNpuGpuRecipe() {
  RecipeSpec spec;
  spec.name = "calibrate_npu_gpu";
  spec.folder = "CalibrateNpuGpu";
  spec.summary = "The same model on NPU and GPU, module by module";
  spec.needs.timeline = true;
  spec.options = {"baseline_profiling_path", "fuzzy_threshold", "dump_intermediate_results"};
  spec.baseline_option = "baseline_profiling_path";
  spec.needs_another_run = true;
  spec.make = Make;
  return spec;
}

}  // namespace steplens::analysis::cluster
