#include "cli/recording_check.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/json.h"
#include "base/number.h"
#include "readers/ascend_text/profiler_info.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kYear2000Ns = 946'684'800'000'000'000;  // earlier times are on no wall clock

// <worker>_<pid>_<17 digits>_ascend_pt
std::optional<int64_t> PidInName(const std::string& folder) {
  std::string name = fs::path(folder).filename().string();
  for (int part = 0; part < 3; ++part) {  // "pt", "ascend", the time
    const size_t at = name.rfind('_');
    if (at == std::string::npos) return std::nullopt;
    name.resize(at);
  }
  const std::optional<int64_t> pid = ParseInt64(name.substr(name.rfind('_') + 1));
  return pid && *pid > 0 ? pid : std::nullopt;
}

// Whether there is a profiler_info_<rank>.json; a capture of one card has profiler_info.json too.
bool HasRankInName(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("profiler_info_") && name.ends_with(".json")) return true;
  }
  return false;
}

// visit(root, name) for each configuration in the folder of a capture.
template <typename Visit>
void ForEachInfo(const std::string& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("profiler_info") || !name.ends_with(".json")) continue;
    if (name == "profiler_info.json" && HasRankInName(folder)) continue;  // the same once more
    const Result<JsonDocument> info = JsonDocument::ReadFile(it->path().string());
    if (info.ok()) visit(info->root(), name);
  }
}

bool HasFileBelow(int64_t pid, const fs::path& folder) {
  std::error_code error;
  const std::string prefix = fs::canonical(folder, error).string() + "/";
  if (error) return false;
  const fs::path files = fs::path("/proc") / std::to_string(pid) / "fd";
  for (fs::directory_iterator it(files, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (fs::read_symlink(it->path(), ignored).string().starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

bool IsBeingRecorded(const std::string& folder) {
  std::optional<int64_t> pid = PidInName(folder);
  bool has_ended = false;
  ForEachInfo(folder, [&](JsonValue root, const std::string&) {
    has_ended =
        has_ended || root["end_info"].exists() || root["ms_profiler_info"]["end_info"].exists();
    if (const auto named = root["steplens_pid"].AsInt()) pid = named;
  });
  return !has_ended && pid && HasFileBelow(*pid, folder);
}

store::IssueLog LossesIn(const std::string& folder) {
  store::IssueLog issues;
  ForEachInfo(folder, [&](JsonValue root, const std::string& name) {
    readers::CountRecordingLosses(root, name, issues);
  });
  return issues;
}

std::string HowItEnded(const store::TraceStore& rank) {
  if (rank.issues.entry(store::IssueKind::kCaptureUnfinished).count == 0) return {};
  const std::string killed = "the process was killed or crashed while recording";
  const store::Extent extent = store::ComputeExtent(rank);
  if (extent.end_ns <= extent.begin_ns) return killed + "; no event reached the disk";
  constexpr int64_t kNsPerMs = 1'000'000;
  std::string until;
  if (extent.begin_ns >= kYear2000Ns) {
    const int64_t ms = extent.end_ns / kNsPerMs;
    until = fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC, ",
                        fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
  }
  std::string out = fmt::format("{}; its data reaches to {}{:.3f} s after the first event", killed,
                                until, static_cast<double>(extent.end_ns - extent.begin_ns) / 1e9);
  if (rank.steps.size() > 0) {
    out += fmt::format(", the last complete step is {}",
                       *std::max_element(rank.steps.step.begin(), rank.steps.step.end()));
  }
  return out;
}

std::string LostWhileRecording(const store::TraceStore& rank) {
  const auto count = [&rank](std::string_view name) {
    const auto text = rank.FindMeta(fmt::format("steplens_drops.{}", name));
    return text ? ParseInt64(*text).value_or(0) : 0;
  };
  const int64_t dropped = count("dropped");
  const int64_t lost_on_write = count("lost_on_write");
  const int64_t lost = dropped + lost_on_write;
  if (lost <= 0) return {};
  return fmt::format(
      "{} of {} records were lost while recording ({} because buffers were full, {} because they "
      "could not be written)",
      lost, lost + count("recorded"), dropped, lost_on_write);
}

}  // namespace steplens::cli
