#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/archive.h"
#include "base/status.h"
#include "cluster/rank_texts.h"

namespace steplens::cluster {

using WriteAt = std::function<Status(uint64_t offset, std::string_view bytes)>;

// A file as orders to write it. Each member of a team gets the stretches that are made of its own
// texts, and of the bytes between them. Where everybody can look at all texts (RankTexts::has_all),
// the first gets all of it, and anybody may carry it out. Many bytes in a row that are no text are
// not sent around but written at once. All together are the file.
class FilePlan {
 public:
  FilePlan(const RankTexts& texts, size_t members, WriteAt write)
      : texts_(texts), orders_(members), write_(std::move(write)) {}

  // The pieces in the order of the file.
  Status Add(const analysis::cluster::FilePiece& piece);
  // After the last: what is to be done, by member; nothing where nothing is.
  std::vector<std::string> Take();
  uint64_t size() const { return size_; }

 private:
  size_t WriterOf(const analysis::cluster::FilePiece& piece) const;
  void PutBytes();
  Status WriteBytes();

  const RankTexts& texts_;
  std::vector<ArchiveWriter> orders_;  // by member
  WriteAt write_;
  uint64_t size_ = 0;
  std::string bytes_;      // that are not in anybody's orders yet
  bool is_begun_ = false;  // a stretch
  size_t writer_ = 0;      // of it
};

// Carries out orders: hands every stretch, piece by piece, to `write`.
Status CarryOut(std::string_view orders, const RankTexts& texts, const WriteAt& write);

}  // namespace steplens::cluster
