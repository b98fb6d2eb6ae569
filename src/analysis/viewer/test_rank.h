#pragma once

#include <string_view>

#include "analysis/testing/store_builder.h"
#include "analysis/viewer/metric.h"

namespace steplens::analysis::viewer {

// A small Ascend capture for tests: a host thread, a stream, a communication group.
struct TestRank : StoreBuilder {
  explicit TestRank(int64_t rank = 0) {
    store.info.rank = rank;
    store.info.format = store::Format::kText;
    host = ThreadOf("Python", "Thread 1");
    stream = ThreadOf("Ascend Hardware", "Stream 2");
    group = ThreadOf("Communication", "Group 0 Communication");
  }
  // A collective as slice and as operator.
  store::SliceId Comm(std::string_view name, int64_t begin_ns, int64_t end_ns, int64_t count = 256,
                      std::string_view group_name = "group_a_name") {
    store.comm_ops.Append({.track = group,
                           .name = Text(name),
                           .group_name = Text(group_name),
                           .begin_ns = begin_ns,
                           .dur_ns = end_ns - begin_ns,
                           .count = count});
    return Slice(group, begin_ns, end_ns, name);
  }
  // A kernel as slice and as kernels row.
  store::SliceId Task(std::string_view name, std::string_view type, int64_t begin_ns,
                      int64_t end_ns) {
    Kernel(name, type, "AI_CORE", begin_ns, end_ns);
    return Slice(stream, begin_ns, end_ns, name);
  }

  store::TrackId host, stream, group;
};

inline store::Job JobOf(TestRank& a) {
  store::Job job;
  job.ranks.push_back(std::move(a.store));
  return job;
}
inline store::Job JobOf(TestRank& a, TestRank& b) {
  store::Job job = JobOf(a);
  job.ranks.push_back(std::move(b.store));
  return job;
}

// Whether all columns of all tables have as many cells as the first.
inline bool HasEqualColumns(const MetricAnswer& answer) {
  for (const table::Table& table : answer.tables) {
    for (const table::Column& column : table.columns()) {
      if (column.size() != table.rows()) return false;
      const size_t filled = column.ints.size() + column.doubles.size() + column.texts.size();
      if (filled != column.size()) return false;
    }
  }
  return !answer.tables.empty();
}

}  // namespace steplens::analysis::viewer
