#include "cluster/rank_texts.h"

#include <algorithm>

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

std::optional<std::string_view> Cut(std::string_view text, uint64_t offset, uint64_t size) {
  if (offset > text.size() || size > text.size() - offset) return std::nullopt;
  return text.substr(offset, size);
}

}  // namespace

RankTexts::RankTexts(size_t recipes, size_t ranks, bool is_shared)
    : recipes_(recipes), texts_(recipes * ranks) {
  if (!is_shared) return;
  if (Result<SharedMemory> memory = SharedMemory::Create(); memory.ok())
    shared_.emplace(*std::move(memory));
}

uint64_t RankTexts::Put(uint64_t number, std::string_view text) {
  Text& own = texts_[number];
  own.size = text.size();
  if (shared_) {
    if (const Result<uint64_t> offset = shared_->Append(text); offset.ok())
      return own.offset = *offset;
  }
  own.bytes = text;  // kept for long, so without the room that it was rendered in
  return 0;
}

std::optional<SharedPlace> RankTexts::place() const {
  const bool has_other = std::any_of(texts_.begin(), texts_.end(),
                                     [](const Text& text) { return !text.bytes.empty(); });
  if (!shared_ || has_other) return std::nullopt;
  return shared_->place();
}

Status RankTexts::Open(std::span<const SharedPlace> places) {
  if (shared_ && !own_) {
    SL_ASSIGN_OR_RETURN(SharedView view, shared_->View());
    own_.emplace(std::move(view));
  }
  std::vector<SharedView> views;
  for (const SharedPlace& place : places) {
    SL_ASSIGN_OR_RETURN(SharedView view, SharedView::Open(place));
    views.push_back(std::move(view));
  }
  views_ = std::move(views);
  return {};
}

std::optional<std::string_view> RankTexts::Find(const FilePiece& piece) const {
  if (piece.is_here()) return piece.bytes();
  if (piece.text >= texts_.size()) return std::nullopt;
  const Text& own = texts_[piece.text];
  if (own.bytes.size() == own.size) return Cut(own.bytes, piece.offset, piece.size);
  if (!own_) return std::nullopt;
  const auto whole = Cut(own_->bytes(), own.offset, own.size);
  return whole ? Cut(*whole, piece.offset, piece.size) : std::nullopt;
}

std::optional<std::string_view> RankTexts::Find(uint64_t member, uint64_t offset,
                                                uint64_t size) const {
  if (member >= views_.size()) return std::nullopt;
  return Cut(views_[member].bytes(), offset, size);
}

}  // namespace steplens::cluster
