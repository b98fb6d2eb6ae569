#include "store/issues.h"

#include <algorithm>

namespace steplens::store {

const IssueInfo& GetIssueInfo(IssueKind kind) {
  static constexpr IssueInfo kInfos[] = {
#define SL_ISSUE_INFO_(kind, severity, text) \
  {std::string_view(#kind).substr(1), Severity::severity, text},
      SL_IMPORT_ISSUES(SL_ISSUE_INFO_)
#undef SL_ISSUE_INFO_
  };
  return kInfos[static_cast<size_t>(kind)];
}

std::string_view SeverityName(Severity severity) {
  return severity == Severity::kInfo ? "info" : "data_loss";
}

void IssueLog::Add(IssueKind kind, std::string_view example, uint64_t count) {
  Entry& entry = entries_[static_cast<size_t>(kind)];
  if (entry.count == 0) entry.example = example;
  entry.count += count;
}

void IssueLog::Merge(const IssueLog& other) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (other.entries_[i].count > 0) {
      Add(static_cast<IssueKind>(i), other.entries_[i].example, other.entries_[i].count);
    }
  }
}

bool IssueLog::empty() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.count == 0; });
}

}  // namespace steplens::store
