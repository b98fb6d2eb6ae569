#include "analysis/compare/op_pairs.h"

#include <algorithm>
#include <span>
#include <string>

#include "analysis/compare/names.h"
#include "base/name_pattern.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoTrack;

// [[8, 16], [16, 32]] of Kineto as Ascend writes it: 8,16;\r\n16,32
std::string ShapesInAscendForm(std::string_view list) {
  if (!list.starts_with('[') || !list.ends_with(']')) return std::string(list);
  list = list.substr(1, list.size() - 2);
  std::string text;
  int depth = 0;
  for (const char c : list) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == '[' || c == ']' || c == ' ') continue;
    if (c == ',' && depth == 0) {
      text += ";\r\n";
    } else {
      text += c;
    }
  }
  return text;
}

class OperatorMatcher {
 public:
  OperatorMatcher(const SideTree& base, const SideTree& comparison, const SheetOptions& options)
      : base_(base), comparison_(comparison), options_(options) {}

  std::vector<Pair> Run() {
    if (!options_.details && (options_.compat || !options_.max_kernels)) {
      for (const uint32_t node : base_.tree.top) pairs_.push_back({node, kUnmatched});
      for (const uint32_t node : comparison_.tree.top) pairs_.push_back({kUnmatched, node});
      return std::move(pairs_);
    }
    Match(base_.tree.top, comparison_.tree.top);
    return std::move(pairs_);
  }

 private:
  using Nodes = std::span<const uint32_t>;
  const HostEvent& Op(const SideTree& of, uint32_t node) const {
    return of.side.ops[of.tree.nodes[node].op];
  }

  std::string NameOf(const SideTree& of, uint32_t node) const {
    const HostEvent& op = Op(of, node);
    std::string name = MappedName(op.name);
    if (options_.input_shapes) {
      const std::string shapes = DescribeOp(of.side, op, options_.compat).shapes;
      name += of.side.is_gpu ? ShapesInAscendForm(shapes) : shapes;
    }
    return name;
  }
  std::string MappedName(std::string_view name) const {
    for (const auto& [from, to] : options_.op_names) {
      if (from == name || (!options_.compat && FitsPattern(name, from))) return to;
    }
    return std::string(name);
  }

  // Opens pairs with many kernels, in place.
  void Add(const Pair& pair) {
    if (options_.max_kernels && pair.base != kUnmatched && pair.comparison != kUnmatched) {
      const OpTree::Node& a = base_.tree.nodes[pair.base];
      const OpTree::Node& b = comparison_.tree.nodes[pair.comparison];
      const auto limit = static_cast<uint64_t>(*options_.max_kernels);
      if (!a.children.empty() && !b.children.empty() &&
          std::max(a.kernel_count, b.kernel_count) > limit) {
        return Match(a.children, b.children);
      }
    }
    pairs_.push_back(pair);
  }

  void Match(Nodes a, Nodes b) {
    if (base_.side.backward_thread == kNoTrack || comparison_.side.backward_thread == kNoTrack) {
      return MatchPart(a, b);
    }
    MatchParts(Divide(base_, a), Divide(comparison_, b));
  }

  void MatchPart(Nodes a, Nodes b) {
    std::vector<std::string> base_names;
    std::vector<std::string> comparison_names;
    for (const uint32_t node : a) base_names.push_back(NameOf(base_, node));
    for (const uint32_t node : b) comparison_names.push_back(NameOf(comparison_, node));
    for (const Pair& pair : MatchNames(base_names, comparison_names)) {
      Add({pair.base == kUnmatched ? kUnmatched : a[pair.base],
           pair.comparison == kUnmatched ? kUnmatched : b[pair.comparison]});
    }
  }

  // A stretch of operators that ran in the backward pass, or outside of it.
  struct Part {
    bool is_backward;
    std::vector<uint32_t> nodes;
  };
  std::vector<Part> Divide(const SideTree& of, Nodes nodes) const {
    std::vector<uint32_t> sorted(nodes.begin(), nodes.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
      return Op(of, a).begin_ns < Op(of, b).begin_ns;
    });
    std::vector<Part> parts;
    for (const uint32_t node : sorted) {
      const bool is_backward = Op(of, node).track == of.side.backward_thread;
      if (parts.empty() || parts.back().is_backward != is_backward) {
        parts.push_back({is_backward, {}});
      }
      parts.back().nodes.push_back(node);
    }
    return parts;
  }

  void MatchParts(const std::vector<Part>& a, const std::vector<Part>& b) {
    size_t i = 0;
    size_t k = 0;
    if (!a.empty() && !b.empty() && a.front().is_backward != b.front().is_backward) {
      if (a.size() > b.size()) {
        MatchPart(a[i++].nodes, {});
      } else {
        MatchPart({}, b[k++].nodes);
      }
    }
    while (i < a.size() || k < b.size()) {
      const Nodes base = i < a.size() ? Nodes(a[i++].nodes) : Nodes();
      const Nodes comparison = k < b.size() ? Nodes(b[k++].nodes) : Nodes();
      MatchPart(base, comparison);
    }
  }

  const SideTree& base_;
  const SideTree& comparison_;
  const SheetOptions& options_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<Pair> MatchOperators(const SideTree& base, const SideTree& comparison,
                                 const SheetOptions& options) {
  return OperatorMatcher(base, comparison, options).Run();
}

}  // namespace steplens::analysis::compare
