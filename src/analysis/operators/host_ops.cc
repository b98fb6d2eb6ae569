#include "analysis/operators/host_ops.h"

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/facts/rank_view.h"
#include "analysis/launches/launches.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

TrackIndex IndexHostOps(const TraceStore& store) {
  const SliceKinds kinds(store);
  const auto& category = store.slices.category;
  return BuildTrackIndex(store, [&](size_t i) { return kinds[category[i]] == SliceKind::kHostOp; });
}

// Which device slices count for 'With AICore': those of task type AI_CORE, as the exporter of the
// trace writes it. A db has the types of the driver instead, in which the sub-tasks of a mixed
// kernel look like AI core tasks; its kernel row tells them apart.
class AiCoreTasks {
 public:
  explicit AiCoreTasks(const RankView& rank)
      : store_(rank.store()), slice_kinds_(rank.slice_kinds()) {
    const TraceStore& store = store_;
    const auto cube = store.strings.Find("AI_CORE");
    const auto vector = store.strings.Find("AI_VECTOR_CORE");
    ai_core_ = cube.value_or(StringId::kEmpty);
    driver_cube_ = store.strings.Find("KERNEL_AICORE").value_or(StringId::kEmpty);
    driver_vector_ = store.strings.Find("KERNEL_AIVEC").value_or(StringId::kEmpty);
    if (driver_cube_ == StringId::kEmpty && driver_vector_ == StringId::kEmpty) return;
    for (size_t i = 0; i < store.kernels.size(); ++i) {
      const StringId core = store.kernels.core[i];
      const bool is_known = core != StringId::kEmpty && store.Text(core) != "N/A";
      const bool is_mixed =
          is_known ? core != cube && core != vector : store.kernels.context_id[i] != store::kNone;
      const SliceId slice = rank.kernel_slices().slice_of()[i];
      if (is_mixed && slice != kNoSlice) mixed_.push_back(slice);
    }
    std::sort(mixed_.begin(), mixed_.end());
  }

  // The category of a GPU slice is not a task type.
  bool KnowsType(size_t slice) const {
    const StringId type = store_.slices.category[slice];
    return type != StringId::kEmpty && !IsGpuWork(slice_kinds_[type]);
  }
  bool Contains(size_t slice) const {
    const StringId type = store_.slices.category[slice];
    if (type == StringId::kEmpty) return false;
    if (type == ai_core_) return true;
    if (type != driver_cube_ && type != driver_vector_) return false;
    return !std::binary_search(mixed_.begin(), mixed_.end(), SliceId{static_cast<uint32_t>(slice)});
  }

 private:
  const TraceStore& store_;  // outlives this, which lives for one call
  const SliceKinds& slice_kinds_;
  StringId ai_core_, driver_cube_, driver_vector_;
  std::vector<SliceId> mixed_;
};

// Device work as the operator sees it that launched it.
struct OperatorLaunch {
  int64_t host_ns;
  int64_t dur_ns;
  store::TrackId host_track;
  bool knows_aicore;
  bool is_aicore;
};

// By thread and time.
std::vector<OperatorLaunch> CollectLaunches(const TraceStore& store) {
  const RankView rank(store);
  const AiCoreTasks aicore(rank);
  std::vector<OperatorLaunch> launches;
  launches.reserve(store.flows.size());
  ForEachOperatorLaunch(store, rank.tracks(), [&](const Launch& launch) {
    const auto d = static_cast<size_t>(launch.device);
    launches.push_back({launch.owner_ns, store.slices.dur_ns[d], launch.owner_track,
                        aicore.KnowsType(d), aicore.Contains(d)});
  });
  const auto before = [](const OperatorLaunch& a, const OperatorLaunch& b) {
    return std::tie(a.host_track, a.host_ns) < std::tie(b.host_track, b.host_ns);
  };
  if (!std::is_sorted(launches.begin(), launches.end(), before))
    std::stable_sort(launches.begin(), launches.end(), before);
  return launches;
}

// What all threads ask of a slice.
class OperatorRules {
 public:
  explicit OperatorRules(const TraceStore& store)
      : pass(store),
        store_(store),
        kinds_(store),
        is_graph_launch_(store, IsGraphLaunch),
        is_step_(store, [](std::string_view name) { return name.starts_with("ProfilerStep#"); }) {}

  bool IsOperator(size_t slice) const {
    return kinds_[store_.slices.category[slice]] == SliceKind::kHostOp;
  }
  bool IsGraphCall(size_t slice) {
    return IsGpuApi(kinds_[store_.slices.category[slice]]) &&
           is_graph_launch_(store_.slices.name[slice]);
  }
  bool IsStep(SliceId slice) { return is_step_(store_.slices.name[static_cast<size_t>(slice)]); }

  PassRules pass;

 private:
  using Memo = TextMemo<bool (*)(std::string_view)>;
  const TraceStore& store_;
  SliceKinds kinds_;
  Memo is_graph_launch_;
  Memo is_step_;
};

// The operators of one thread by start. Holds no more of them at a time than lie in one that lies
// in no other: all of its times are known when its last one is.
class ThreadOperators {
 public:
  // All must outlive this. The slices come in drawing order, the launches by time.
  ThreadOperators(const TraceStore& store, OperatorRules& rules, std::span<const SliceId> slices,
                  std::span<const OperatorLaunch> launches)
      : store_(store), rules_(rules), slices_(slices), launches_(launches) {
    ReadTree();
  }

  bool IsAtEnd() const { return given_ == tree_.size(); }
  const HostOp& Front() const { return tree_[given_]; }
  void Pop() {
    if (++given_ == tree_.size()) ReadTree();
  }
  bool knows_aicore() const { return knows_aicore_; }

 private:
  struct Open {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t place;  // in tree_
  };

  void ReadTree() {
    tree_.clear();
    parents_.clear();
    open_.clear();
    given_ = 0;
    for (; next_slice_ < slices_.size(); ++next_slice_) {
      const SliceId slice = slices_[next_slice_];
      const auto i = static_cast<size_t>(slice);
      const int64_t begin_ns = store_.slices.begin_ns[i];
      const int64_t end_ns = EndNs(begin_ns, store_.slices.dur_ns[i]);
      if (!rules_.IsOperator(i) && IsInsideOperator(begin_ns)) continue;
      TakeLaunchesBefore(begin_ns);
      // As ForEachParent.
      while (!open_.empty() && (open_.back().end_ns <= begin_ns || open_.back().end_ns < end_ns)) {
        open_.pop_back();
      }
      if (open_.empty() && !tree_.empty()) break;
      parents_.push_back(open_.empty() ? kNoId : open_.back().place);
      open_.push_back({begin_ns, end_ns, static_cast<uint32_t>(tree_.size())});
      AddOperator(slice);
    }
    if (next_slice_ == slices_.size()) TakeLaunchesBefore(kLatestNs);
    PassToParents();
  }

  // Steps are no operators to whoever launches a graph.
  bool IsInsideOperator(int64_t ts_ns) {
    return std::ranges::any_of(open_, [&](const Open& open) {
      return ts_ns < open.end_ns && !rules_.IsStep(tree_[open.place].slice);
    });
  }

  void AddOperator(SliceId slice) {
    HostOp& op = tree_.emplace_back();
    const HostOp* const parent = parents_.back() == kNoId ? nullptr : &tree_[parents_.back()];
    op.slice = slice;
    if (parent != nullptr) op.parent = parent->slice;
    op.detail = DetailOf(slice);
    op.pass = parent == nullptr
                  ? rules_.pass.OfOutermost(slice, op.detail)
                  : rules_.pass.OfInner(slice, op.detail, parent->slice, parent->pass);
    op.host_total_ns = store_.slices.dur_ns[static_cast<size_t>(slice)];
  }

  // To the operator that started exactly then, else to the innermost one that runs then: the open
  // ones are the last one started and all around it.
  void TakeLaunchesBefore(int64_t before_ns) {
    for (; next_launch_ < launches_.size(); ++next_launch_) {
      const OperatorLaunch& launch = launches_[next_launch_];
      if (launch.host_ns >= before_ns && before_ns != kLatestNs) return;
      const auto runs = [&](const Open& open) { return launch.host_ns < open.end_ns; };
      auto owner = open_.rbegin();
      if (owner != open_.rend() && owner->begin_ns != launch.host_ns)
        owner = std::find_if(owner, open_.rend(), runs);
      if (owner != open_.rend()) Take(launch, tree_[owner->place]);
    }
  }
  void Take(const OperatorLaunch& launch, HostOp& op) {
    knows_aicore_ = knows_aicore_ || launch.knows_aicore;
    op.device_self_ns = AddNs(op.device_self_ns, launch.dur_ns);
    if (launch.is_aicore) op.device_self_aicore_ns = AddNs(op.device_self_aicore_ns, launch.dur_ns);
  }

  // Children follow their parents, so from back to front a total is complete when it is passed on.
  void PassToParents() {
    for (size_t i = tree_.size(); i-- > 0;) {
      HostOp& op = tree_[i];
      op.host_self_ns = AddNs(op.host_self_ns, op.host_total_ns);
      op.device_total_ns = AddNs(op.device_total_ns, op.device_self_ns);
      op.device_total_aicore_ns = AddNs(op.device_total_aicore_ns, op.device_self_aicore_ns);
      if (parents_[i] == kNoId) continue;
      HostOp& parent = tree_[parents_[i]];
      parent.host_self_ns = AddNs(parent.host_self_ns, -op.host_total_ns);
      parent.device_total_ns = AddNs(parent.device_total_ns, op.device_total_ns);
      parent.device_total_aicore_ns =
          AddNs(parent.device_total_aicore_ns, op.device_total_aicore_ns);
    }
  }

  // Raw captures have the rows of operators side by side with their slices.
  uint32_t DetailOf(SliceId slice) const {
    const auto rows = store_.host_ops.slice.span();
    const auto row = static_cast<size_t>(slice);
    const bool is_beside =
        row < rows.size() && rows[row] == slice && (row == 0 || rows[row - 1] != slice);
    return is_beside ? static_cast<uint32_t>(row) : FindHostOpDetail(store_, slice);
  }

  const TraceStore& store_;
  OperatorRules& rules_;
  std::span<const SliceId> slices_;
  std::span<const OperatorLaunch> launches_;
  size_t next_slice_ = 0;
  size_t next_launch_ = 0;
  std::vector<HostOp> tree_;       // the present outermost operator and all inside it, by start
  std::vector<uint32_t> parents_;  // of each of them, a place in tree_; kNoId: none
  std::vector<Open> open_;
  size_t given_ = 0;  // how many of tree_ were popped
  bool knows_aicore_ = false;
};

// visit(op) for all operators by start, outer before inner, all threads together. Returns whether
// the input says the task type of what they launched.
template <typename Visitor>
bool VisitOperators(const TraceStore& store, const Visitor& visit) {
  OperatorRules rules(store);
  const TrackIndex index =
      BuildTrackIndex(store, [&](size_t i) { return rules.IsOperator(i) || rules.IsGraphCall(i); });
  const std::vector<OperatorLaunch> launches = CollectLaunches(store);
  std::vector<ThreadOperators> threads;
  for (uint32_t t = 0; t + 1 < index.first.size(); ++t) {
    const store::TrackId track{t};
    if (index.slices(track).empty()) continue;
    const auto own =
        std::ranges::equal_range(launches, track, std::less<>(), &OperatorLaunch::host_track);
    threads.emplace_back(store, rules, index.slices(track), std::span(own.begin(), own.end()));
  }
  const auto key = [&](const ThreadOperators* thread) {
    const HostOp& op = thread->Front();
    return std::tuple(store.slices.begin_ns[static_cast<size_t>(op.slice)], -op.host_total_ns,
                      op.slice);
  };
  const auto later = [&](const ThreadOperators* a, const ThreadOperators* b) {
    return key(a) > key(b);
  };
  std::vector<ThreadOperators*> heap;
  for (ThreadOperators& thread : threads) heap.push_back(&thread);
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    ThreadOperators* const thread = heap.back();
    heap.pop_back();
    do {  // a run of one thread's operators costs one comparison each
      visit(thread->Front());
      thread->Pop();
    } while (!thread->IsAtEnd() && (heap.empty() || !later(thread, heap.front())));
    if (thread->IsAtEnd()) continue;
    heap.push_back(thread);
    std::push_heap(heap.begin(), heap.end(), later);
  }
  return std::ranges::any_of(threads, &ThreadOperators::knows_aicore);
}

}  // namespace

HostOpFinder::HostOpFinder(const TraceStore& store)
    : store_(store), index_(IndexHostOps(store)), nesting_(ComputeNesting(store, index_)) {}

SliceId HostOpFinder::Find(store::TrackId track, int64_t ts_ns) const {
  const SliceId last = index_.LastStarted(store_, track, ts_ns);
  if (last == kNoSlice || store_.slices.begin_ns[static_cast<size_t>(last)] == ts_ns) return last;
  return nesting_.InnermostAt(store_, index_, track, ts_ns);
}

uint32_t FindHostOpDetail(const TraceStore& store, SliceId slice) {
  const auto rows = store.host_ops.slice.span();
  const auto it = std::lower_bound(rows.begin(), rows.end(), slice);
  if (it == rows.end() || *it != slice) return store::kNoId;
  return static_cast<uint32_t>(it - rows.begin());
}

HostOps ComputeHostOps(const TraceStore& store) {
  HostOps result;
  result.knows_aicore = VisitOperators(store, [&](const HostOp& op) { result.ops.push_back(op); });
  return result;
}

void ForEachHostOp(const TraceStore& store, const std::function<void(const HostOp&)>& visit) {
  VisitOperators(store, visit);
}

}  // namespace steplens::analysis
