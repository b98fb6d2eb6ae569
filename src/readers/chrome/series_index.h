#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/chrome/event_batch.h"

namespace steplens::readers {

// Of a process and a name, as one number, and a label.
struct SeriesHash {
  size_t operator()(const std::pair<uint64_t, uint32_t>& key) const {
    return (key.first ^ (uint64_t{key.second} << 17)) * 0x9E3779B97F4A7C15ULL >> 20;
  }
};

// Numbers the series of counters in a piece of a trace. Samplers write their series in the same
// order again and again, so the one that came after this one the last time is tried before any text
// is hashed.
class SeriesIndex {
 public:
  struct Texts {
    std::string_view pid, name, label;
  };

  // The index into batch.series; a new series is added there.
  uint32_t Find(const Texts& texts, EventBatch& batch);
  void Clear();

 private:
  struct Known {
    Texts texts;
    uint32_t next = 0;  // what followed it
  };
  uint32_t Look(const Texts& texts, EventBatch& batch);

  std::vector<Known> known_;
  uint32_t last_ = 0;
  std::unordered_map<std::pair<uint64_t, uint32_t>, uint32_t, SeriesHash>
      ids_;  // (pid, name), label
};

}  // namespace steplens::readers
