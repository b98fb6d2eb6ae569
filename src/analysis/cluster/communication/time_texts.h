#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/operation_texts.h"

namespace steplens::analysis::cluster {

// What a rank adds to cluster_communication.json: an index of its text, which has what it says in
// each operation and then in the totals of each group, one behind the other, in this order.
struct TimeTexts {
  struct Operation {
    uint32_t group = 0;
    uint32_t step = 0;
    uint32_t op = 0;
    bool is_p2p = false;
    uint64_t size = 0;

    template <typename Archive>
    void Fields(Archive& archive) {
      archive(group, step, op, is_p2p, size);
    }
  };
  struct Total {
    uint32_t group = 0;
    uint32_t step = 0;
    uint8_t uses = 0;  // OperationTexts::Uses
    uint64_t size = 0;

    template <typename Archive>
    void Fields(Archive& archive) {
      archive(group, step, uses, size);
    }
  };
  std::vector<std::string> texts;  // numbers above are places in it
  std::vector<Operation> operations;
  std::vector<Total> totals;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, operations, totals);
  }
};

// The index; the text goes to `json`.
TimeTexts RenderTimes(int64_t rank, const CommunicationPart& part, std::string& json);

// Adds a rank's text to the file, which refers to it. False if the sizes do not fit it.
bool AddTimeTexts(int64_t rank, const TimeTexts& texts, const FilePiece& json,
                  OperationTexts& file);

}  // namespace steplens::analysis::cluster
