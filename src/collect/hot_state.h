#pragma once

#include <atomic>
#include <cstdint>

namespace steplens::collect {

// What every hot call reads, in one cache line: between two calls the training has pushed most of
// it out of the nearest cache.
struct alignas(64) HotState {
  // sl_recording_ for the library itself. That one may live in the program, and is found through a
  // table of addresses, which would be another line.
  std::atomic<uint32_t> recorded_generation{0};
  std::atomic<uint32_t> current_generation{0};  // see thread_state.h
  bool clock_is_counter = false;                // see clock.h
};
extern constinit HotState hot_state;

}  // namespace steplens::collect
