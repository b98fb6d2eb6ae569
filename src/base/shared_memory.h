#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

class SharedView;

// Where processes of this machine find what one of them shares.
struct SharedPlace {
  std::string path;
  uint64_t id = 0;  // a path with the number of a process may be of another elsewhere
  uint64_t size = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(path, id, size);
  }
};

// Bytes of this process that others of the machine can look at. They are written by the system:
// that takes less time than to touch new memory page by page.
class SharedMemory {
 public:
  static Result<SharedMemory> Create();
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  // Adds bytes, on any thread, and gives their offset.
  Result<uint64_t> Append(std::string_view bytes);
  // Of what was added until now; for others, as long as this lives, and for this process.
  SharedPlace place() const;
  Result<SharedView> View() const;

 private:
  explicit SharedMemory(int fd) : fd_(fd) {}
  int fd_;
  std::atomic<uint64_t> size_ = 0;
};

// What a process has shared. It stays when that process ends.
class SharedView {
 public:
  // kNotFound if the place is not of this machine, or of processes that cannot see each other.
  static Result<SharedView> Open(const SharedPlace& place);
  ~SharedView();
  SharedView(SharedView&& other) noexcept;
  SharedView& operator=(SharedView&& other) noexcept;

  std::string_view bytes() const { return bytes_; }

 private:
  friend class SharedMemory;
  static Result<SharedView> Map(int fd, uint64_t size);
  explicit SharedView(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace steplens
