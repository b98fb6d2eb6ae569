#include "cluster/file_plan.h"

#include <algorithm>
#include <map>

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// An order: its kind, and then
enum class Order : uint8_t {
  kStretch = 1,  // the offset where one begins
  kBytes = 2,    // bytes
  kText = 3,     // the number of a text, offset and size of the piece
  kMemory = 4,   // the member whose memory has it, address and size
  kEnd = 5,      // nothing; other orders may follow
};

// Small beside what one process writes, so that all can have equally much.
constexpr uint64_t kLongOrdersBytes = uint64_t{4} << 20;
// To write less at once costs more than to fetch a text from another process.
constexpr uint64_t kLeastStretchBytes = 1 << 16;
// Bytes beyond that are better written at once than copied into orders.
constexpr size_t kManyBytes = 1 << 18;

Error Damaged() { return {ErrorCode::kInternal, "the orders to write a file are damaged"}; }

// A stretch of a file on its way. What comes from other processes is fetched for many pieces at
// once, when the buffer is full.
class StretchBuffer {
 public:
  StretchBuffer(const RankTexts& texts, const WriteAt& write)
      : texts_(texts), write_(write), buffer_(kBufferBytes) {}

  Status Begin(uint64_t offset) {
    SL_RETURN_IF_ERROR(Flush());
    offset_ = offset;
    return {};
  }

  Status Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t size = std::min(bytes.size(), buffer_.size() - used_);
      std::copy_n(bytes.data(), size, buffer_.data() + used_);
      bytes.remove_prefix(size);
      SL_RETURN_IF_ERROR(Use(size));
    }
    return {};
  }

  Status Add(uint64_t member, MemoryPiece piece) {
    while (piece.size > 0) {
      const size_t size = std::min<uint64_t>(piece.size, buffer_.size() - used_);
      wanted_[member].push_back({piece.address, size, used_});
      piece.address += size;
      piece.size -= size;
      SL_RETURN_IF_ERROR(Use(size));
    }
    return {};
  }

  Status Flush() {
    for (auto& [member, pieces] : wanted_) {
      SL_RETURN_IF_ERROR(texts_.Read(member, pieces, buffer_.data()));
      pieces.clear();
    }
    if (used_ > 0) SL_RETURN_IF_ERROR(write_(offset_, {buffer_.data(), used_}));
    offset_ += used_;
    used_ = 0;
    return {};
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 18;  // stays in the caches

  Status Use(size_t size) {
    used_ += size;
    return used_ < buffer_.size() ? Status() : Flush();
  }

  const RankTexts& texts_;
  const WriteAt& write_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  uint64_t offset_ = 0;                                  // in the file
  std::map<uint64_t, std::vector<MemoryPiece>> wanted_;  // by member
};

}  // namespace

Status FilePlan::Add(const FilePiece& piece) {
  if (piece.is_here()) {
    bytes_ += piece.bytes();
    size_ += piece.size;
    return bytes_.size() < kManyBytes ? Status() : WriteBytes();
  }
  const size_t writer = WriterOf(piece);
  const bool is_full = shares_[writer_].bytes >= kLongOrdersBytes;
  if (is_begun_ && (writer != writer_ || is_full)) {
    PutBytes();  // belong to the stretch that ends here
    is_begun_ = false;
  }
  if (is_full) Close(shares_[writer_]);
  writer_ = writer;
  PutBytes();
  Share& share = shares_[writer_];
  if (texts_.has_all()) {
    const uint64_t address = texts_.AddressOf(piece.text) + piece.offset;
    share.open(Order::kMemory, texts_.HolderOf(piece.text), address, piece.size);
  } else {
    share.open(Order::kText, piece.text, piece.offset, piece.size);
  }
  size_ += piece.size;
  stretch_ += piece.size;
  share.bytes += piece.size;
  return {};
}

size_t FilePlan::WriterOf(const FilePiece& piece) const {
  const size_t holder = std::min(texts_.HolderOf(piece.text), shares_.size() - 1);
  const bool may_join = texts_.has_all() && is_begun_ && stretch_ < kLeastStretchBytes;
  return may_join ? writer_ : holder;
}

// To whoever writes the stretch, which begins if there is none.
void FilePlan::PutBytes() {
  Share& share = shares_[writer_];
  if (!is_begun_) {
    share.open(Order::kStretch, size_ - bytes_.size());
    stretch_ = 0;
  }
  is_begun_ = true;
  if (bytes_.empty()) return;
  share.open(Order::kBytes, bytes_);
  share.bytes += bytes_.size();
  stretch_ += bytes_.size();
  bytes_.clear();
}

Status FilePlan::WriteBytes() {
  SL_RETURN_IF_ERROR(write_(size_ - bytes_.size(), bytes_));
  bytes_.clear();
  is_begun_ = false;
  return {};
}

void FilePlan::Close(Share& share) {
  std::string bytes = share.open.Take();
  if (bytes.empty()) return;
  share.orders.push_back(std::move(bytes) + static_cast<char>(Order::kEnd));
  share.open = ArchiveWriter();
  share.bytes = 0;
}

std::vector<std::vector<std::string>> FilePlan::Take() {
  if (!bytes_.empty()) PutBytes();
  std::vector<std::vector<std::string>> out;
  for (Share& share : shares_) {
    Close(share);
    out.push_back(std::move(share.orders));
  }
  return out;
}

Status CarryOut(std::string_view orders, const RankTexts& texts, const WriteAt& write) {
  StretchBuffer buffer(texts, write);
  ArchiveReader reader(orders);
  while (!orders.empty()) {
    Order order{};
    reader(order);
    if (order == Order::kStretch) {
      uint64_t offset = 0;
      reader(offset);
      SL_RETURN_IF_ERROR(buffer.Begin(offset));
    } else if (order == Order::kBytes) {
      std::string_view bytes;
      reader(bytes);
      SL_RETURN_IF_ERROR(buffer.Add(bytes));
    } else if (order == Order::kText) {
      uint64_t text = 0;
      uint64_t from = 0;
      uint64_t size = 0;
      reader(text, from, size);
      const std::optional<std::string_view> bytes = texts.Find(FilePiece(text, from, size));
      if (!bytes) return Damaged();
      SL_RETURN_IF_ERROR(buffer.Add(*bytes));
    } else if (order == Order::kMemory) {
      uint64_t member = 0;
      MemoryPiece piece;
      reader(member, piece.address, piece.size);
      SL_RETURN_IF_ERROR(buffer.Add(member, piece));
    } else if (order == Order::kEnd) {
      if (reader.Complete()) return buffer.Flush();
    } else {
      return Damaged();
    }
  }
  return {};
}

}  // namespace steplens::cluster
