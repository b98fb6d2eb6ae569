#include "base/roots.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace steplens {
namespace {

namespace fs = std::filesystem;

struct Roots {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> written;  // as the user wrote them, without a last '/'
  std::set<std::string, std::less<>> real;     // absolute, without links
  std::atomic<bool> follows_links{false};
};

// NOLINTNEXTLINE: one set for the process
Roots& TheRoots() {
  static Roots roots;
  return roots;
}

std::string_view WithoutLastSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Whether a path or a folder above it, as it is written, is in the set.
bool IsBelowOne(const std::set<std::string, std::less<>>& roots, std::string_view path) {
  path = WithoutLastSlashes(path);
  while (true) {
    if (roots.contains(path)) return true;
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || path == "/") return false;
    path = WithoutLastSlashes(path.substr(0, std::max<size_t>(slash, 1)));
  }
}

// Whether the fence has anything to say about a path.
bool IsFenced(Roots& roots, const std::string& path) {
  if (roots.follows_links.load(std::memory_order_relaxed)) return false;
  const std::shared_lock lock(roots.mutex);
  return !roots.written.empty() && IsBelowOne(roots.written, path);
}

bool IsRealOutside(Roots& roots, const fs::path& real) {
  const std::shared_lock lock(roots.mutex);
  return !IsBelowOne(roots.real, real.string());
}

}  // namespace

void AddRoot(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return;  // nothing is below it
  Roots& roots = TheRoots();
  const std::unique_lock lock(roots.mutex);
  roots.written.emplace(WithoutLastSlashes(path));
  roots.written.insert(real.string());
  roots.real.insert(real.string());
}

void AddRootUnlessBelow(const std::string& path) {
  {
    Roots& roots = TheRoots();
    const std::shared_lock lock(roots.mutex);
    if (IsBelowOne(roots.written, path)) return;
  }
  AddRoot(path);
}

void FollowLinks() { TheRoots().follows_links.store(true, std::memory_order_relaxed); }

bool LeavesRoots(const std::string& path) {
  Roots& roots = TheRoots();
  if (!IsFenced(roots, path)) return false;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return !error && IsRealOutside(roots, real);
}

bool LeavesRoots(const std::string& path, int fd) {
  Roots& roots = TheRoots();
  if (!IsFenced(roots, path)) return false;
  std::error_code error;
  const fs::path real = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  return error ? LeavesRoots(path) : IsRealOutside(roots, real);
}

}  // namespace steplens
