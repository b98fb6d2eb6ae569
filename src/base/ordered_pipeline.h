#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "base/thread_pool.h"

namespace steplens {

// Reads pieces one after the other, works on them in parallel, and takes the results in the order
// read:
//
//   next(item) -> bool   one call at a time, in order; false: there are no more pieces
//   work(item)           any number at once
//   consume(item)        one call at a time, in the order of next
//
// At most 2 * threads pieces exist at once and their Items are reused, so memory is bounded and
// buffers keep their capacity. The calling thread takes part. Results do not depend on the number
// of threads. What one of the three throws is thrown here, once all threads have stopped.
template <typename Item, typename Next, typename Work, typename Consume>
void RunOrdered(ThreadPool& pool, Next next, Work work, Consume consume) {
  struct Slot {
    Item item;
    bool done = false;
  };
  std::vector<Slot> ring(pool.threads() * 2);
  std::mutex read_mutex;
  size_t read = 0;
  bool at_end = false;
  std::mutex order_mutex;
  std::condition_variable slot_free;
  size_t consumed = 0;
  bool is_consuming = false;
  bool has_failed = false;

  const auto take_part = [&] {
    while (true) {
      Slot* slot = nullptr;
      {
        const std::lock_guard reading(read_mutex);
        if (at_end) return;
        {
          std::unique_lock order(order_mutex);
          slot_free.wait(order, [&] { return has_failed || read < consumed + ring.size(); });
          if (has_failed) return;
        }
        slot = &ring[read % ring.size()];
        if (!next(slot->item)) {
          at_end = true;
          return;
        }
        ++read;
      }
      work(slot->item);
      std::unique_lock order(order_mutex);
      slot->done = true;
      if (is_consuming) continue;  // whoever consumes takes this piece as well
      is_consuming = true;
      while (ring[consumed % ring.size()].done) {
        Slot& first = ring[consumed % ring.size()];
        order.unlock();
        consume(first.item);
        order.lock();
        first.done = false;
        ++consumed;
        slot_free.notify_all();
      }
      is_consuming = false;
    }
  };
  pool.RunOnAll([&] {
    try {
      take_part();
    } catch (...) {  // NOLINT: nobody may wait for a piece that is not to come
      {
        const std::lock_guard order(order_mutex);
        has_failed = true;
      }
      slot_free.notify_all();
      throw;
    }
  });
}

}  // namespace steplens
