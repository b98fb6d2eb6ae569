#include "server/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/hash.h"

namespace steplens::server {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxDatasets = 32;

// Whether `path` is `root` or below it; both absolute and without links.
bool IsBelow(const fs::path& path, const fs::path& root) {
  const auto [at, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return at == root.end();
}

Result<std::string> Resolve(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return Error{ErrorCode::kInvalidArgument, "the path holds a NUL byte"};
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error == std::errc::permission_denied)
    return Error{ErrorCode::kIo, fmt::format("{}: cannot look at it: Permission denied", path)};
  if (error) return Error{ErrorCode::kNotFound, fmt::format("{}: no such file or folder", path)};
  return real.string();
}

std::string IdOf(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) all += path + '\n';
  return fmt::format("{:016x}", Hash64(all));
}

}  // namespace

Workspace::Workspace(Options options)
    : options_(std::move(options)), run_id_(fmt::format("{:08x}", std::random_device()())) {
  for (const std::string& root : options_.roots) {
    if (Result<std::string> real = Resolve(root); real.ok()) roots_.push_back(*std::move(real));
  }
}

Status Workspace::CheckRoots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    SL_ASSIGN_OR_RETURN(const std::string real, Resolve(root));
    std::error_code error;
    const fs::directory_iterator entries(real, error);
    if (error == std::errc::not_a_directory)
      return Error{ErrorCode::kInvalidArgument, fmt::format("{}: not a folder", root)};
    if (error)
      return Error{ErrorCode::kIo,
                   fmt::format("{}: cannot list the folder: {}", root, error.message())};
  }
  return {};
}

Workspace::~Workspace() { events_.Close(); }

Result<std::string> Workspace::Open(const std::vector<std::string>& paths) {
  if (paths.empty()) return Error{ErrorCode::kInvalidArgument, "no path given"};
  std::vector<std::string> real;
  for (const std::string& path : paths) {
    SL_ASSIGN_OR_RETURN(std::string resolved, Resolve(path));
    real.push_back(std::move(resolved));
  }
  const std::string id = IdOf(real);
  const std::lock_guard lock(mutex_);
  for (const auto& open : open_) {
    if (open->dataset->id() == id) return id;
  }
  if (open_.size() >= kMaxDatasets)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} data sets are open, which is the limit", kMaxDatasets)};
  roots_.insert(roots_.end(), real.begin(), real.end());
  auto open = std::make_unique<OpenDataset>();
  open->dataset = std::make_unique<Dataset>(id, std::move(real), events_, options_.use_cache);
  open->cache = std::make_unique<DatasetCache>();
  open_.push_back(std::move(open));
  return id;
}

std::string Workspace::Adopt(std::string id, store::Job job) {
  // Ranks are shown on the way. That is not done under our lock: who looks at ranks may take it.
  auto open = std::make_unique<OpenDataset>();
  open->dataset = std::make_unique<Dataset>(id, std::move(job), events_);
  open->cache = std::make_unique<DatasetCache>();
  const std::lock_guard lock(mutex_);
  open_.push_back(std::move(open));
  return id;
}

OpenDataset* Workspace::Find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& open : open_) {
    if (open->dataset->id() == id) return open.get();
  }
  return nullptr;
}

std::vector<OpenDataset*> Workspace::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<OpenDataset*> out;
  for (const auto& open : open_) out.push_back(open.get());
  return out;
}

Result<std::string> Workspace::Admit(const std::string& path) const {
  // One answer for both cases: what is outside must not even be known to exist.
  const Error refused{ErrorCode::kNotFound,
                      fmt::format("{}: not there, or outside of what was opened and of the --root "
                                  "folders",
                                  path)};
  Result<std::string> real = Resolve(path);
  if (!real.ok()) return refused;
  const std::lock_guard lock(mutex_);
  for (const std::string& root : roots_) {
    if (IsBelow(*real, root)) return real;
  }
  return refused;
}

std::vector<std::string> Workspace::roots() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out = roots_;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace steplens::server
