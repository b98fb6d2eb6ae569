#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/text_match.h"

namespace steplens::server {

// What the search box asks for: terms joined by and, or, not and parentheses.
//
//   name~"matmul" dur>50us rank=0,3-7 lane:hardware step=12
//   (cat=kernel or name=~"^aten") and not (dur<10us or step in 1,2) arg."task type"="AI_CORE"
//
// docs/api.md, "Slices", has the language. Text that begins with no term is a name, matched by the
// mode. Immutable; for any number of threads.
class SliceFilter {
 public:
  enum class Field : uint8_t { kName, kCategory, kLane, kDur, kSelf, kRank, kStep, kArg };

  // One term. It holds if any of its texts or ranges does, or, negated, if none does.
  struct Term {
    struct Range {
      int64_t first;
      int64_t last;
    };
    Field field = Field::kName;
    bool negated = false;
    std::vector<TextMatcher> texts{};
    std::vector<Range> ranges{};  // of durations in ns
    std::string arg{};            // the name of the argument

    bool Holds(std::string_view text) const;
    bool Holds(int64_t number) const;
    // An argument as text: compared as a number where it is one and the term has ranges.
    bool HoldsArg(std::string_view value) const;
  };

  // What is known of a slice, or of a whole name, lane or rank: false is certain, too.
  enum class Truth : uint8_t { kNo, kYes, kUnknown };

  static Result<SliceFilter> Parse(std::string_view text, MatchMode mode);
  // Slices of exactly this name.
  static SliceFilter OfName(std::string_view name);

  const std::vector<Term>& terms() const { return terms_; }
  // Whether the filter holds, where truth_of(index of a term) says what is known.
  template <typename TruthOf>
  Truth Evaluate(TruthOf&& truth_of) const {
    return nodes_.empty() ? Truth::kYes : Evaluate(nodes_.back(), truth_of);
  }

 private:
  friend class FilterParser;
  enum class Join : uint8_t { kTerm, kAnd, kOr, kNot };
  struct Node {
    Join join = Join::kTerm;
    std::vector<uint32_t> parts{};  // nodes; of kTerm, the term
  };

  template <typename TruthOf>
  Truth Evaluate(const Node& node, TruthOf& truth_of) const {
    if (node.join == Join::kTerm) return truth_of(node.parts[0]);
    if (node.join == Join::kNot) {
      const Truth inner = Evaluate(nodes_[node.parts[0]], truth_of);
      if (inner == Truth::kUnknown) return inner;
      return inner == Truth::kYes ? Truth::kNo : Truth::kYes;
    }
    const Truth decides = node.join == Join::kAnd ? Truth::kNo : Truth::kYes;
    Truth out = node.join == Join::kAnd ? Truth::kYes : Truth::kNo;
    for (const uint32_t part : node.parts) {
      const Truth here = Evaluate(nodes_[part], truth_of);
      if (here == decides) return decides;
      if (here == Truth::kUnknown) out = Truth::kUnknown;
    }
    return out;
  }

  static SliceFilter OfTerm(TextMatcher name);

  std::vector<Term> terms_;
  std::vector<Node> nodes_;  // children before parents; the last is the whole
};

}  // namespace steplens::server
