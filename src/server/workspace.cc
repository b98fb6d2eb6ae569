#include "server/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/hash.h"
#include "base/roots.h"

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

std::string IdOf(const std::vector<std::string>& paths, const RankNumbers& numbers) {
  std::string all;
  for (const std::string& path : paths) all += path + '\n';
  for (const auto& [path, rank] : numbers) all += fmt::format("{}={}\n", path, rank);
  return fmt::format("{:016x}", Hash64(all));
}

// Letters, digits and the like between single slashes; nothing hidden, nothing above.
bool IsUploadName(std::string_view name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+ /";
  return !name.empty() && name.size() <= 200 &&
         name.find_first_not_of(kPlain) == std::string_view::npos && !name.starts_with('.') &&
         !name.starts_with('/') && !name.ends_with('/') &&
         name.find("/.") == std::string_view::npos && name.find("//") == std::string_view::npos;
}

}  // namespace

Workspace::Workspace(Options options)
    : options_(std::move(options)), run_id_(fmt::format("{:08x}", std::random_device()())) {
  for (const std::string& root : options_.roots) {
    AddRoot(root);
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

Workspace::~Workspace() {
  events_.Close();
  RemoveUploads();
}

void Workspace::RemoveUploads() {
  const std::lock_guard lock(mutex_);
  std::error_code ignored;
  if (!upload_folder_.empty()) fs::remove_all(upload_folder_, ignored);
}

Result<std::string> Workspace::Open(const std::vector<std::string>& paths, RankNumbers numbers) {
  if (paths.empty()) return Error{ErrorCode::kInvalidArgument, "no path given"};
  std::vector<std::string> real;
  for (const std::string& path : paths) {
    SL_ASSIGN_OR_RETURN(std::string resolved, Resolve(path));
    real.push_back(std::move(resolved));
  }
  const std::string id = IdOf(real, numbers);
  const std::lock_guard lock(mutex_);
  for (const auto& open : open_) {
    if (open->dataset->id() == id) return id;
  }
  if (open_.size() >= kMaxDatasets)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} data sets are open, which is the limit", kMaxDatasets)};
  for (const std::string& path : real) AddRoot(path);
  roots_.insert(roots_.end(), real.begin(), real.end());
  auto open = std::make_unique<OpenDataset>();
  open->dataset = std::make_unique<Dataset>(id, std::move(real), events_, options_.use_cache,
                                            std::move(numbers));
  open->cache = std::make_unique<DatasetCache>();
  open_.push_back(std::move(open));
  return id;
}

Result<std::string> Workspace::Upload(const std::string& name, uint64_t at,
                                      std::string_view bytes) {
  if (!IsUploadName(name))
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'name': '{}' is not a file name to bring along", name)};
  const std::lock_guard lock(mutex_);
  if (upload_folder_.empty()) {
    std::string folder = (fs::temp_directory_path() / "steplens_page_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
      return Error{ErrorCode::kIo, fmt::format("{}: cannot make a folder", folder)};
    SL_ASSIGN_OR_RETURN(upload_folder_, Resolve(folder));
    roots_.push_back(upload_folder_);
  }
  const fs::path path = fs::path(upload_folder_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const uint64_t size = at == 0 ? 0 : fs::file_size(path, error);
  if (error || size != at)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'at': {} is not the end of {}", at, name)};
  if (uploaded_bytes_ + bytes.size() > kMaxUploadBytes)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("files of the page may have {} MiB together; give larger ones to "
                             "`steplens view` by their path",
                             kMaxUploadBytes >> 20)};
  uploaded_bytes_ += bytes.size();
  std::ofstream out(path, at == 0 ? std::ios::binary : std::ios::binary | std::ios::app);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return Error{ErrorCode::kIo, fmt::format("{}: cannot be written", path.string())};
  return path.string();
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
