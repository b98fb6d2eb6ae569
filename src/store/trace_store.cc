#include "store/trace_store.h"

#include <algorithm>

#include "base/saturate.h"

namespace steplens::store {

std::optional<std::string_view> TraceStore::FindMeta(std::string_view name) const {
  for (size_t i = 0; i < meta.size(); ++i) {
    if (Text(meta.name[i]) == name) return Text(meta.value[i]);
  }
  return std::nullopt;
}

namespace {

// 2001-09-09 in ns: real captures lie after it, so an earlier time beside them is an outlier.
constexpr int64_t kPlausibleEpochNs = 1000000000LL * 1000000000LL;

struct Range {
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  bool empty() const { return begin > end; }
  void Cover(int64_t b, int64_t e) {
    begin = std::min(begin, b);
    end = std::max(end, e);
  }
};

void Cover(const Column<int64_t>& begins, const Column<int64_t>& durs, Range& all,
           Range& plausible) {
  const auto begin = begins.span();
  const auto dur = durs.span();
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] == kNone || dur[i] == kNone) continue;
    const int64_t end_ns = AddSaturating(begin[i], dur[i]);
    all.Cover(begin[i], end_ns);
    if (begin[i] >= kPlausibleEpochNs) plausible.Cover(begin[i], end_ns);
  }
}

}  // namespace

Extent ComputeExtent(const TraceStore& store) {
  Range all;
  Range plausible;
  Cover(store.slices.begin_ns, store.slices.dur_ns, all, plausible);
  Cover(store.kernels.begin_ns, store.kernels.dur_ns, all, plausible);
  Cover(store.comm_ops.begin_ns, store.comm_ops.dur_ns, all, plausible);
  if (all.empty()) return {};
  const Range& range = plausible.empty() ? all : plausible;
  return {range.begin, range.end};
}

}  // namespace steplens::store
