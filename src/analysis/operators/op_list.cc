#include "analysis/operators/op_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/api/api_statistics.h"
#include "analysis/classify/classify.h"
#include "analysis/operators/operator_tables.h"

namespace steplens::analysis {
namespace {

constexpr std::array<std::string_view, 6> kGroupings = {"name", "type", "shape",
                                                        "core", "api",  "operator"};
constexpr std::array<std::string_view, 4> kCommunication = {"", "include", "exclude", "only"};

template <size_t N>
bool IsWordOf(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool HasTypes(const store::KernelTable& kernels) {
  return std::any_of(kernels.type.begin(), kernels.type.end(),
                     [](StringId type) { return type != StringId::kEmpty; });
}

Status CheckWords(const std::string& by, const std::string& communication) {
  if (!IsWordOf(kGroupings, by)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("by: '{}' is not one of name, type, shape, core, api, operator", by)};
  }
  if (!IsWordOf(kCommunication, communication)) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("communication: '{}' is not one of include, exclude, only", communication)};
  }
  return {};
}

}  // namespace

std::string BestOpGrouping(const store::Job& job) {
  bool has_device = false;
  for (const store::TraceStore& rank : job.ranks) {
    const Platform platform = DetectPlatform(rank, ClassifyTracks(rank));
    has_device = has_device || platform != Platform::kHostOnly;
    if (platform == Platform::kAscend && HasTypes(rank.kernels)) return "type";
  }
  return has_device ? "name" : "operator";
}

bool GroupsKernels(const std::string& by) { return by != "operator" && by != "api"; }

KernelStatisticsOptions OpListOptions(const Selection& selection, const std::string& by,
                                      const std::string& communication) {
  KernelStatisticsOptions options;
  options.selection = selection;
  if (by == "name") options.by = KernelGrouping::kName;
  if (by == "shape") options.by = KernelGrouping::kShape;
  if (by == "core") options.by = KernelGrouping::kCore;
  if (communication == "include") options.communication = CommunicationRows::kInclude;
  if (communication == "exclude") options.communication = CommunicationRows::kExclude;
  if (communication == "only") options.communication = CommunicationRows::kOnly;
  return options;
}

Result<table::Table> ListOps(const store::Job& job, const Selection& selection,
                             const std::string& by, const std::string& communication) {
  SL_RETURN_IF_ERROR(CheckWords(by, communication));
  if (GroupsKernels(by)) return KernelStatistics(job, OpListOptions(selection, by, communication));
  if (!communication.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--communication selects kernels, but --by {} lists {}; use --by name, "
                    "type, shape or core",
                    by, by == "api" ? "API calls" : "operators of the host")};
  }
  if (by == "operator") return HostOpStatistics(job, selection);
  ApiStatisticsOptions options;
  options.selection = selection;
  return ApiStatistics(job, options);
}

}  // namespace steplens::analysis
