#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"

namespace steplens {

// Where processes of this machine find what one of them shares.
struct SharedPlace {
  std::string path;
  uint64_t id = 0;  // a path with the number of a process may be of another elsewhere

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(path, id);
  }
};

// Numbers that processes of this machine count up together, from 0.
class SharedCounters {
 public:
  static Result<SharedCounters> Create(size_t count);
  static Result<SharedCounters> Open(const SharedPlace& place, size_t count);
  ~SharedCounters();
  SharedCounters(SharedCounters&& other) noexcept;
  SharedCounters& operator=(SharedCounters&&) = delete;
  const SharedPlace& place() const { return place_; }

  // The number that nobody has got yet.
  uint64_t Next(size_t counter) { return std::atomic_ref(numbers_[counter]).fetch_add(1); }

 private:
  static Result<SharedCounters> Map(int fd, size_t count, SharedPlace place);
  SharedCounters(int fd, uint64_t* numbers, size_t count, SharedPlace place)
      : fd_(fd), numbers_(numbers), count_(count), place_(std::move(place)) {}
  int fd_;  // open for as long as others may look for it
  uint64_t* numbers_;
  size_t count_;
  SharedPlace place_;
};

}  // namespace steplens
