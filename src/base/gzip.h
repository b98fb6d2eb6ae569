#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"

namespace steplens {

// What a packed file may grow to, so that a small one cannot fill the machine: once it has given
// `free_bytes` it may not have grown by more than `max_ratio`, and never beyond `max_bytes`. Traces
// grow 10 to 40 times.
struct UnpackLimits {
  uint64_t free_bytes = uint64_t{256} << 20;
  uint64_t max_ratio = 200;
  uint64_t max_bytes = uint64_t{256} << 30;
};
// For all files opened from now on; before threads are started. --max-unpacked sets the total, and
// with it lifts the ratio.
void SetUnpackLimits(const UnpackLimits& limits);

// Unpacks the gzip stream read from `packed`; `name` is used in messages. Members that follow each
// other are unpacked as one text. Memory is bounded whatever the size of the text.
std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name);

// Whether the file begins as a gzip file does. False if it cannot be read.
bool IsGzipFile(const std::string& path);

// Any place of the text of a gzip file. What lies before a place is unpacked the first time; states
// of the unpacker kept on the way (kMaxStates of them, of some 40 KB) let later reads begin close
// to theirs. For one thread at a time.
class GzipText {
 public:
  static constexpr size_t kMaxStates = 256;

  // `spacing_bytes`: how far apart states are kept at first; doubled whenever there are too many.
  explicit GzipText(std::string path, uint64_t spacing_bytes = uint64_t{2} << 20);
  ~GzipText();
  GzipText(const GzipText&) = delete;
  GzipText& operator=(const GzipText&) = delete;

  // Up to `size` bytes of the text at `offset`; shorter at its end.
  Result<std::string> Read(uint64_t offset, size_t size);

 private:
  struct State;
  void StartBefore(uint64_t offset);
  void KeepState();

  const std::string path_;
  uint64_t spacing_bytes_;
  std::unique_ptr<State> at_;                   // goes on from here
  std::vector<std::unique_ptr<State>> states_;  // by place; the first is the beginning
};

}  // namespace steplens
