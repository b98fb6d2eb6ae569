#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis::cluster {

// A row of a rank's link matrix; ranks are those inside the group.
struct LinkRow {
  uint32_t step = 0;
  uint32_t op = 0;
  uint32_t group = 0;
  uint32_t transport = 0;
  uint32_t picked_op = 0;
  bool is_p2p = false;
  int64_t src = 0;
  int64_t dst = 0;
  double size_mb = 0;
  double time_ms = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, op, group, transport, picked_op, is_p2p, src, dst, size_mb, time_ms);
  }
};

// All links of a rank in one group over one transport.
struct LinkSum {
  uint32_t step = 0;
  uint32_t group = 0;
  uint32_t transport = 0;
  int64_t links = 0;
  double size_mb = 0;
  double time_ms = 0;
  double min_gbps = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, group, transport, links, size_mb, time_ms, min_gbps);
  }
};

// What a rank's links tell about who is who inside a group.
struct GroupSight {
  uint32_t group = 0;
  int64_t largest = -1;         // rank inside the group
  std::vector<int64_t> selves;  // the rank's own number there: it has a link with itself

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(group, largest, selves);
  }
};

// What a rank says about its links.
struct LinkPart {
  std::vector<std::string> texts;
  std::vector<GroupUse> used;
  std::vector<GroupSight> sights;
  std::vector<LinkRow> links;
  std::vector<LinkSum> sums;  // of groups whose links are not all kept

  const std::string& Text(uint32_t id) const { return TextOf(texts, id); }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, used, sights, links, sums);
  }
};

// Links of groups with at most this many members are all kept; of larger ones their sums and the
// slowest few, so that the matrix of a job grows with its ranks and not with their square.
inline constexpr int64_t kFullMatrixRanks = 64;
inline constexpr size_t kWorstLinks = 8;

LinkPart ReadLinks(const store::TraceStore& rank, const RankFacts& facts, const Options& options,
                   bool all_links);

}  // namespace steplens::analysis::cluster
