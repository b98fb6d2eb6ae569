#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace steplens::collect {

// Rare and long things on their way to the writer: parameters of modules, records of the device. A
// short lock guards it; it holds at most 64 MiB, what comes beyond is counted as dropped.
class SideQueue {
 public:
  struct Item {
    bool is_device = false;
    uint64_t key = 0;  // parameters: key, tag, text and the words of its tensors
    uint16_t tag = 0;
    std::string text;
    std::vector<uint64_t> words;
    std::vector<uint8_t> bytes;  // device: framed records and how many they are
    uint64_t records = 0;
  };

  void Add(Item item);
  // All that came, in order; empty afterwards.
  std::vector<Item> Take();
  // For a new capture.
  void Clear();
  uint64_t dropped() const;

  // Around fork; the child's queue is empty.
  void LockForFork() { mutex_.lock(); }
  void UnlockInParent() { mutex_.unlock(); }
  void ResetInChild();

 private:
  static constexpr size_t kMaxBytes = 64 << 20;
  mutable std::mutex mutex_;
  std::vector<Item> items_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace steplens::collect
