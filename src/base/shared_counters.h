#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

// Where processes of this machine find bytes that one of them shares.
struct SharedPlace {
  std::string path;
  uint64_t id = 0;  // a path with the number of a process may be of another elsewhere

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(path, id);
  }
};

// What was shared when it was opened.
class SharedView {
 public:
  // kNotFound if something else is there.
  static Result<SharedView> Open(const SharedPlace& place);
  ~SharedView();
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&& other) noexcept;
  std::string_view bytes() const { return {data_, size_}; }

 private:
  friend class SharedBytes;
  static Result<SharedView> Map(int fd, size_t size);
  SharedView(const char* data, size_t size) : data_(data), size_(size) {}
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Bytes in memory that other processes of this machine can look at: a file that is in no folder and
// gone with the last process that has it open. It only grows.
class SharedBytes {
 public:
  static Result<std::unique_ptr<SharedBytes>> Create();
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  // Gives the offset where the bytes stand. Several threads may call it. After the first failure
  // nothing is added any more.
  Result<uint64_t> Append(std::string_view bytes);
  const SharedPlace& place() const { return place_; }
  Result<SharedView> View() const;  // for this process; after the last Append

 private:
  SharedBytes(int fd, SharedPlace place) : fd_(fd), place_(std::move(place)) {}
  int fd_;
  SharedPlace place_;
  std::mutex state_;  // of what follows
  uint64_t size_ = 0;
  int error_ = 0;  // of the first failure
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
