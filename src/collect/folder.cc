#include "collect/folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "format/framework.h"

namespace steplens::collect {
namespace {

constexpr mode_t kFolderMode = 0750;

// Like mkdir -p; 0 or errno. `*made` tells whether the last one is new.
int MakeFolders(const std::string& path, bool* made) {
  *made = false;
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    *made = mkdir(part.c_str(), kFolderMode) == 0;
    if (!*made && errno != EEXIST) {
      struct stat status;
      // An automounter or a read-only parent refuses even existing folders.
      const int error = errno;
      if (stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return error;
    }
    if (end == std::string::npos) break;
  }
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return errno;
  return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

// Calls visit(name) for each entry of a folder.
template <typename Visit>
void ForEachEntry(const std::string& folder, Visit visit) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(std::string(name));
  }
  closedir(entries);
}

bool IsRawFile(std::string_view name) {
  return name.starts_with("torch.") || name.starts_with("steplens.");
}

bool IsInfoFile(std::string_view name) {
  return name.starts_with("profiler_info") || name.starts_with("profiler_metadata.json");
}

void RemoveTree(const std::string& path, int depth) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) {
    unlink(path.c_str());
    return;
  }
  if (depth < 32) {
    ForEachEntry(path, [&](const std::string& name) { RemoveTree(path + "/" + name, depth + 1); });
  }
  rmdir(path.c_str());
}

}  // namespace

std::string MakeCaptureFolder(const std::string& path, CaptureFolderState* out) {
  out->path = path;
  while (out->path.size() > 1 && out->path.back() == '/') out->path.pop_back();
  int error = MakeFolders(out->path, &out->is_ours);
  if (error != 0) return out->path + ": cannot make this folder: " + std::strerror(error);
  struct stat status = {};
  if (stat(out->path.c_str(), &status) != 0 || status.st_uid != geteuid())
    return out->path + ": this folder belongs to another user";
  const std::string raw = out->path + "/" + std::string(format::kFrameworkFolder);
  bool made_raw = false;
  error = MakeFolders(raw, &made_raw);
  if (error != 0) {
    if (out->is_ours) rmdir(out->path.c_str());
    return raw + ": cannot make this folder: " + std::strerror(error);
  }
  bool holds_capture = false;
  if (!made_raw) {
    ForEachEntry(raw, [&](const std::string& name) { holds_capture |= IsRawFile(name); });
  }
  if (holds_capture) return out->path + ": there is a capture in this folder already";
  return "";
}

void RemoveCaptureFolder(const CaptureFolderState& folder) {
  if (folder.is_ours) return RemoveTree(folder.path, 0);
  const std::string raw = folder.path + "/" + std::string(format::kFrameworkFolder);
  ForEachEntry(raw, [&](const std::string& name) {
    if (IsRawFile(name)) unlink((raw + "/" + name).c_str());
  });
  rmdir(raw.c_str());
  ForEachEntry(folder.path, [&](const std::string& name) {
    if (IsInfoFile(name)) unlink((folder.path + "/" + name).c_str());
  });
}

}  // namespace steplens::collect
