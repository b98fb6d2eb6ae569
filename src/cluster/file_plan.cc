#include "cluster/file_plan.h"

#include <algorithm>

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// An order: its kind, and then
enum class Order : uint8_t {
  kStretch = 1,  // the offset where one begins
  kBytes = 2,    // bytes
  kText = 3,     // the number of a text, offset and size of the piece
  kShared = 4,   // the member that has shared it, offset and size
  kEnd = 5,      // nothing
};

// Bytes beyond that are better written at once than copied into orders.
constexpr size_t kManyBytes = 1 << 18;

Error Damaged() { return {ErrorCode::kInternal, "the orders to write a file are damaged"}; }

// A stretch of a file on its way.
class StretchBuffer {
 public:
  explicit StretchBuffer(const WriteAt& write) : write_(write), buffer_(kBufferBytes) {}

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
      used_ += size;
      if (used_ == buffer_.size()) SL_RETURN_IF_ERROR(Flush());
    }
    return {};
  }

  Status Flush() {
    if (used_ > 0) SL_RETURN_IF_ERROR(write_(offset_, {buffer_.data(), used_}));
    offset_ += used_;
    used_ = 0;
    return {};
  }

 private:
  // Stays in the caches. The system keeps aligned writes of more in blocks of memory as large:
  // those are what a virtual machine has given back to its host, and gets again at ten times the
  // price.
  static constexpr size_t kBufferBytes = 1 << 16;

  const WriteAt& write_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  uint64_t offset_ = 0;  // in the file
};

}  // namespace

Status FilePlan::Add(const FilePiece& piece) {
  if (piece.is_here()) {
    bytes_ += piece.bytes();
    size_ += piece.size;
    return bytes_.size() < kManyBytes ? Status() : WriteBytes();
  }
  const size_t writer = WriterOf(piece);
  if (is_begun_ && writer != writer_) {
    PutBytes();  // belong to the stretch that ends here
    is_begun_ = false;
  }
  writer_ = writer;
  PutBytes();
  ArchiveWriter& orders = orders_[writer_];
  if (texts_.has_all()) {
    const uint64_t offset = texts_.OffsetOf(piece.text) + piece.offset;
    orders(Order::kShared, texts_.HolderOf(piece.text), offset, piece.size);
  } else {
    orders(Order::kText, piece.text, piece.offset, piece.size);
  }
  size_ += piece.size;
  return {};
}

size_t FilePlan::WriterOf(const FilePiece& piece) const {
  return texts_.has_all() ? 0 : std::min(texts_.HolderOf(piece.text), orders_.size() - 1);
}

// To whoever writes the stretch, which begins if there is none.
void FilePlan::PutBytes() {
  ArchiveWriter& orders = orders_[writer_];
  if (!is_begun_) orders(Order::kStretch, size_ - bytes_.size());
  is_begun_ = true;
  if (bytes_.empty()) return;
  orders(Order::kBytes, bytes_);
  bytes_.clear();
}

Status FilePlan::WriteBytes() {
  SL_RETURN_IF_ERROR(write_(size_ - bytes_.size(), bytes_));
  bytes_.clear();
  is_begun_ = false;
  return {};
}

std::vector<std::string> FilePlan::Take() {
  if (!bytes_.empty()) PutBytes();
  std::vector<std::string> out;
  for (ArchiveWriter& orders : orders_) {
    std::string bytes = orders.Take();
    if (!bytes.empty()) bytes += static_cast<char>(Order::kEnd);
    out.push_back(std::move(bytes));
  }
  return out;
}

Status CarryOut(std::string_view orders, const RankTexts& texts, const WriteAt& write) {
  StretchBuffer buffer(write);
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
    } else if (order == Order::kShared) {
      uint64_t member = 0;
      uint64_t from = 0;
      uint64_t size = 0;
      reader(member, from, size);
      const std::optional<std::string_view> bytes = texts.Find(member, from, size);
      if (!bytes) return Damaged();
      SL_RETURN_IF_ERROR(buffer.Add(*bytes));
    } else {
      const bool is_end = order == Order::kEnd && reader.Complete();
      return is_end ? buffer.Flush() : Damaged();
    }
  }
  return {};
}

}  // namespace steplens::cluster
