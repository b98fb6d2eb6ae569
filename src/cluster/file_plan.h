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

// A file as orders to write it. Where everybody can look at all texts (RankTexts::has_all), these
// are long stretches, whoever writes them. Else each member of a team writes those that are made of
// its own texts, and of the bytes between them. All together are the file.
class FilePlan {
 public:
  FilePlan(const RankTexts& texts, size_t members)
      : texts_(texts), orders_(texts.has_all() ? 1 : members) {}

  // The pieces in the order of the file.
  void Add(const analysis::cluster::FilePiece& piece);
  // After the last: what is to be done, by stretch or by member; empty where there is nothing to.
  // Orders behind one another are orders.
  std::vector<std::string> Take();
  uint64_t size() const { return size_; }

 private:
  size_t WriterOf(const analysis::cluster::FilePiece& piece);
  void PutBytes();

  const RankTexts& texts_;
  std::vector<ArchiveWriter> orders_;
  uint64_t size_ = 0;
  std::string bytes_;   // that are not in anybody's orders yet
  size_t writer_ = 0;   // of the stretch
  uint64_t begin_ = 0;  // of the stretch
  bool is_begun_ = false;
};

// Carries out orders: hands every stretch, piece by piece, to `write`.
using WriteAt = std::function<Status(uint64_t offset, std::string_view bytes)>;
Status CarryOut(std::string_view orders, const RankTexts& texts, const WriteAt& write);

}  // namespace steplens::cluster
