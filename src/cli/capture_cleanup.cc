#include "cli/capture_cleanup.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "format/framework.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Children(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    out.push_back(it->path());
  }
  return out;
}

bool IsAnalysisLog(std::string_view name) {
  return name.starts_with("msprof_analysis_") && name.ends_with(".log");
}

// What goes of one PROF_* folder.
std::vector<fs::path> Doomed(const fs::path& prof, const CleanUp& how) {
  std::vector<fs::path> out;
  if (how.is_mindspore && !how.simplify) return out;
  for (const fs::path& child : Children(prof)) {
    const std::string name = child.filename().string();
    if (name == "host" || name.starts_with("device_")) {
      out.push_back(child / "sqlite");
      if (how.is_mindspore) {
        out.push_back(child / "data" / "all_file.complete");
      } else if (how.simplify) {
        out.insert(out.end(), {child / "summary", child / "timeline"});
      }
    } else if (how.simplify &&
               (name == "mindstudio_profiler_log" || name == "mindstudio_profiler_output")) {
      out.push_back(child);
    } else if (how.simplify && !how.is_mindspore && (name == "analyze" || IsAnalysisLog(name))) {
      out.push_back(child);
    }
  }
  return out;
}

bool IsPlatformFolder(const fs::path& path) {
  constexpr std::string_view kPrefix = "PLATFORM_";
  const std::string name = path.filename().string();
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// PLATFORM_<digits> of <worker>_<time>_ascend_pt becomes PLATFORM_<time> beside the capture.
void MovePlatformFolder(const fs::path& platform, const fs::path& capture) {
  std::string name = capture.filename().string();
  const size_t suffix = name.rfind("_ascend_");
  if (suffix == std::string::npos) return;
  name.resize(suffix);
  const fs::path target = capture.parent_path() / ("PLATFORM_" + name.substr(name.rfind('_') + 1));
  std::error_code error;
  if (fs::is_directory(platform, error) && !fs::is_empty(platform, error) &&
      !fs::exists(target, error)) {
    fs::rename(platform, target, error);
  }
}

}  // namespace

void CleanUpCapture(const std::string& capture, const CleanUp& how) {
  std::error_code error;
  const fs::path folder = fs::canonical(capture, error);
  if (error) return;
  if (how.removes_framework) fs::remove_all(folder / format::kFrameworkFolder, error);
  for (const fs::path& child : Children(folder)) {
    if (child.filename().string().starts_with("PROF_")) {
      for (const fs::path& path : Doomed(child, how)) fs::remove_all(path, error);
    } else if (!how.is_mindspore && IsPlatformFolder(child)) {
      MovePlatformFolder(child, folder);
    }
  }
}

}  // namespace steplens::cli
