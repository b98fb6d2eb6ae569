#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens::cli {

inline constexpr std::string_view kResultsFolder = "ASCEND_PROFILER_OUTPUT";
// In the results, the last file to be written.
inline constexpr std::string_view kDoneFile = "analyse.done";

// Results are for the user and the group, whatever wrote them.
void CloseFileToOthers(const std::filesystem::path& path);

// Removes folders in `folder` that are called `prefix` and the number of a process that is gone.
void RemoveFoldersOfDead(const std::filesystem::path& folder, const std::string& prefix);

// A folder beside the results of a capture that becomes them, or vanishes: results are replaced
// whole, and at no moment there are none. Several processes may work on one capture; the last one
// to finish is seen.
class ResultsFolder {
 public:
  // Also removes what analyses that were killed have left.
  static Result<ResultsFolder> Create(const std::string& capture);
  ResultsFolder(ResultsFolder&& other) noexcept;
  ResultsFolder& operator=(ResultsFolder&&) = delete;
  ~ResultsFolder();

  std::string path() const { return path_.string(); }

  // An error about a file in the folder, which nobody will find, as one about the file it was to
  // be.
  Error Explain(Error error) const;

  // Puts the folder in the place of the results, with `note` in analyse.done. On failure the old
  // ones are what they were.
  Status Commit(std::string_view note);

 private:
  ResultsFolder(std::filesystem::path path, std::filesystem::path final_path);
  void CloseToOthers() const;
  static void RemoveLeftOvers(const std::filesystem::path& folder);

  std::filesystem::path path_;
  std::filesystem::path final_;
  bool has_old_ = false;
  bool exists_ = false;
};

}  // namespace steplens::cli
