#include "analysis/viewer/allocation_names.h"

#include <algorithm>
#include <optional>

#include "analysis/operators/host_ops.h"

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

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
    return latest ? store_.Text(store_.slices.name[*latest]) : std::string_view();
  }

 private:
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

}  // namespace steplens::analysis::viewer
