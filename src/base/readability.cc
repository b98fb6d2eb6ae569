#include "base/readability.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>

namespace steplens {
namespace {

constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
constexpr mode_t kEverybody = kOwner | S_IRGRP | S_IROTH;

// NOLINTNEXTLINE: one answer for the process
std::atomic<mode_t> readers_of_inputs{kEverybody};

// Who passes, of our group and of all others. Members of our group that are not of the file's are
// others to it.
mode_t Passing(const struct stat& info, mode_t group_bit, mode_t other_bit) {
  const bool others = (info.st_mode & other_bit) != 0;
  const bool group = info.st_gid == ::getegid() ? (info.st_mode & group_bit) != 0 : others;
  return kOwner | (group ? S_IRGRP : mode_t{0}) | (others ? S_IROTH : mode_t{0});
}

// Who can get into a folder, through all folders above it. Folders are looked at once.
mode_t ReachersOf(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, mode_t>;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known->find(folder.native()); found != known->end())
      return found->second;
  }
  struct stat info{};
  mode_t readers = ::stat(folder.c_str(), &info) == 0 ? Passing(info, S_IXGRP, S_IXOTH) : kOwner;
  if (folder.has_relative_path()) readers &= ReachersOf(folder.parent_path());
  const std::lock_guard lock(mutex);
  (*known)[folder.native()] = readers;
  return readers;
}

}  // namespace

void NoteReaders(mode_t readers) {
  if ((readers_of_inputs.load(std::memory_order_relaxed) & ~readers) == 0) return;
  readers_of_inputs.fetch_and(readers | kOwner, std::memory_order_relaxed);
}

void NoteInput(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) NoteInput(path, info);
}

void NoteInput(const std::string& path, const struct stat& info) {
  if (ReadersOfInputs() == kOwner || !S_ISREG(info.st_mode)) return;  // or: no narrower than this
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return NoteReaders(kOwner);
  NoteReaders(Passing(info, S_IRGRP, S_IROTH) & ReachersOf(absolute.parent_path()));
}

mode_t ReadersOfInputs() { return readers_of_inputs.load(std::memory_order_relaxed); }

void ForgetInputs() { readers_of_inputs.store(kEverybody, std::memory_order_relaxed); }

void LimitMode(const std::string& path, mode_t mode) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & 07777 & ~mode) == 0) return;
  ::chmod(path.c_str(), info.st_mode & mode);
}

}  // namespace steplens
