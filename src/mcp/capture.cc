#include "mcp/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace steplens::mcp {
namespace {

Status WaitUntilRead(const server::Dataset& dataset, const std::string& path,
                     const std::function<bool()>& should_stop) {
  constexpr std::chrono::milliseconds kTick{20};
  std::optional<Status> found;
  while (!found && !should_stop()) found = dataset.WaitDetected(kTick);
  if (found) SL_RETURN_IF_ERROR(*found);
  while (!dataset.WaitReady(kTick)) {
    if (!should_stop()) continue;
    const server::Dataset::View view(dataset);
    return Error{ErrorCode::kIo,
                 fmt::format("{}: {} of {} ranks are read so far; reading goes on, call again",
                             path, view.ranks().size(), view.expected_ranks())};
  }
  return {};
}

}  // namespace

const server::ShownRank& Capture::Shown(size_t job_index) const {
  return *view->ranks()[view->SlotsByRank()[job_index]];
}

Result<size_t> Capture::IndexOf(int64_t rank) const {
  for (size_t i = 0; i < job->ranks.size(); ++i) {
    if (job->ranks[i].info.rank == rank) return i;
  }
  return Error{
      ErrorCode::kNotFound,
      fmt::format("there is no rank {}; ranks are {} to {} ({} of them)", rank,
                  job->ranks.front().info.rank, job->ranks.back().info.rank, job->ranks.size())};
}

Captures::Captures(Options options) : options_(std::move(options)) { Restart(); }

void Captures::Restart() {
  workspace_.reset();
  server::Workspace::Options options;
  options.roots = options_.roots;
  options.use_cache = options_.use_cache;
  options.version = options_.version;
  workspace_ = std::make_unique<server::Workspace>(std::move(options));
}

Result<std::string> Captures::Admit(const std::string& path) const {
  if (!path.starts_with('/')) {
    for (const std::string& root : options_.roots) {
      Result<std::string> real = workspace_->Admit((std::filesystem::path(root) / path).string());
      if (real.ok()) return real;
    }
    return Error{ErrorCode::kNotFound, fmt::format("{}: not there, or outside of --root ({})", path,
                                                   options_.roots.front())};
  }
  Result<std::string> real = workspace_->Admit(path);
  if (real.ok()) return real;
  return Error{ErrorCode::kNotFound, fmt::format("{}: not there, or outside of --root ({})", path,
                                                 options_.roots.front())};
}

Result<Capture> Captures::Open(std::string path, const std::function<bool()>& should_stop) {
  if (path.empty()) path = last_path_;
  if (path.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "'path' is missing: name a capture; `open` without a path lists what there is"};
  }
  SL_ASSIGN_OR_RETURN(const std::string real, Admit(path));
  const auto is_real = [&](const server::OpenDataset* open) {
    return open->dataset->paths() == std::vector<std::string>{real};
  };
  const std::vector<server::OpenDataset*> all = workspace_->All();
  if (all.size() >= kMaxOpen && std::none_of(all.begin(), all.end(), is_real)) Restart();
  SL_ASSIGN_OR_RETURN(const std::string id, workspace_->Open({real}));
  Capture capture;
  capture.path = path;
  capture.open = workspace_->Find(id);
  SL_RETURN_IF_ERROR(WaitUntilRead(*capture.open->dataset, path, should_stop));
  capture.view = std::make_unique<server::Dataset::View>(*capture.open->dataset);
  capture.job = capture.view->job();
  if (capture.job == nullptr || capture.job->ranks.empty())
    return Error{ErrorCode::kNotFound, capture.view->failure()};
  last_path_ = path;
  return capture;
}

}  // namespace steplens::mcp
