#include "cli/results_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/number.h"

namespace steplens::cli {

namespace fs = std::filesystem;

namespace {

Error SystemError(const fs::path& path, std::string_view action, const std::string& reason) {
  return {ErrorCode::kIo, fmt::format("{}: cannot {}: {}", path.string(), action, reason)};
}

}  // namespace

void CloseFileToOthers(const fs::path& path) {
  std::error_code ignored;
  fs::permissions(path, fs::perms::others_all | fs::perms::group_write, fs::perm_options::remove,
                  ignored);
}

ResultsFolder::ResultsFolder(fs::path path, fs::path final_path)
    : path_(std::move(path)), final_(std::move(final_path)) {
  std::error_code ignored;
  has_old_ = fs::exists(final_, ignored);
}

ResultsFolder::ResultsFolder(ResultsFolder&& other) noexcept
    : path_(std::move(other.path_)),
      final_(std::move(other.final_)),
      has_old_(other.has_old_),
      exists_(std::exchange(other.exists_, false)) {}

ResultsFolder::~ResultsFolder() {
  std::error_code ignored;
  if (exists_) fs::remove_all(path_, ignored);
}

Result<ResultsFolder> ResultsFolder::Create(const std::string& capture) {
  const fs::path folder(capture);
  RemoveLeftOvers(folder);
  ResultsFolder out(folder / fmt::format(".{}.{}", kResultsFolder, ::getpid()),
                    folder / kResultsFolder);
  if (::mkdir(out.path_.c_str(), 0750) != 0) {
    const int error = errno;
    return Error{ErrorCode::kIo,
                 fmt::format("{}: the results cannot be written next to the raw data: {}; make the "
                             "folder writable, or analyse a copy of it",
                             capture, std::strerror(error))};
  }
  out.exists_ = true;
  return out;
}

Error ResultsFolder::Explain(Error error) const {
  const size_t at = error.message.find(path());
  if (error.code != ErrorCode::kIo || at == std::string::npos) return error;
  error.message.replace(at, path().size(), final_.string());
  error.message += has_old_ ? "; the results from before are kept" : "; no results were left";
  return error;
}

Status ResultsFolder::Commit(std::string_view note) {
  SL_ASSIGN_OR_RETURN(AtomicFile done, AtomicFile::Create((path_ / kDoneFile).string()));
  SL_RETURN_IF_ERROR(done.Write(note.data(), note.size()));
  SL_RETURN_IF_ERROR(done.CommitDurably());
  CloseToOthers();
  // With old results in place the two change names, so that at no moment there are none. Another
  // analysis may have put its results there between the two attempts.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0)
      return {};  // the destructor removes the file that now has our name
    if (std::rename(path_.c_str(), final_.c_str()) == 0) {
      exists_ = false;
      return {};
    }
  }
  // A file system that cannot exchange.
  std::error_code error;
  const fs::path old = path_.string() + ".old";
  if (fs::exists(final_, error)) fs::rename(final_, old, error);
  if (!error) fs::rename(path_, final_, error);
  if (error) {
    const std::string reason = error.message();
    std::error_code ignored;
    if (fs::exists(old, ignored)) fs::rename(old, final_, ignored);
    return SystemError(final_, "replace the results", reason);
  }
  exists_ = false;
  fs::remove_all(old, error);
  return {};
}

void ResultsFolder::CloseToOthers() const {
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    CloseFileToOthers(it->path());
  }
}

void ResultsFolder::RemoveLeftOvers(const fs::path& folder) {
  RemoveFoldersOfDead(folder, fmt::format(".{}.", kResultsFolder));
}

void RemoveFoldersOfDead(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> dead;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    const auto pid = ParseInt64(rest.substr(0, rest.find('.')));
    const bool is_alive = pid && *pid > 0 && *pid != ::getpid() &&
                          (::kill(static_cast<pid_t>(*pid), 0) == 0 || errno == EPERM);
    if (!is_alive) dead.push_back(it->path());
  }
  for (const fs::path& path : dead) fs::remove_all(path, error);
}

}  // namespace steplens::cli
