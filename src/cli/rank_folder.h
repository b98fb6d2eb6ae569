#pragma once

#include <filesystem>

#include "base/status.h"

namespace steplens::cli {

// The folder that a rank's files are written to. They are written beside it, in a hidden folder,
// and get to their place together when all are whole: neither a full disk nor a kill leaves
// something that looks like results. What an earlier kill has left is removed.
class RankFolder {
 public:
  static Result<RankFolder> Create(const std::filesystem::path& final_path);
  ~RankFolder();
  RankFolder(RankFolder&& other) noexcept;
  RankFolder& operator=(RankFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }  // where to write
  const std::filesystem::path& final_path() const { return final_; }

  // An error about a file in the hidden folder, as one about the file it was to be.
  Error Explain(Error error) const;

  // Files that are there already under these names are replaced, others stay.
  Status Commit();

 private:
  RankFolder(std::filesystem::path path, std::filesystem::path final_path,
             std::filesystem::path created)
      : path_(std::move(path)), final_(std::move(final_path)), created_(std::move(created)) {}

  std::filesystem::path path_;
  std::filesystem::path final_;
  std::filesystem::path created_;  // the outermost folder above that was not there; empty: none
};

}  // namespace steplens::cli
