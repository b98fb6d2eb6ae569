#include "cli/compare_options.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/number.h"
#include "cli/cluster_options.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNameLength = 200;
constexpr size_t kMaxFlowCategory = 20;
constexpr std::string_view kFormats[] = {"xlsx", "csv", "json", "html", "db"};

Error Usage(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// Reads a literal of Python: a dictionary whose keys and values are texts.
class DictionaryReader {
 public:
  explicit DictionaryReader(const std::string& text) : text_(text) {}

  Result<std::vector<std::pair<std::string, std::string>>> Read() {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!Take('{')) return NotADictionary();
    while (!Take('}')) {
      if (!pairs.empty() && !Take(',')) return NotADictionary();
      if (!pairs.empty() && Take('}')) break;  // a comma may come last
      SL_ASSIGN_OR_RETURN(std::string key, ReadText());
      if (!Take(':')) return NotADictionary();
      SL_ASSIGN_OR_RETURN(std::string value, ReadText());
      pairs.emplace_back(std::move(key), std::move(value));
    }
    SkipSpace();
    if (at_ != text_.size()) return NotADictionary();
    return pairs;
  }

 private:
  static Error NotADictionary() {
    return Usage(
        "Invalid param, --op_name_map must be dict, for example: --op_name_map={'name1':'name2'}");
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<std::string> ReadText() {
    SkipSpace();
    if (at_ >= text_.size()) return NotADictionary();
    const char quote = text_[at_];
    if (quote != '\'' && quote != '"') {
      const bool is_number = (quote >= '0' && quote <= '9') || quote == '-';
      if (!is_number) return NotADictionary();
      return Usage("Invalid param, key/value in --op_name_map must be string");
    }
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return out;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    return NotADictionary();
  }

  const std::string& text_;
  size_t at_ = 0;
};

Status ReadOperatorOptions(const Arguments& arguments, analysis::compare::SheetOptions& sheets) {
  if (arguments.Has("--max_kernel_num")) {
    sheets.max_kernels = arguments.Integer("--max_kernel_num");
    if (sheets.max_kernels.value_or(0) <= 3) {
      return Usage("Invalid param, --max_kernel_num has to be greater than 3");
    }
  }
  SL_ASSIGN_OR_RETURN(sheets.op_names, ParseNameMap(arguments.Value("--op_name_map")));
  sheets.gpu_flow_category = arguments.Value("--gpu_flow_cat");
  if (sheets.gpu_flow_category.size() > kMaxFlowCategory) {
    return Usage(fmt::format("Invalid param, --gpu_flow_cat exceeded the maximum value {}",
                             kMaxFlowCategory));
  }
  sheets.details = !arguments.Has("--disable_details");
  sheets.modules = !arguments.Has("--disable_module");
  sheets.input_shapes = arguments.Has("--use_input_shape");
  sheets.kernel_types = arguments.Has("--use_kernel_type");
  sheets.compat = arguments.Has("--compat");
  return {};
}

// None of the switches means all of them.
void ReadChoice(const Arguments& arguments, CompareRequest& request) {
  analysis::compare::SheetChoice& wanted = request.sheets.wanted;
  const std::pair<const char*, bool*> switches[] = {
      {"--enable_profiling_compare", &wanted.overall},
      {"--enable_operator_compare", &wanted.operators},
      {"--enable_memory_compare", &wanted.memory},
      {"--enable_communication_compare", &wanted.communication},
      {"--enable_api_compare", &wanted.api},
      {"--enable_kernel_compare", &wanted.kernels}};
  const bool has_any = std::any_of(std::begin(switches), std::end(switches),
                                   [&](const auto& one) { return arguments.Has(one.first); });
  for (const auto& [name, is_wanted] : switches) *is_wanted = !has_any || arguments.Has(name);
  if (request.sheets.kernel_types && !wanted.kernels) {
    request.notes.emplace_back("--use_kernel_type has no effect without --enable_kernel_compare");
  }
}

Status ReadSteps(const Arguments& arguments, analysis::compare::SheetOptions& sheets) {
  const std::string base = arguments.Value("--base_step");
  const std::string comparison = arguments.Value("--comparison_step");
  if (base.empty() && comparison.empty()) return {};
  if (base.empty() != comparison.empty()) {
    return Usage("Invalid param, base_step and comparison_step must be set at the same time.");
  }
  const auto is_number = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  sheets.base_step = is_number(base) ? ParseInt64(base) : std::nullopt;
  sheets.comparison_step = is_number(comparison) ? ParseInt64(comparison) : std::nullopt;
  if (!sheets.base_step || !sheets.comparison_step) {
    return Usage("Invalid param, base_step and comparison_step must be a number.");
  }
  return {};
}

Result<std::string> ReadInputPath(const Arguments& arguments, const char* option) {
  std::string path = CleanPath(arguments.Value(option));
  std::error_code error;
  if (!fs::exists(path, error)) return Usage(fmt::format("{}: '{}' does not exist", option, path));
  return path;
}

Status ReadOutput(const Arguments& arguments, CompareRequest& request) {
  if (arguments.Has("--output_path")) {
    request.output_folder = CleanPath(arguments.Value("--output_path"));
  }
  std::error_code error;
  if (fs::exists(request.output_folder, error) && !fs::is_directory(request.output_folder, error)) {
    return Usage(
        fmt::format("--output_path: '{}' is a file, a folder was expected", request.output_folder));
  }
  request.output_name = arguments.Value("--output_name");
  if (request.output_name.empty()) {
    request.output_name = fmt::format("performance_comparison_result_{:%Y%m%d%H%M%S}",
                                      fmt::gmtime(std::time(nullptr)));
  }
  if (request.output_name.find('/') != std::string::npos || request.output_name == "." ||
      request.output_name == "..") {
    return Usage(fmt::format("--output_name: '{}' is no name of a file; --output_path says where",
                             request.output_name));
  }
  const std::string formats = arguments.Value("--format") + ",";
  for (size_t begin = 0; begin < formats.size();) {
    const size_t end = formats.find(',', begin);
    const std::string format = formats.substr(begin, end - begin);
    begin = end + 1;
    if (format.empty()) continue;
    if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats)) {
      return Usage(fmt::format("--format: '{}' is none of {}", format, fmt::join(kFormats, ", ")));
    }
    request.formats.push_back(format);
  }
  if (request.formats.empty()) return Usage("--format: a format was expected");
  return {};
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ParseNameMap(const std::string& text) {
  if (text.empty()) return std::vector<std::pair<std::string, std::string>>();
  SL_ASSIGN_OR_RETURN(auto pairs, DictionaryReader(text).Read());
  for (const auto& [from, to] : pairs) {
    if (from.size() > kMaxNameLength || to.size() > kMaxNameLength) {
      return Usage(fmt::format(
          "Invalid param, the length of key/value in --op_name_map exceeded the maximum value {}",
          kMaxNameLength));
    }
  }
  return pairs;
}

analysis::Language LanguageOf(const Arguments& arguments) {
  return arguments.Value("--lang") == "zh" ? analysis::Language::kChinese
                                           : analysis::Language::kEnglish;
}

Result<CompareRequest> ReadCompareRequest(const Arguments& arguments) {
  CompareRequest request;
  SL_RETURN_IF_ERROR(ReadOperatorOptions(arguments, request.sheets));
  ReadChoice(arguments, request);
  SL_RETURN_IF_ERROR(ReadSteps(arguments, request.sheets));
  SL_ASSIGN_OR_RETURN(request.base, ReadInputPath(arguments, "--benchmark_profiling_path"));
  SL_ASSIGN_OR_RETURN(request.comparison, ReadInputPath(arguments, "--profiling_path"));
  SL_RETURN_IF_ERROR(ReadOutput(arguments, request));
  request.language = LanguageOf(arguments);
  return request;
}

std::vector<OptionSpec> CompareOptions() {
  return {
      {.name = "--profiling_path",
       .value_name = "PATH",
       .help = "The profile under study: anything that 'info' opens",
       .is_required = true,
       .short_name = "-d"},
      {.name = "--benchmark_profiling_path",
       .value_name = "PATH",
       .help = "The profile it is compared with, the base; or baseline:NAME",
       .is_required = true,
       .short_name = "-bp"},
      {.name = "--output_path",
       .value_name = "FOLDER",
       .help = "Where results go; created if it is missing. Default: the current folder",
       .short_name = "-o"},
      {.name = "--output_name",
       .value_name = "NAME",
       .help = "Name of the results without suffix. Default: performance_comparison_result_<UTC>"},
      {.name = "--format",
       .value_name = "LIST",
       .help = "Forms of the result, separated by commas: xlsx, csv (one file per sheet in a "
               "folder), json, html (a report to read), db",
       .default_value = "xlsx",
       .suggestions = {std::begin(kFormats), std::end(kFormats)}},
      {.name = "--enable_profiling_compare", .help = "Compare overall metrics"},
      {.name = "--enable_operator_compare", .help = "Compare operators or modules"},
      {.name = "--enable_memory_compare", .help = "Compare the memory of operators"},
      {.name = "--enable_communication_compare", .help = "Compare collectives"},
      {.name = "--enable_api_compare", .help = "Compare calls on the host"},
      {.name = "--enable_kernel_compare", .help = "Compare kernels"},
      {.name = "--disable_details", .help = "Leave out the sheets that list single operators"},
      {.name = "--disable_module", .help = "Compare operators even where modules were recorded"},
      {.name = "--max_kernel_num",
       .value_name = "N",
       .help = "Open operators that launched more than N kernels; N above 3",
       .is_integer = true},
      {.name = "--op_name_map",
       .value_name = "DICT",
       .help = "Names that stand for others, as {'name1':'name2'}; '*' in the first matches any "
               "text"},
      {.name = "--use_input_shape", .help = "Match operators by name and input shapes"},
      {.name = "--gpu_flow_cat",
       .value_name = "CAT",
       .help = "Category of the arrows from host to GPU; at most 20 characters"},
      {.name = "--base_step", .value_name = "S", .help = "Only this step of the base"},
      {.name = "--comparison_step",
       .value_name = "S",
       .help = "Only this step of the profile under study"},
      {.name = "--use_kernel_type", .help = "Compare kernels by type and core"},
      {.name = "--compat", .help = "Use the rules of msprof-analyze, its defects included"},
      {.name = "--force", .help = "Accepted for compatibility; files of any size are read"},
      {.name = "--debug", .help = "Accepted for compatibility"}};
}

}  // namespace steplens::cli
