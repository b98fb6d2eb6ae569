#include "cluster/rank_texts.h"

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

std::optional<std::string_view> Cut(std::string_view text, uint64_t offset, uint64_t size) {
  if (offset > text.size() || size > text.size() - offset) return std::nullopt;
  return text.substr(offset, size);
}

}  // namespace

uint64_t RankTexts::Put(uint64_t number, std::string_view text) {
  Text& own = texts_[number];
  own.bytes = text;  // kept for long, so without the room that it was rendered in
  own.address = reinterpret_cast<uintptr_t>(own.bytes.data());
  return own.address;
}

Status RankTexts::OpenAll(std::span<const MemoryPlace> places) {
  std::vector<ProcessMemory> memories;
  for (const MemoryPlace& place : places) {
    SL_ASSIGN_OR_RETURN(ProcessMemory memory, ProcessMemory::Open(place));
    memories.push_back(memory);
  }
  memories_ = std::move(memories);
  return {};
}

std::optional<std::string_view> RankTexts::Find(const FilePiece& piece) const {
  if (piece.is_here()) return piece.bytes();
  if (piece.text >= texts_.size()) return std::nullopt;
  return Cut(texts_[piece.text].bytes, piece.offset, piece.size);
}

Status RankTexts::Read(uint64_t member, std::span<const MemoryPiece> pieces, char* buffer) const {
  if (member >= memories_.size())
    return Error{ErrorCode::kInternal, "the texts of a process were not opened"};
  return memories_[member].Read(pieces, buffer);
}

}  // namespace steplens::cluster
