#include "analysis/verify/kernel_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/time_math.h"

namespace steplens::analysis::verify {
namespace {

// Slices ordered by (name, start), each to be taken once.
class SlicePool {
 public:
  SlicePool(const Context& context, TrackKind kind) : slices_(context.store.slices) {
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      if (context.track_kind(slices_.track[i]) == kind) entries_.push_back({i, false});
    }
    std::stable_sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
      return KeyOf(a.slice) < KeyOf(b.slice);
    });
  }

  // The first free slice of the name that starts within the slack.
  store::SliceId Take(StringId name, int64_t begin_ns, int64_t slack_ns) {
    const std::pair from{name, AddNs(begin_ns, -slack_ns)};
    const std::pair to{name, AddNs(begin_ns, slack_ns)};
    auto entry =
        std::lower_bound(entries_.begin(), entries_.end(), from,
                         [&](const Entry& e, const auto& key) { return KeyOf(e.slice) < key; });
    for (; entry != entries_.end(); ++entry) {
      if (KeyOf(entry->slice) > to) break;
      if (entry->taken) continue;
      entry->taken = true;
      return store::SliceId{entry->slice};
    }
    return store::kNoSlice;
  }

 private:
  struct Entry {
    uint32_t slice;
    bool taken;
  };
  std::pair<StringId, int64_t> KeyOf(uint32_t slice) const {
    return {slices_.name[slice], slices_.begin_ns[slice]};
  }

  const store::SliceTable& slices_;  // of the context, which outlives the pool
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<KernelMatch> MatchKernels(const Context& context) {
  const store::KernelTable& kernels = context.store.kernels;
  SlicePool tasks(context, TrackKind::kDevice);
  // A GPU runs its collectives on streams, like all other kernels.
  SlicePool collectives(context, context.is_gpu() ? TrackKind::kDevice : TrackKind::kCommGroup);
  std::vector<KernelMatch> matches;
  matches.reserve(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    store::SliceId slice = store::kNoSlice;
    if (kernels.begin_ns[i] != store::kNone) {
      slice = context.IsCollective(i) ? collectives.Take(kernels.name[i], kernels.begin_ns[i], 1)
                                      : tasks.Take(kernels.name[i], kernels.begin_ns[i], 0);
    }
    matches.push_back({i, slice});
  }
  return matches;
}

std::string KernelText(const Context& context, size_t kernel) {
  return fmt::format("{} row {} ({})", context.Name("kernel_details", "kernels"), kernel + 1,
                     context.Text(context.store.kernels.name[kernel]));
}

}  // namespace steplens::analysis::verify
