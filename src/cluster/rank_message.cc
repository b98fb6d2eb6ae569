#include "cluster/rank_message.h"

#include <cstdint>
#include <cstring>

namespace steplens::cluster {
namespace {

void PutSize(std::string& out, uint64_t size) {
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
}

uint64_t SizeAt(std::string_view bytes, size_t offset) {
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + offset, sizeof size);
  return size;
}

}  // namespace

std::string PackMessage(const RankMessage& message) {
  size_t total = 1 + sizeof(uint64_t) * (2 + message.rendered.size()) + message.part.size();
  for (const std::string& text : message.rendered) total += text.size();
  std::string out;
  out.reserve(total);
  out += message.is_cached ? '\1' : '\0';
  PutSize(out, 1 + message.rendered.size());
  PutSize(out, message.part.size());
  for (const std::string& text : message.rendered) PutSize(out, text.size());
  out += message.part;
  for (const std::string& text : message.rendered) out += text;
  return out;
}

std::optional<RankMessageView> UnpackMessage(std::string_view bytes) {
  constexpr size_t kHead = 1 + sizeof(uint64_t);
  if (bytes.size() < kHead) return std::nullopt;
  const uint64_t count = SizeAt(bytes, 1);
  if (count == 0 || count > (bytes.size() - kHead) / sizeof(uint64_t)) return std::nullopt;
  RankMessageView message;
  message.is_cached = bytes.front() != 0;
  std::string_view rest = bytes.substr(kHead + count * sizeof(uint64_t));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t size = SizeAt(bytes, kHead + i * sizeof(uint64_t));
    if (size > rest.size()) return std::nullopt;
    const std::string_view piece = rest.substr(0, size);
    rest.remove_prefix(size);
    if (i == 0) {
      message.part = piece;
    } else {
      message.rendered.push_back(piece);
    }
  }
  if (!rest.empty()) return std::nullopt;
  return message;
}

}  // namespace steplens::cluster
