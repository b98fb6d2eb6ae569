#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/duration_stats.h"
#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// Statistics by interned text: one array read a row.
class StatsByText {
 public:
  explicit StatsByText(const store::TraceStore& store)
      : store_(store), slot_(store.strings.size()) {}

  void Add(StringId text, int64_t dur_ns) {
    uint32_t& slot = slot_[static_cast<size_t>(text)];
    if (slot == 0) {
      groups_.push_back({text, {}});
      slot = static_cast<uint32_t>(groups_.size());
    }
    groups_[slot - 1].stats.Add(dur_ns);
  }

  struct Group {
    StringId text;
    DurationStats stats;
  };
  // By total descending, then by text.
  std::vector<Group> Sorted() const {
    std::vector<Group> out = groups_;
    std::sort(out.begin(), out.end(), [&](const Group& a, const Group& b) {
      if (a.stats.total_ns != b.stats.total_ns) return a.stats.total_ns > b.stats.total_ns;
      return store_.Text(a.text) < store_.Text(b.text);
    });
    return out;
  }

 private:
  const store::TraceStore& store_;  // outlives this
  std::vector<uint32_t> slot_;      // by text: 1 + index of groups_, 0 for none
  std::vector<Group> groups_;       // in order of appearance
};

}  // namespace steplens::analysis::viewer
