#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/link_part.h"
#include "analysis/cluster/communication/operation_texts.h"
#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis::cluster {

// What a rank adds to cluster_communication_matrix.json: the links of each operation and of the
// totals of each group, one text behind the other in `json`, operations first.
struct LinkTexts {
  struct Operation {
    uint32_t group = 0;
    uint32_t step = 0;
    uint32_t op = 0;
    bool is_p2p = false;
    bool is_received = false;  // its links end here; those of others begin here
    uint64_t size = 0;

    template <typename Archive>
    void Fields(Archive& archive) {
      archive(group, step, op, is_p2p, is_received, size);
    }
  };
  std::vector<std::string> texts;  // numbers above are places in it; 0 is empty
  std::vector<Operation> operations;
  std::vector<Operation> totals;
  std::string json;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, operations, totals, json);
  }
};

// Whether an operation of the matrix counts for totals, as "allreduce-total" does and
// "allreduce-top1" does not.
bool IsTotalOperation(std::string_view op);

// "0-1": {"Transport Type": ..., "Bandwidth(GB/s)": ...}
void AppendLink(std::string& out, std::string_view ends, std::string_view transport,
                std::string_view picked_op, double size_mb, double time_ms);

// The rank's links as text, by source and destination; nothing if that takes knowledge of other
// ranks: an end that its own metadata do not tell, or links between others, which somebody else may
// report as well.
std::optional<LinkTexts> RenderLinks(const RankFacts& facts, const LinkPart& part);

// Adds texts of all ranks, ascending, to the file, which refers to them. False, with the file half
// filled, if two ranks report the same link, or texts do not fit their sizes.
bool AddLinkTexts(const std::vector<const LinkTexts*>& ranks, OperationTexts& file);

}  // namespace steplens::analysis::cluster
