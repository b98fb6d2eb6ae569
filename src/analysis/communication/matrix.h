#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/communication/communication.h"
#include "analysis/communication/transfers.h"

namespace steplens::analysis {

// The type that communication_matrix.json files an operation under: the first of the known words
// in its name, so that hcom_reduceScatter_ counts as 'reduce' (the reference's files do).
std::string MatrixType(std::string_view op_name, bool is_mindspore, bool is_p2p);

// Gathers the links of operations and picks, of each type, group and pair of ranks, the fastest,
// the median and the slowest operation, and the sum over all.
class MatrixBuilder {
 public:
  MatrixBuilder(bool is_mindspore, bool is_p2p) : is_mindspore_(is_mindspore), is_p2p_(is_p2p) {}

  void Add(const std::string& op_name, const std::string& group,
           const std::vector<Transfer>& transfers);
  std::vector<MatrixEntry> Finish();

 private:
  using Pair = std::pair<int64_t, int64_t>;
  struct Links {  // of one type and group
    std::string type;
    std::string group;
    std::vector<Pair> order;  // pairs in order of appearance
    std::map<Pair, std::vector<LinkFacts>> by_pair;
  };
  Links& Find(const std::string& type, const std::string& group);
  void AppendEntries(Links& links, std::vector<MatrixEntry>& out) const;

  bool is_mindspore_;
  bool is_p2p_;
  std::vector<Links> links_;
};

}  // namespace steplens::analysis
