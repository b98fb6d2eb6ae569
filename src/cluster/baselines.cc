#include "cluster/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "analysis/compare/runs/baseline_file.h"
#include "base/file.h"
#include "base/nearest_name.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".baseline";
constexpr size_t kLongestName = 100;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // far beyond any summary

std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT: read once, before threads
  return value == nullptr ? "" : value;
}

bool IsGoodName(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), is_good);
}

}  // namespace

Result<std::string> BaselineFolder(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  if (const std::string own = Environment("STEPLENS_BASELINE_DIR"); !own.empty()) return own;
  if (const std::string xdg = Environment("XDG_DATA_HOME"); !xdg.empty())
    return xdg + "/steplens/baselines";
  if (const std::string home = Environment("HOME"); !home.empty())
    return home + "/.local/share/steplens/baselines";
  return Error{ErrorCode::kInvalidArgument,
               "no folder for baselines: set STEPLENS_BASELINE_DIR or name one with --dir"};
}

Result<std::string> Baselines::PathOf(const std::string& name) const {
  if (IsGoodName(name)) return (fs::path(folder_) / (name + std::string(kSuffix))).string();
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("'{}' cannot be the name of a baseline: letters, digits, '.', '_' and "
                           "'-' were expected, at most {}, and no '.' or '-' first",
                           name, kLongestName)};
}

Error Baselines::NoSuch(const std::string& name) const {
  std::vector<std::string> names;
  if (const Result<std::vector<Entry>> entries = List(); entries.ok()) {
    for (const Entry& entry : *entries) names.push_back(entry.name);
  }
  return {ErrorCode::kNotFound,
          fmt::format("there is no baseline '{}' in {}{}", name, folder_, DidYouMean(name, names))};
}

Result<std::string> Baselines::Save(const std::string& name,
                                    const analysis::runs::RunSummary& run) const {
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(name));
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot make the folder {}: {}", folder_, error.message())};
  }
  const std::string bytes = analysis::runs::ToBaseline(run);
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(file.Write(bytes.data(), bytes.size()));
  SL_RETURN_IF_ERROR(file.Commit());
  return path;
}

Result<analysis::runs::RunSummary> Baselines::Load(const std::string& name) const {
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(name));
  std::error_code error;
  if (!fs::exists(path, error)) return NoSuch(name);
  SL_ASSIGN_OR_RETURN(const FileStamp stamp, StatFile(path));
  if (stamp.size_bytes > kMostBytes) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: {} bytes are too many for a baseline", path, stamp.size_bytes)};
  }
  SL_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return analysis::runs::FromBaseline(bytes, path);
}

Status Baselines::Remove(const std::string& name) const {
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(name));
  std::error_code error;
  if (!fs::remove(path, error) && !error) return NoSuch(name);
  if (error)
    return Error{ErrorCode::kIo, fmt::format("cannot remove {}: {}", path, error.message())};
  return {};
}

Result<std::vector<Baselines::Entry>> Baselines::List() const {
  std::vector<Entry> out;
  std::error_code error;
  if (!fs::exists(folder_, error)) return out;
  for (fs::directory_iterator files(folder_, error), end; !error && files != end;
       files.increment(error)) {
    const fs::path& path = files->path();
    if (path.extension() != kSuffix || !IsGoodName(path.stem().string())) continue;
    std::error_code size_error;
    const uintmax_t size = files->file_size(size_error);
    out.push_back({path.stem().string(), path.string(), size_error ? 0 : uint64_t{size}});
  }
  if (error)
    return Error{ErrorCode::kIo, fmt::format("cannot list {}: {}", folder_, error.message())};
  std::sort(out.begin(), out.end(), [](const Entry& x, const Entry& y) { return x.name < y.name; });
  return out;
}

}  // namespace steplens::cluster
