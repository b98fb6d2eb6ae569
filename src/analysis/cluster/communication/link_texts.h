#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/link_part.h"
#include "analysis/cluster/communication/operation_texts.h"
#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis::cluster {

// What a rank adds to cluster_communication_matrix.json: an index of its text, which has the links
// of each operation and then of the totals of each group, one behind the other.
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
  // Groups whose members the metadata do not list and where the rank has its own number, as in the
  // group of all: everybody is taken to have.
  std::vector<uint32_t> guessed;
  std::vector<GroupSight> sights;  // by which all together know whether that is so

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, operations, totals, guessed, sights);
  }
};

// Whether an operation of the matrix counts for totals, as "allreduce-total" does and
// "allreduce-top1" does not.
bool IsTotalOperation(std::string_view op);

// "0-1": {"Transport Type": ..., "Bandwidth(GB/s)": ...}
void AppendLink(std::string& out, std::string_view ends, std::string_view transport,
                std::string_view picked_op, double size_mb, double time_ms);

// The index; the rank's links by source and destination go to `json`. Nothing if that takes
// knowledge of other ranks: an end that its own metadata do not tell and that cannot be guessed, or
// links between others, which somebody else may report as well.
std::optional<LinkTexts> RenderLinks(const RankFacts& facts, const LinkPart& part,
                                     std::string& json);

// Adds texts of all ranks, ascending, to the file, which refers to them. False, with the file half
// filled, if two ranks report the same link, or sizes do not fit the texts.
struct RankLinkTexts {
  int64_t rank;
  const LinkTexts* index;
  FilePiece json;
};
bool AddLinkTexts(const std::vector<RankLinkTexts>& ranks, OperationTexts& file);

// Whether the ranks of all groups that somebody guessed are what all together say.
bool AreGuessesRight(const std::vector<RankLinkTexts>& ranks, const GroupBook& book);

}  // namespace steplens::analysis::cluster
