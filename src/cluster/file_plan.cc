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
  kEnd = 4,      // nothing
};

Error Damaged() { return {ErrorCode::kInternal, "the orders to write a file are damaged"}; }

}  // namespace

void FilePlan::Add(const FilePiece& piece) {
  if (piece.is_here()) {
    bytes_ += piece.bytes();
    size_ += piece.size;
    return;
  }
  const size_t holder = std::min(texts_.HolderOf(piece.text), orders_.size() - 1);
  if (is_begun_ && holder != writer_) {
    PutBytes();  // belong to the stretch that ends here
    is_begun_ = false;
  }
  writer_ = holder;
  PutBytes();
  orders_[writer_](Order::kText, piece.text, piece.offset, piece.size);
  size_ += piece.size;
}

// To whoever writes the stretch, which begins if there is none.
void FilePlan::PutBytes() {
  if (!is_begun_) orders_[writer_](Order::kStretch, size_ - bytes_.size());
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
  constexpr size_t kBufferBytes = 1 << 20;
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
    } else if (order == Order::kEnd && reader.Complete()) {
      return flush();
    } else {
      return Damaged();
    }
    if (buffer.size() >= kBufferBytes) SL_RETURN_IF_ERROR(flush());
  }
  return {};
}

}  // namespace steplens::cluster
