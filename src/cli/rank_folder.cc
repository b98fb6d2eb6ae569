#include "cli/rank_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "cli/results_folder.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

Error CannotWrite(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path.string(), error.message())};
}

}  // namespace

Result<RankFolder> RankFolder::Create(const fs::path& final_path) {
  const fs::path above = final_path.parent_path();
  const std::string prefix = fmt::format(".{}.steplens-", final_path.filename().string());
  fs::path created;
  std::error_code error;
  for (fs::path up = above; !up.empty() && !fs::exists(up, error); up = up.parent_path())
    created = up;
  RemoveFoldersOfDead(above, prefix);
  fs::path path = above / fmt::format("{}{}", prefix, ::getpid());
  fs::remove_all(path, error);
  fs::create_directories(path, error);
  if (error) return CannotWrite(final_path, error);
  return RankFolder(std::move(path), final_path, std::move(created));
}

RankFolder::RankFolder(RankFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      final_(std::move(other.final_)),
      created_(std::exchange(other.created_, {})) {}

RankFolder::~RankFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (!created_.empty()) fs::remove_all(created_, ignored);
}

Error RankFolder::Explain(Error error) const {
  const size_t at = error.message.find(path_.string());
  if (at != error.message.npos) error.message.replace(at, path_.string().size(), final_.string());
  return error;
}

Status RankFolder::Commit() {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(final_, error))) {
    fs::rename(path_, final_, error);
  } else {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_, error)) {
      const fs::path place = final_ / entry.path().lexically_relative(path_);
      if (entry.is_directory()) {
        fs::create_directories(place, error);
      } else {
        files.push_back(place);
      }
      if (error) return CannotWrite(place, error);
    }
    for (const fs::path& place : files) {
      fs::rename(path_ / place.lexically_relative(final_), place, error);
      if (error) return CannotWrite(place, error);
    }
    fs::remove_all(path_, error);
  }
  if (error) return CannotWrite(final_, error);
  path_.clear();
  created_.clear();
  return {};
}

}  // namespace steplens::cli
