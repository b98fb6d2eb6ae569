#include "analysis/memory/allocation_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/operators/host_ops.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

bool IsAllocator(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::resize_",
      "aten::zeros", "aten::zeros_like",    "aten::new_zeros",  "aten::set_"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Finds the operator that ran at a time, on any thread.
class RunningOps {
 public:
  explicit RunningOps(const TraceStore& store) : store_(store), finder_(store) {
    for (uint32_t t = 0; t < store.tracks.size(); ++t) {
      if (!finder_.index().slices(store::TrackId{t}).empty()) threads_.push_back(store::TrackId{t});
    }
  }

  std::string_view NameAt(int64_t ts_ns) const {
    std::optional<size_t> latest;
    for (const store::TrackId thread : threads_) {
      const store::SliceId op = finder_.Find(thread, ts_ns);
      if (op == store::kNoSlice) continue;
      const auto row = static_cast<size_t>(op);
      if (!latest || store_.slices.begin_ns[row] > store_.slices.begin_ns[*latest]) latest = row;
    }
    return latest ? NameOf(*latest) : std::string_view();
  }

 private:
  // The operator that wanted the memory: those that do nothing but allocate stand for the one
  // around them.
  std::string_view NameOf(size_t row) const {
    const std::string_view name = store_.Text(store_.slices.name[row]);
    const store::SliceId parent = finder_.nesting().parent[row];
    if (!IsAllocator(name) || parent == store::kNoSlice) return name;
    const auto around = static_cast<size_t>(parent);
    return store_.Text(store_.slices.name[around]).starts_with("aten::") ? NameOf(around) : name;
  }

  const TraceStore& store_;  // outlives this, which lives for one call
  HostOpFinder finder_;
  std::vector<store::TrackId> threads_;
};

}  // namespace

std::vector<std::string_view> AllocationNames(const TraceStore& store) {
  const store::AllocationTable& blocks = store.allocations;
  std::vector<std::string_view> out;
  out.reserve(blocks.size());
  std::optional<RunningOps> ops;
  for (size_t i = 0; i < blocks.size(); ++i) {
    out.push_back(store.Text(blocks.name[i]));
    if (!out.back().empty() || blocks.alloc_ns[i] == store::kNone) continue;
    if (!ops) ops.emplace(store);
    out.back() = ops->NameAt(blocks.alloc_ns[i]);
  }
  return out;
}

}  // namespace steplens::analysis
