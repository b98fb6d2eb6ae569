#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/operation_texts.h"

namespace steplens::analysis::cluster {

// What a rank adds to cluster_communication.json: its text in each operation, and in the totals of
// each group. The texts stand one behind the other in `json`, operations first, in this order.
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
  std::string json;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, operations, totals, json);
  }
};

TimeTexts RenderTimes(int64_t rank, const CommunicationPart& part);

// Adds a rank's texts to the file, which refers to them. False if sizes and texts do not fit.
bool AddTimeTexts(int64_t rank, const TimeTexts& texts, OperationTexts& file);

}  // namespace steplens::analysis::cluster
