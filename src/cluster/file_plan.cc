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
  kShared = 4,   // the member that shares it, offset and size
  kEnd = 5,      // nothing; other orders may follow
};

// Small beside what one process writes, so that all can have equally much.
constexpr uint64_t kLongStretchBytes = uint64_t{4} << 20;

Error Damaged() { return {ErrorCode::kInternal, "the orders to write a file are damaged"}; }

}  // namespace

void FilePlan::Add(const FilePiece& piece) {
  if (piece.is_here()) {
    bytes_ += piece.bytes();
    size_ += piece.size;
    return;
  }
  const size_t writer = WriterOf(piece);
  if (is_begun_ && writer != writer_) {
    PutBytes();  // belong to the stretch that ends here
    is_begun_ = false;
  }
  writer_ = writer;
  PutBytes();
  if (texts_.has_all()) {
    const uint64_t offset = texts_.OffsetOf(piece.text) + piece.offset;
    orders_[writer_](Order::kShared, texts_.HolderOf(piece.text), offset, piece.size);
  } else {
    orders_[writer_](Order::kText, piece.text, piece.offset, piece.size);
  }
  size_ += piece.size;
}

size_t FilePlan::WriterOf(const FilePiece& piece) {
  if (!texts_.has_all()) return std::min(texts_.HolderOf(piece.text), orders_.size() - 1);
  if (is_begun_ && size_ - begin_ >= kLongStretchBytes) orders_.emplace_back();
  return orders_.size() - 1;
}

// To whoever writes the stretch, which begins if there is none.
void FilePlan::PutBytes() {
  if (!is_begun_) {
    begin_ = size_ - bytes_.size();
    orders_[writer_](Order::kStretch, begin_);
  }
  is_begun_ = true;
  if (bytes_.empty()) return;
  orders_[writer_](Order::kBytes, bytes_);
  bytes_.clear();
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
  constexpr size_t kBufferBytes = 1 << 18;  // stays in the caches
  std::string buffer;
  uint64_t offset = 0;
  const auto flush = [&]() -> Status {
    if (buffer.empty()) return {};
    SL_RETURN_IF_ERROR(write(offset, buffer));
    offset += buffer.size();
    buffer.clear();
    return {};
  };
  ArchiveReader reader(orders);
  while (!orders.empty()) {
    Order order{};
    reader(order);
    if (order == Order::kStretch) {
      SL_RETURN_IF_ERROR(flush());
      reader(offset);
    } else if (order == Order::kBytes) {
      std::string_view bytes;
      reader(bytes);
      buffer += bytes;
    } else if (order == Order::kText) {
      uint64_t text = 0;
      uint64_t from = 0;
      uint64_t size = 0;
      reader(text, from, size);
      const std::optional<std::string_view> bytes = texts.Find(FilePiece(text, from, size));
      if (!bytes) return Damaged();
      buffer += *bytes;
    } else if (order == Order::kShared) {
      uint64_t member = 0;
      uint64_t from = 0;
      uint64_t size = 0;
      reader(member, from, size);
      const std::optional<std::string_view> bytes = texts.FindShared(member, from, size);
      if (!bytes) return Damaged();
      buffer += *bytes;
    } else if (order == Order::kEnd) {
      if (reader.Complete()) return flush();
    } else {
      return Damaged();
    }
    if (buffer.size() >= kBufferBytes) SL_RETURN_IF_ERROR(flush());
  }
  return {};
}

}  // namespace steplens::cluster
