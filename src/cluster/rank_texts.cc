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

void RankTexts::Share() {
  Result<std::unique_ptr<SharedBytes>> made = SharedBytes::Create();
  if (made.ok()) shared_ = *std::move(made);
}

uint64_t RankTexts::Put(uint64_t number, std::string_view text) {
  Text& own = texts_[number];
  own.size = text.size();
  if (shared_ != nullptr) {
    const Result<uint64_t> offset = shared_->Append(text);
    if (offset.ok()) return own.offset = *offset;
  }
  own.bytes = text;  // kept for long, so without the room that it was rendered in
  return kNotShared;
}

Result<uint64_t> RankTexts::PutShared(std::string_view bytes) {
  if (shared_ == nullptr) return Error{ErrorCode::kInternal, "nothing is shared"};
  return shared_->Append(bytes);
}

std::optional<SharedPlace> RankTexts::EndSharing() {
  if (shared_ == nullptr) return std::nullopt;
  Result<SharedView> view = shared_->View();
  if (!view.ok()) return std::nullopt;
  own_view_.emplace(*std::move(view));
  const bool is_whole = std::all_of(texts_.begin(), texts_.end(),
                                    [](const Text& text) { return text.bytes.empty(); });
  if (!is_whole) return std::nullopt;
  return shared_->place();
}

Status RankTexts::OpenAll(std::span<const SharedPlace> places) {
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
  const Text& text = texts_[piece.text];
  if (text.offset == kNotShared) return Cut(text.bytes, piece.offset, piece.size);
  if (!own_view_) return std::nullopt;
  const auto whole = Cut(own_view_->bytes(), text.offset, text.size);
  return whole ? Cut(*whole, piece.offset, piece.size) : std::nullopt;
}

std::optional<std::string_view> RankTexts::FindShared(uint64_t member, uint64_t offset,
                                                      uint64_t size) const {
  if (member >= views_.size()) return std::nullopt;
  return Cut(views_[member].bytes(), offset, size);
}

}  // namespace steplens::cluster
