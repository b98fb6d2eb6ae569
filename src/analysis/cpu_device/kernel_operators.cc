#include "analysis/cpu_device/kernel_operators.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/classify/text_memo.h"
#include "analysis/cpu_device/host_collectives.h"
#include "analysis/cpu_device/op_roles.h"
#include "analysis/nesting/nesting.h"
#include "analysis/nesting/parents.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

constexpr uint32_t kUserScope = 7;

// Row of host_ops of each slice that is an operator: no user range, no step, no collective's work.
std::vector<uint32_t> Operators(const TraceStore& store) {
  std::vector<uint32_t> rows(store.slices.size(), kNoId);
  TextMemo is_none(store, [](std::string_view name) {
    return name.starts_with("ProfilerStep#") || IsDistributedWork(name);
  });
  for (uint32_t i = 0; i < store.host_ops.size(); ++i) {
    const auto slice = static_cast<size_t>(store.host_ops.slice[i]);
    if (slice >= rows.size() || store.host_ops.scope[i] == kUserScope) continue;
    if (!is_none(store.slices.name[slice])) rows[slice] = i;
  }
  return rows;
}

// The roles of operators, asked once per name.
class Roles {
 public:
  explicit Roles(const TraceStore& store) : store_(store), known_(2 * store.strings.size()) {}
  OpRole operator()(uint32_t host_op, StringId name) {
    constexpr uint32_t kBackwardScope = 1;
    const bool is_node = store_.host_ops.scope[host_op] == kBackwardScope;
    uint8_t& known = known_[2 * static_cast<size_t>(name) + (is_node ? 1 : 0)];
    if (known == 0) known = static_cast<uint8_t>(1 + static_cast<uint8_t>(RoleOf(name, is_node)));
    return static_cast<OpRole>(known - 1);
  }

 private:
  OpRole RoleOf(StringId name, bool is_node) const {
    const std::string_view text = store_.Text(name);
    return IsDistributedOp(text) ? OpRole::kKeepsBooks : RoleOfOperator(text, is_node);
  }
  const TraceStore& store_;     // outlives this, which lives for one call
  std::vector<uint8_t> known_;  // role + 1 of (name, is a node)
};

// The kernels of a track: operators that compute and call none that does, and copies and fills that
// are no part of one and call none. A wrapper is none, whatever its time; nor is what only keeps
// books. Nothing here looks at a duration: the same program has the same kernels in every run.
class TrackKernels {
 public:
  explicit TrackKernels(const TraceStore& store) : store_(store), roles_(store) {}

  // visit(slice row) in drawing order.
  template <typename Visitor>
  void ForEach(std::span<const SliceId> slices, std::span<const uint32_t> ops, Visitor&& visit) {
    parent_.assign(slices.size(), kNoId);
    role_.resize(slices.size());
    inside_.assign(slices.size(), OpRole::kKeepsBooks);
    ForEachParent(store_, slices, [&](uint32_t place, uint32_t parent) {
      const auto slice = static_cast<size_t>(slices[place]);
      parent_[place] = parent;
      role_[place] = roles_(ops[slice], store_.slices.name[slice]);
    });
    for (size_t place = slices.size(); place-- > 0;) {  // parents come before their children
      const uint32_t parent = parent_[place];
      if (parent == kNoId) continue;
      inside_[parent] = std::max({inside_[parent], inside_[place], role_[place]});
    }
    taken_.assign(slices.size(), false);  // it, or what it is a part of
    for (size_t place = 0; place < slices.size(); ++place) {
      if (parent_[place] != kNoId && taken_[parent_[place]]) {
        taken_[place] = true;
      } else if (role_[place] > inside_[place]) {
        taken_[place] = true;
        visit(static_cast<size_t>(slices[place]));
      }
    }
  }

 private:
  const TraceStore& store_;  // outlives this, which lives for one call
  Roles roles_;
  std::vector<uint32_t> parent_;
  std::vector<OpRole> role_;
  std::vector<OpRole> inside_;  // the highest role of what an operator calls
  std::vector<bool> taken_;
};

}  // namespace

std::vector<KernelOperator> KernelOperators(const TraceStore& store) {
  const std::vector<uint32_t> ops = Operators(store);
  const TrackIndex index = BuildTrackIndex(store, [&](size_t row) { return ops[row] != kNoId; });
  TrackKernels kernels(store);
  std::vector<KernelOperator> found;
  for (uint32_t t = 0; t < store.tracks.size(); ++t) {
    kernels.ForEach(index.slices(TrackId{t}), ops, [&](size_t slice) {
      const int64_t begin_ns = store.slices.begin_ns[slice];
      if (!IsPlausible(begin_ns, EndNs(begin_ns, store.slices.dur_ns[slice]))) return;
      found.push_back({static_cast<uint32_t>(slice), ops[slice]});
    });
  }
  return found;
}

}  // namespace steplens::analysis
