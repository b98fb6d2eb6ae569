#include "analysis/compare/runs/baseline_file.h"

#include <fmt/format.h>

#include "base/archive.h"
#include "base/hash.h"

namespace steplens::analysis::runs {
namespace {

constexpr std::string_view kMagic = "steplens baseline\n";
constexpr size_t kHeadBytes = kMagic.size() + 1 + 8;

// Whether the numbers that places are looked up by can be trusted.
bool IsConsistent(const RunSummary& run) {
  for (size_t i = 1; i < run.steps.size(); ++i) {
    if (run.steps[i - 1] >= run.steps[i]) return false;
  }
  for (const SumRow& row : run.rows) {
    const size_t steps = run.steps.size();
    if (row.total_ns.size() != steps || row.calls.size() != steps || row.ranks.size() != steps)
      return false;
  }
  return !run.ranks.empty();
}

}  // namespace

std::string ToBaseline(const RunSummary& run) {
  const std::string body = ToBytes(run);
  std::string out(kMagic);
  out += static_cast<char>(kBaselineVersion);
  const uint64_t checksum = Hash64(body);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(checksum >> (8 * i));
  return out + body;
}

Result<RunSummary> FromBaseline(std::string_view bytes, std::string_view path) {
  if (!bytes.starts_with(kMagic))
    return Error{ErrorCode::kCorruptData, fmt::format("{}: not a baseline of steplens", path)};
  if (bytes.size() < kHeadBytes)
    return Error{ErrorCode::kCorruptData, fmt::format("{}: the baseline is truncated", path)};
  const auto version = static_cast<uint8_t>(bytes[kMagic.size()]);
  if (version != kBaselineVersion) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: the baseline has version {}, this program reads version {}; save "
                             "it again",
                             path, version, kBaselineVersion)};
  }
  uint64_t checksum = 0;
  for (size_t i = 0; i < 8; ++i)
    checksum |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[kMagic.size() + 1 + i]))
                << (8 * i);
  const std::string_view body = bytes.substr(kHeadBytes);
  std::optional<RunSummary> run;
  if (Hash64(body) == checksum) run = FromBytes<RunSummary>(body);
  if (!run || !IsConsistent(*run)) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: the baseline is damaged; save it again", path)};
  }
  return *std::move(run);
}

}  // namespace steplens::analysis::runs
