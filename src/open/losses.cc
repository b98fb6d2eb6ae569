#include "open/losses.h"

#include <fmt/format.h>

namespace steplens::opening {

std::string WhyLost(const store::InputFile& file) {
  if (file.note.starts_with(file.path + ":")) return file.note;
  return fmt::format("{}: {}", file.path, file.note);
}

std::vector<std::string> Losses(const store::Job& job) {
  std::vector<std::string> out;
  for (const store::InputFile& file : job.ignored) {
    if (file.is_lost) out.push_back(WhyLost(file));
  }
  for (const store::TraceStore& rank : job.ranks) {
    for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
      const auto kind = static_cast<store::IssueKind>(i);
      const store::IssueInfo& info = store::GetIssueInfo(kind);
      const store::IssueLog::Entry& entry = rank.issues.entry(kind);
      if (entry.count == 0 || info.severity != store::Severity::kDataLoss) continue;
      out.push_back(fmt::format("rank {}: {} ({} times; first: {})", rank.info.rank, info.text,
                                entry.count, entry.example));
    }
  }
  return out;
}

}  // namespace steplens::opening
