#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cluster/rank_set.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// A communication group as a rank's metadata describes it (parallel_group_info).
struct GroupFact {
  std::string id;
  std::string pg_name;  // tp, dp, pp, exp, default_group, ...
  int64_t group_rank = store::kNone;
  RankSet ranks;  // global ranks; empty if not given

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, pg_name, group_rank, ranks);
  }
};

// Who a rank is, which every recipe is told beside its own part.
struct RankFacts {
  int64_t rank = 0;
  std::string path;
  store::Source source = store::Source::kUnknown;
  store::Format format = store::Format::kUnknown;
  std::string level;
  int64_t device = store::kNone;
  std::string host_uid;
  std::string host_name;
  std::vector<int64_t> steps;    // ascending
  std::string distributed_args;  // JSON object; empty if not given
  std::string pp_info;           // JSON object; empty if not given
  std::vector<GroupFact> groups;
  bool has_communication_results = false;  // communication.json or CommAnalyzer* tables
  uint64_t lost_records = 0;               // records of the input that could not be used
  std::string first_loss;                  // and an example

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, path, source, format, level, device, host_uid, host_name, steps, distributed_args,
            pp_info, groups, has_communication_results, lost_records, first_loss);
  }
};

RankFacts DescribeRank(const store::TraceStore& rank);

// Sizes of the parallel dimensions, from distributed_args.
struct ParallelLayout {
  int64_t world = 1;
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t dp = 1;
  int64_t pp = 1;
  int64_t ep = 1;
  // Dimensions from the one whose index grows fastest, as the key `order` of distributed_args has
  // them ("tp-cp-ep-dp-pp"; ep is part of dp and does not count).
  std::string order = "tp-cp-dp-pp";
};
// Nothing if the text is no object, a size is no positive integer, or the sizes do not fit
// together; `problem` then says why. Nothing, and no problem, if it has no parallel size at all.
std::optional<ParallelLayout> ParseLayout(const std::string& distributed_args,
                                          std::string& problem);

// Where a rank stands in each dimension.
struct Coordinates {
  int64_t tp = 0;
  int64_t cp = 0;
  int64_t dp = 0;
  int64_t pp = 0;
  int64_t ep = 0;
};
Coordinates CoordinatesOf(const ParallelLayout& layout, int64_t rank);

}  // namespace steplens::analysis::cluster
