#include "cli/cluster_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "analysis/cluster/recipes/cluster_time_compare_summary.h"
#include "analysis/cluster/registry.h"
#include "cli/open_input.h"
#include "cli/version.h"
#include "cluster/part_file.h"
#include "cluster/rank_table.h"
#include "cluster/ranks.h"

namespace steplens::cli {
namespace {

namespace recipes = analysis::cluster;
using cluster::ExportType;

// Options that belong to single recipes, passed on by name, and switches, which are 1 there.
constexpr std::string_view kRecipeOptions[] = {
    "top_num", "bp", "rank_id", "parallel_types", "baseline_profiling_path", "fuzzy_threshold"};
constexpr std::string_view kRecipeSwitches[] = {"exclude_op_name", "dump_intermediate_results",
                                                "full_matrix", "strict_reference"};

// The words of a list, without the blanks around them.
std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    const size_t first = text.find_first_not_of(" \t", begin);
    if (first < end) {
      const size_t last = text.find_last_not_of(" \t", end - 1);
      out.push_back(text.substr(first, last + 1 - first));
    }
    begin = end + 1;
  }
  return out;
}

std::vector<std::string> ModeNames() {
  const auto names = recipes::ModeNames();
  return {names.begin(), names.end()};
}

// "all,hccl_sum" -> the recipes behind it, each once, in the order named.
Result<std::vector<recipes::RecipeSpec>> RecipesOf(const std::string& modes, bool compat) {
  std::vector<recipes::RecipeSpec> out;
  for (const std::string& mode : Split(modes, ',')) {
    const std::vector<std::string_view> names = recipes::RecipesOfMode(mode, compat);
    if (names.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--mode: '{}' is not a mode; choose from {}", mode,
                               fmt::join(recipes::ModeNames(), ", "))};
    }
    for (const std::string_view name : names) {
      const bool is_there = std::any_of(out.begin(), out.end(),
                                        [&](const auto& recipe) { return recipe.name == name; });
      if (!is_there) out.push_back(*recipes::FindRecipe(name));
    }
  }
  if (out.empty()) return Error{ErrorCode::kInvalidArgument, "--mode: a mode was expected"};
  return out;
}

ExportType ExportTypeOf(const std::string& name) {
  if (name == "text") return ExportType::kText;
  if (name == "notebook") return ExportType::kNotebook;
  if (name == "csv") return ExportType::kCsv;
  if (name == "json") return ExportType::kJson;
  if (name == "xlsx") return ExportType::kXlsx;
  return ExportType::kDb;
}

// `map` and `reduce` are words in front; what else no option explains is left over.
Status TakeKind(const Arguments& arguments, ClusterRequest& request) {
  request.unknown = arguments.Unknown();
  if (request.unknown.empty()) return {};
  const std::string first = request.unknown.front();
  if (first != "map" && first != "reduce") return {};
  request.unknown.erase(request.unknown.begin());
  request.kind = first == "map" ? ClusterRequest::Kind::kMap : ClusterRequest::Kind::kReduce;
  return {};
}

Status TakeRecipeOptions(const Arguments& arguments, ClusterRequest& request) {
  recipes::Options& options = request.run.options;
  for (const std::string_view name : kRecipeOptions) {
    const std::string option = fmt::format("--{}", name);
    if (arguments.Has(option)) options.values[std::string(name)] = arguments.Value(option);
  }
  for (const std::string_view name : kRecipeSwitches) {
    if (arguments.Has(fmt::format("--{}", name))) options.values[std::string(name)] = "1";
  }
  if (arguments.Integer("--rank_id").value_or(0) < 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--rank_id: {} is not a rank; a number from 0 was expected",
                             options.Value("rank_id"))};
  }
  if (arguments.Has("--top_num") && options.PositiveOr("top_num", 0) == 0) {
    request.notes.push_back(
        fmt::format("--top_num: '{}' is not a number above 0; as many rows as usual are kept",
                    options.values.extract("top_num").mapped()));
  }
  return {};
}

void TakeExportType(const Arguments& arguments, ClusterRequest& request) {
  request.type = ExportTypeOf(arguments.Value("--export_type"));
  request.run.tables_too = arguments.Has("--export_type") && !request.run.options.compat;
}

Status TakeMapTo(const Arguments& arguments, ClusterRequest& request) {
  request.run.map_to = CleanPath(arguments.Value("--out"));
  if (request.run.map_to.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "cluster map: --out FILE was expected, the file for the parts"};
  }
  for (const recipes::RecipeSpec& recipe : request.run.recipes) {
    if (recipe.name == recipes::kTimeCompareName)
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("cluster map: {} has no parts", recipe.name)};
  }
  const recipes::Options& options = request.run.options;
  request.run.question = {std::string(kVersion), arguments.Value("--mode"), options.compat,
                          options.step.value_or(-1), options.values};
  return {};
}

// What was asked is in the files; only how to write it is on the command line.
Status TakeParts(const Arguments& arguments, ClusterRequest& request) {
  const std::vector<std::string> files = std::exchange(request.unknown, {});
  if (files.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "cluster reduce: files were expected that 'steplens cluster map' wrote"};
  }
  SL_ASSIGN_OR_RETURN(cluster::PartFile parts, cluster::ReadPartFiles(files, request.notes));
  if (parts.question.version != kVersion) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: made by steplens {}, this is {}", files.front(),
                             parts.question.version, kVersion)};
  }
  if (parts.ranks.empty())
    return Error{ErrorCode::kNotFound, fmt::format("{}: there is no rank in it", files.front())};
  request.run.input = files.front();
  request.run.options.compat = parts.question.compat;
  if (parts.question.step >= 0) request.run.options.step = parts.question.step;
  request.run.options.values = parts.question.values;
  SL_ASSIGN_OR_RETURN(request.run.recipes, RecipesOf(parts.question.modes, parts.question.compat));
  request.run.parts = std::move(parts.ranks);
  request.run.use_cache = false;
  request.run.show_progress = true;
  request.output = CleanPath(arguments.Value("--output_path"));
  if (request.output.empty()) request.output = ".";
  TakeExportType(arguments, request);
  return {};
}

}  // namespace

std::string CleanPath(std::string path) {
  if (path.starts_with('=')) path.erase(0, 1);
  const char* home = std::getenv("HOME");  // NOLINT: no other thread yet
  if (home != nullptr && (path == "~" || path.starts_with("~/"))) path = home + path.substr(1);
  return path;
}

Result<ClusterRequest> ParseClusterRequest(const Arguments& arguments) {
  ClusterRequest request;
  SL_RETURN_IF_ERROR(TakeKind(arguments, request));
  if (request.kind == ClusterRequest::Kind::kReduce) {
    SL_RETURN_IF_ERROR(TakeParts(arguments, request));
    return request;
  }
  request.run.input = CleanPath(arguments.Value("--profiling_path"));
  if (request.run.input.empty() && !request.unknown.empty() &&
      !request.unknown.front().starts_with('-')) {  // other commands take the path as it is
    request.run.input = CleanPath(request.unknown.front());
    request.unknown.erase(request.unknown.begin());
  }
  request.output = CleanPath(arguments.Value("--output_path"));
  if (request.output.empty()) {
    const bool is_file = std::filesystem::is_regular_file(request.run.input);
    request.output = is_file ? std::filesystem::path(request.run.input).parent_path().string()
                             : request.run.input;
    if (request.output.empty()) request.output = ".";
  }
  if (request.run.input.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--profiling_path: the folder with the ranks' captures was expected (-d DIR)"};
  }
  SL_ASSIGN_OR_RETURN(request.run.recipes,
                      RecipesOf(arguments.Value("--mode"), arguments.Has("--compat")));
  SL_ASSIGN_OR_RETURN(request.run.ranks, cluster::ParseRankList(arguments.Value("--rank_list")));
  request.run.options.compat = arguments.Has("--compat");
  const int64_t step = arguments.Integer("--step_id").value_or(-1);
  if (step < -1) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--step_id: {} is not a step; a number from 0, or -1 for all steps, was "
                    "expected",
                    step)};
  }
  if (step >= 0) request.run.options.step = step;
  SL_RETURN_IF_ERROR(TakeRecipeOptions(arguments, request));
  if (arguments.Value("--parallel_mode") != "concurrent") {
    return Error{ErrorCode::kInvalidArgument, "--parallel_mode: only 'concurrent' exists"};
  }
  TakeExportType(arguments, request);
  request.run.manifest = CleanPath(arguments.Value("--manifest"));
  if (const std::string table = CleanPath(arguments.Value("--rank_table")); !table.empty()) {
    SL_ASSIGN_OR_RETURN(request.run.hosts, cluster::ReadRankTable(table));
  }
  request.run.use_cache = !arguments.Has("--no-cache");
  if (request.run.use_cache) SayIfCacheIsNotUsed();
  request.run.show_progress = true;
  if (request.kind == ClusterRequest::Kind::kMap) SL_RETURN_IF_ERROR(TakeMapTo(arguments, request));
  return request;
}

std::vector<OptionSpec> ClusterOptions() {
  return {
      {.name = "--profiling_path",
       .value_name = "DIR",
       .help = "Folder that contains the captures of all ranks",
       .short_name = "-d"},
      {.name = "--mode",
       .value_name = "MODE[,MODE...]",
       .help = "Modes to run; several modes share one pass over the data",
       .default_value = "all",
       .short_name = "-m",
       .suggestions = ModeNames()},
      {.name = "--output_path",
       .value_name = "DIR",
       .help = "Where cluster_analysis_output is written. Default: the folder of the captures",
       .short_name = "-o"},
      {.name = "--export_type",
       .value_name = "TYPE",
       .help = "Format of the results. For text captures the default is text",
       .default_value = "db",
       .choices = {"db", "text", "notebook", "csv", "json", "xlsx", "console"}},
      {.name = "--rank_list",
       .value_name = "RANKS",
       .help = "Only these ranks: 0-7,16,32-63",
       .default_value = "all"},
      {.name = "--step_id",
       .value_name = "N",
       .help = "Only this step; -1 means all",
       .default_value = "-1",
       .is_integer = true},
      {.name = "--rank_table",
       .value_name = "FILE",
       .help = "HCCL rank table; maps ranks to hosts"},
      {.name = "--manifest",
       .value_name = "FILE",
       .help = "List of captures, so that folders are not scanned again; created if missing"},
      {.name = "--out",
       .value_name = "FILE",
       .help = "For cluster map: output file for the parts of these ranks"},
      {.name = "--compat", .help = "Reproduce the reference tool's numbers, including its errors"},
      {.name = "--agent", .help = "Print one JSON object on stdout"},
      {.name = "--lang",
       .value_name = "LANG",
       .help = "Language of summary, report and suggestions",
       .default_value = "en",
       .choices = {"en", "zh"}},
      {.name = "--top_num",
       .value_name = "N",
       .help = "Number of rows: hccl_sum, slow_link (15), free_analysis, communication_bottleneck "
               "(10)"},
      {.name = "--exclude_op_name", .help = "For compute_op_sum: omit the table by operator name"},
      {.name = "--bp",
       .value_name = "DIR",
       .help = "For cluster_time_compare_summary: the cluster to compare with"},
      {.name = "--rank_id",
       .value_name = "RANK",
       .help = "For communication_bottleneck: the rank to analyse (default: the first)",
       .is_integer = true},
      {.name = "--parallel_types",
       .value_name = "TYPES",
       .help = "For computational_op_masking: sets of groups, e.g. 'edp;dp,edp'"},
      {.name = "--baseline_profiling_path",
       .value_name = "FILE",
       .help = "For calibrate_npu_gpu: the Nsight Systems export (.sqlite)"},
      {.name = "--fuzzy_threshold",
       .value_name = "X",
       .help = "For calibrate_npu_gpu: minimum similarity of matching module names (0.8)"},
      {.name = "--dump_intermediate_results",
       .help = "For calibrate_npu_gpu: also write the tables of both sides"},
      {.name = "--full_matrix", .help = "List all links of groups with more than 64 ranks"},
      {.name = "--strict_reference", .help = "Omit links with unknown ends"},
      {.name = "--in_place",
       .help = "For p2p_pairing, pp_chart, mstx2commop, export_summary: write into the captures"},
      {.name = "--parallel_mode",
       .value_name = "NAME",
       .help = "Accepted for compatibility",
       .default_value = "concurrent"},
      {.name = "--force",
       .help = "Accepted for compatibility; files of any owner and size are read"},
      {.name = "--data_simplification", .help = "Accepted for compatibility; no effect"},
      {.name = "--threads",
       .value_name = "N",
       .help = "Threads; 0 = one per core",
       .default_value = "0",
       .is_integer = true},
      {.name = "--no-cache", .help = "Read every rank again; do not use the cache"},
      FollowLinksOption()};
}

}  // namespace steplens::cli
