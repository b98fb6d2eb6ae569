#include "collect/strings.h"

#include <cstdlib>
#include <cstring>
#include <functional>

namespace steplens::collect {
namespace {

// The first kMaxTextBytes of a text; a character that would be cut in two goes as a whole.
std::string_view Cut(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return text;
  size_t end = kMaxTextBytes;
  while (end > kMaxTextBytes - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  if (end == kMaxTextBytes - 4) end = kMaxTextBytes;  // not UTF-8 anyway
  return text.substr(0, end);
}

}  // namespace

StringTable::StringTable(size_t max_total_bytes) : max_total_bytes_(max_total_bytes) {
  std::string_view stored;
  too_many_ = Add("(left out: too many different texts)", &stored);
}

StringTable::~StringTable() {
  for (std::atomic<Entry*>& block : blocks_) {
    Entry* entries = block.load();
    if (entries == nullptr) continue;
    for (size_t i = 0; i < kBlock; ++i) std::free(const_cast<char*>(entries[i].text));
    delete[] entries;
  }
}

uint32_t StringTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  text = Cut(text);
  const size_t hash = std::hash<std::string_view>()(text);
  Shard& shard = shards_[(hash >> 7) % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.ids.find(text);
  if (found != shard.ids.end()) return found->second;
  std::string_view stored;
  const uint32_t id = Add(text, &stored);
  if (id == 0) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return too_many_;
  }
  shard.ids.emplace(stored, id);
  return id;
}

uint32_t StringTable::Add(std::string_view text, std::string_view* stored) {
  const size_t cost = text.size() + 64;  // entry, map node, malloc's own
  if (total_bytes_.fetch_add(cost, std::memory_order_relaxed) + cost > max_total_bytes_) {
    total_bytes_.fetch_sub(cost, std::memory_order_relaxed);
    return 0;
  }
  auto* copy = static_cast<char*>(std::malloc(text.size()));
  if (copy == nullptr) return 0;
  const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  if (id >= kBlocks * kBlock) {
    next_id_.fetch_sub(1, std::memory_order_relaxed);
    std::free(copy);
    return 0;
  }
  std::atomic<Entry*>& block = blocks_[id / kBlock];
  Entry* entries = block.load(std::memory_order_acquire);
  if (entries == nullptr) {
    auto* fresh = new Entry[kBlock];
    if (block.compare_exchange_strong(entries, fresh, std::memory_order_acq_rel)) {
      entries = fresh;
    } else {
      delete[] fresh;
    }
  }
  std::memcpy(copy, text.data(), text.size());
  entries[id % kBlock] = {copy, static_cast<uint32_t>(text.size())};
  *stored = {copy, text.size()};
  return id;
}

std::string_view StringTable::View(uint32_t id) const {
  if (id == 0 || id >= kBlocks * kBlock) return {};
  const Entry* entries = blocks_[id / kBlock].load(std::memory_order_acquire);
  if (entries == nullptr) return {};
  const Entry& entry = entries[id % kBlock];
  return {entry.text, entry.length};
}

void StringTable::LockAll() {
  for (Shard& shard : shards_) shard.mutex.lock();
}

void StringTable::UnlockAll() {
  for (Shard& shard : shards_) shard.mutex.unlock();
}

}  // namespace steplens::collect
