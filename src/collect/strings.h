#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace steplens::collect {

inline constexpr size_t kMaxTextBytes = 64 * 1024;

// Texts and their ids, for the life of the process. Bounded: once all texts together exceed the
// limit, a new one gets the id of a text that says so, and is counted. Safe from any thread; View
// is safe without a lock for ids that were handed over (a ring's release and acquire are enough).
class StringTable {
 public:
  explicit StringTable(size_t max_total_bytes);
  ~StringTable();

  // 0 for an empty text. Longer than kMaxTextBytes: cut, at a character if the text is UTF-8.
  uint32_t Intern(std::string_view text);
  // "" for 0 and for what is no id.
  std::string_view View(uint32_t id) const;
  uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

  // Around fork: all locks are taken, so that the child finds every table whole.
  void LockAll();
  void UnlockAll();

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kBlock = 1 << 12;   // entries a block
  static constexpr size_t kBlocks = 1 << 12;  // 16 M texts
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string_view, uint32_t> ids;  // keys are views of the stored texts
  };
  struct Entry {
    const char* text = nullptr;
    uint32_t length = 0;
  };

  // The next id, or 0 if the table is full. The text is copied.
  uint32_t Add(std::string_view text, std::string_view* stored);

  const size_t max_total_bytes_;
  Shard shards_[kShards];
  std::atomic<Entry*> blocks_[kBlocks] = {};
  std::atomic<uint32_t> next_id_{1};
  std::atomic<size_t> total_bytes_{0};
  std::atomic<uint64_t> left_out_{0};
  uint32_t too_many_ = 0;
};

}  // namespace steplens::collect
