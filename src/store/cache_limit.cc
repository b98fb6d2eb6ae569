#include "store/cache_limit.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace steplens::store {
namespace {

namespace fs = std::filesystem;

struct CachedFile {
  std::string path;
  uint64_t size_bytes = 0;
  bool is_added = false;
  std::pair<int64_t, int64_t> used;  // last: seconds and nanoseconds
};

std::vector<CachedFile> ListCache(const std::string& directory, const std::string& added) {
  std::vector<CachedFile> out;
  std::error_code error;
  for (const fs::directory_entry& item : fs::directory_iterator(directory, error)) {
    struct stat info{};
    if (item.path().extension() != ".slc" || ::stat(item.path().c_str(), &info) != 0) continue;
    out.push_back({item.path().string(),
                   static_cast<uint64_t>(info.st_size),
                   item.path() == added,
                   {info.st_mtim.tv_sec, info.st_mtim.tv_nsec}});
  }
  return out;
}

}  // namespace

CacheLimit::CacheLimit(std::string directory, uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

void CacheLimit::Added(const std::string& path, uint64_t size_bytes) {
  const std::lock_guard lock(total_mutex_);
  total_bytes_ += size_bytes;
  if (is_total_known_ && total_bytes_ <= limit_bytes_) return;
  LookThrough(path);
  is_total_known_ = true;
}

void CacheLimit::LookThrough(const std::string& added) {
  std::vector<CachedFile> files = ListCache(directory_, added);
  files_looked_at_ += files.size();
  total_bytes_ = 0;
  for (const CachedFile& file : files) total_bytes_ += file.size_bytes;
  if (total_bytes_ <= limit_bytes_) return;
  // The clock ticks slowly: the file just added may look as old as others.
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::tie(a.is_added, a.used) < std::tie(b.is_added, b.used);
  });
  const uint64_t with_room = limit_bytes_ - limit_bytes_ / 8;
  for (const CachedFile& file : files) {
    if (total_bytes_ <= (file.is_added ? limit_bytes_ : with_room)) return;
    std::error_code error;
    if (fs::remove(file.path, error)) total_bytes_ -= file.size_bytes;
  }
}

}  // namespace steplens::store
