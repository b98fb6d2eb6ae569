#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/communication/group_book.h"

namespace steplens::analysis::cluster {

inline constexpr std::string_view kTotalOperation = "Total Op Info";

// Values as small numbers, in the order they are first asked for.
class TextNumbering {
 public:
  uint32_t operator()(std::string_view text);
  const std::string& operator[](uint32_t number) const { return *texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> texts_;  // keys of numbers_, which do not move
};

// Cuts a text into pieces, front to back.
class PieceCutter {
 public:
  explicit PieceCutter(const FilePiece& text) : rest_(text) {}
  // Less than asked for, and nothing more fits, if the text is shorter.
  FilePiece Take(uint64_t size) {
    if (size > rest_.size) fits_ = false;
    FilePiece piece = rest_;
    piece.size = std::min(size, rest_.size);
    if (rest_.is_here()) {
      rest_.data += piece.size;
    } else {
      rest_.offset += piece.size;
    }
    rest_.size -= piece.size;
    return piece;
  }
  bool is_used_up() const { return fits_ && rest_.size == 0; }

 private:
  FilePiece rest_;
  bool fits_ = true;
};

// The text files of communication have the same levels:
//
//   {"(0, 1)": {"step50": {"op@group": {members}, ..., "Total Op Info@group": {members}}}}
//
// the members of a group that were seen, a step, an operation. What stands inside an operation are
// texts of the ranks ("\"0\": {...}"), added in the order they shall have. They are referred to,
// and must live until the file is written.
class OperationTexts {
 public:
  // How a group is used, as bits: a total is over one use of its group or over both.
  enum Uses : uint8_t { kCollective = 1, kP2p = 2, kBoth = 3 };

  // Steps, operations and group names as numbers for the calls below.
  uint32_t Number(std::string_view text) { return numbers_(text); }

  // An operation that has no text stays as an empty object.
  void Add(uint32_t group, bool is_p2p, uint32_t step, uint32_t op, FilePiece text);
  // A rank's totals of a group: of each use, then of both if it has both. Where both uses have the
  // same members the latter is written, else each by itself.
  void AddTotal(int64_t rank, uint32_t group, Uses uses, uint32_t step, FilePiece text);

  bool empty() const { return operations_.empty(); }

  // In the order of first sight, as the reference has it, or with sets in the order of the book,
  // steps and operations by name.
  Status Write(const GroupBook& book, bool by_first_sight, const ResultFile::Sink& sink) const;

 private:
  struct Operation {
    uint32_t group = 0;
    uint32_t step = 0;
    uint32_t op = 0;
    bool is_p2p = false;
    std::vector<FilePiece> texts;
  };
  struct Total {
    int64_t rank = 0;
    Uses uses = kCollective;
    FilePiece text;
  };
  struct Key {
    uint64_t group_and_step;
    uint64_t op_and_use;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<uint64_t>()(key.group_and_step * 0x9E3779B97F4A7C15u ^ key.op_and_use);
    }
  };
  struct Place {  // where an operation stands in the file
    size_t set;
    uint32_t step;
    size_t use;
    const Operation* operation;
  };

  std::vector<Place> Order(const GroupBook& book, bool by_first_sight,
                           std::vector<std::string>& sets) const;
  Status WriteStep(std::span<const Place> places, const ResultFile::Sink& sink) const;
  Status WriteTotals(std::span<const Place> places, const ResultFile::Sink& sink) const;

  TextNumbering numbers_;
  std::vector<Operation> operations_;  // by first sight
  std::unordered_map<Key, size_t, KeyHash> index_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Total>> totals_;  // by (group, step)
};

}  // namespace steplens::analysis::cluster
