#include "mcp/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "open/open.h"

namespace steplens::mcp {
namespace {

// What tells the present state of the files from another one.
Result<std::vector<store::CacheKey>> KeysOf(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const opening::Captures found, opening::FindCaptures({path}));
  std::vector<store::CacheKey> keys;
  for (const opening::Capture& capture : found.ranks)
    keys.push_back(opening::KeyOf(capture.source));
  return keys;
}

}  // namespace

Result<size_t> Capture::IndexOf(int64_t rank) const {
  for (size_t i = 0; i < job->ranks.size(); ++i) {
    if (job->ranks[i].info.rank == rank) return i;
  }
  return Error{
      ErrorCode::kNotFound,
      fmt::format("there is no rank {}; ranks are {} to {} ({} of them)", rank,
                  job->ranks.front().info.rank, job->ranks.back().info.rank, job->ranks.size())};
}

Captures::Captures(Options options) : options_(std::move(options)) { StartWorkspace(); }

void Captures::StartWorkspace() {
  workspace_.reset();
  server::Workspace::Options options;
  options.roots = options_.roots;
  options.use_cache = options_.use_cache;
  options.version = options_.version;
  workspace_ = std::make_unique<server::Workspace>(std::move(options));
}

Result<std::string> Captures::Admit(const std::string& path) const {
  std::vector<std::string> places{path};
  if (!path.starts_with('/')) {
    places.clear();
    for (const std::string& root : options_.roots)
      places.push_back((std::filesystem::path(root) / path).string());
  }
  for (const std::string& place : places) {
    Result<std::string> real = workspace_->Admit(place);
    if (real.ok()) return real;
  }
  return Error{ErrorCode::kNotFound, fmt::format("{}: not there, or outside of --root ({})", path,
                                                 options_.roots.front())};
}

Result<std::unique_ptr<OpenJob>> Captures::Read(const std::string& path,
                                                const std::string& real) const {
  auto open = std::make_unique<OpenJob>();
  open->real_path = real;
  SL_ASSIGN_OR_RETURN(open->keys, KeysOf(real));
  opening::OpenOptions options;
  options.use_cache = options_.use_cache;
  Result<store::Job> job = opening::OpenJob({real}, options);
  if (!job.ok() && job.error().code == ErrorCode::kCancelled) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: reading it takes longer than the time limit; ranks that are read "
                             "are kept in the cache, so call again, or raise --timeout",
                             path)};
  }
  if (!job.ok()) return std::move(job).error();
  open->job = *std::move(job);
  for (const store::TraceStore& rank : open->job.ranks) open->views.emplace_back(rank);
  return open;
}

Result<Capture> Captures::Open(std::string path) {
  if (path.empty()) path = last_path_;
  if (path.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "'path' is missing: name a capture; `open` without a path lists what there is"};
  }
  SL_ASSIGN_OR_RETURN(const std::string real, Admit(path));
  auto found = std::find_if(open_.begin(), open_.end(),
                            [&](const auto& one) { return one->real_path == real; });
  if (found != open_.end()) {
    SL_ASSIGN_OR_RETURN(const std::vector<store::CacheKey> keys, KeysOf(real));
    if (keys != (*found)->keys) {
      open_.erase(found);
      StartWorkspace();  // the lanes are those of the old files
      found = open_.end();
    }
  }
  if (found == open_.end()) {
    SL_ASSIGN_OR_RETURN(std::unique_ptr<OpenJob> open, Read(path, real));
    if (open_.size() >= kMaxOpen) open_.pop_back();
    open_.push_front(std::move(open));
  } else {
    open_.splice(open_.begin(), open_, found);
  }
  last_path_ = path;
  return Capture{path, open_.front().get(), &open_.front()->job};
}

Result<const server::Dataset*> Captures::OpenForViewer(const Capture& capture,
                                                       const std::function<bool()>& should_stop) {
  const std::vector<std::string> paths{capture.open->real_path};
  const std::vector<server::OpenDataset*> all = workspace_->All();
  const bool is_open = std::any_of(all.begin(), all.end(), [&](const server::OpenDataset* one) {
    return one->dataset->paths() == paths;
  });
  if (!is_open && all.size() >= kMaxOpen) StartWorkspace();
  SL_ASSIGN_OR_RETURN(const std::string id, workspace_->Open(paths));
  const server::Dataset* dataset = workspace_->Find(id)->dataset.get();
  constexpr std::chrono::milliseconds kTick{20};
  while (!dataset->WaitReady(kTick)) {
    if (should_stop())
      return Error{ErrorCode::kIo, "the lanes are still being laid out; call again in a moment"};
  }
  return dataset;
}

}  // namespace steplens::mcp
