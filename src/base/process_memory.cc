#include "base/process_memory.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace steplens {
namespace {

constexpr size_t kMostAtOnce = 1024;  // UIO_MAXIOV of Linux

Error MemoryError(std::string_view what) {
  return {ErrorCode::kIo, fmt::format("memory of another process: cannot read: {}", what)};
}

// Where this process has its mark; the time it was made at tells it from others.
const uint64_t& OwnMark() {
  static const auto mark =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) ^
      (static_cast<uint64_t>(::getpid()) << 40);
  return mark;
}

template <typename Pointer>
Pointer AtAddress(uint64_t address) {
  return reinterpret_cast<Pointer>(static_cast<uintptr_t>(address));  // NOLINT: of a process
}

// At most as many pieces as the system takes at once.
Status ReadSome(int64_t process, std::span<const MemoryPiece> pieces, char* buffer) {
  std::array<iovec, kMostAtOnce> here;
  std::array<iovec, kMostAtOnce> there;
  uint64_t size = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    here[i] = {buffer + pieces[i].at, pieces[i].size};
    there[i] = {AtAddress<void*>(pieces[i].address), pieces[i].size};
    size += pieces[i].size;
  }
  const ssize_t got = ::process_vm_readv(static_cast<pid_t>(process), here.data(), pieces.size(),
                                         there.data(), pieces.size(), 0);
  if (got < 0) return MemoryError(std::strerror(errno));
  if (static_cast<uint64_t>(got) != size) return MemoryError("it ends");
  return {};
}

}  // namespace

MemoryPlace OwnMemory() { return {::getpid(), reinterpret_cast<uintptr_t>(&OwnMark()), OwnMark()}; }

Result<ProcessMemory> ProcessMemory::Open(const MemoryPlace& place) {
  uint64_t mark = 0;
  const MemoryPiece piece{place.mark_at, sizeof mark, 0};
  SL_RETURN_IF_ERROR(ReadSome(place.process, {&piece, 1}, reinterpret_cast<char*>(&mark)));
  if (mark != place.mark) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("process {} is another one here", place.process)};
  }
  return ProcessMemory(place.process);
}

Status ProcessMemory::Read(std::span<const MemoryPiece> pieces, char* buffer) const {
  if (process_ == ::getpid()) {
    for (const MemoryPiece& piece : pieces)
      std::memcpy(buffer + piece.at, AtAddress<const char*>(piece.address), piece.size);
    return {};
  }
  for (size_t first = 0; first < pieces.size(); first += kMostAtOnce) {
    const size_t count = std::min(kMostAtOnce, pieces.size() - first);
    SL_RETURN_IF_ERROR(ReadSome(process_, pieces.subspan(first, count), buffer));
  }
  return {};
}

}  // namespace steplens
