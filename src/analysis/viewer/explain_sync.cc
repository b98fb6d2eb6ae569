#include <algorithm>
#include <string_view>

#include "analysis/classify/classify.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"
#include "analysis/viewer/explain.h"
#include "analysis/viewer/explain_common.h"
#include "analysis/viewer/overlap_lanes.h"

// A slice that waits is explained by what ends it.

namespace steplens::analysis::viewer {
namespace {

using store::SliceId;
using store::TraceStore;

// The slice on the wanted tracks that was under way during the wait and ended last, by its end or
// shortly after: what a wait ends with may be recorded a little later than the wait itself.
class LastEnding {
 public:
  LastEnding(const TraceStore& store, Interval wait) : store_(store), wait_(wait) {}

  void Look(size_t slice) {
    constexpr int64_t kClockNs = 1000;  // host and device clocks are compared to a microsecond
    const int64_t begin_ns = store_.slices.begin_ns[slice];
    const int64_t end_ns = EndNs(begin_ns, store_.slices.dur_ns[slice]);
    if (end_ns <= wait_.begin_ns || end_ns > AddNs(wait_.end_ns, kClockNs)) return;
    // Of slices that end together the inner one did the work.
    if (found_ != store::kNoSlice &&
        std::pair(end_ns, begin_ns) <= std::pair(end_ns_, store_.slices.begin_ns[Row()])) {
      return;
    }
    found_ = static_cast<SliceId>(slice);
    end_ns_ = end_ns;
  }
  SliceId found() const { return found_; }
  int64_t end_ns() const { return end_ns_; }

 private:
  size_t Row() const { return static_cast<size_t>(found_); }

  const TraceStore& store_;
  Interval wait_;
  SliceId found_ = store::kNoSlice;
  int64_t end_ns_ = 0;
};

class SyncExplainer {
 public:
  SyncExplainer(const store::Job& job, uint32_t rank_index, size_t slice)
      : job_(job),
        rank_index_(rank_index),
        store_(job.ranks[rank_index]),
        slice_(slice),
        kinds_(ClassifyTracks(store_)),
        wait_{store_.slices.begin_ns[slice],
              EndNs(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice])} {}

  std::optional<Explanation> Explain() {
    const WaitKind kind = WaitKindOf(NameOf(slice_), KindOfTrack(slice_));
    if (kind == WaitKind::kNone) return std::nullopt;
    out_.title = Message{
        "slice.title",
        {{"name", std::string(NameOf(slice_))}, {"time", TimeText(store_.slices.dur_ns[slice_])}}};
    if (kind == WaitKind::kNotify) {
      ExplainNotify();
    } else if (kind == WaitKind::kQueue) {
      ExplainQueue();
    } else {
      AddDeviceTimes();
      kind == WaitKind::kEvent ? ExplainEvent() : ExplainHost();
    }
    return std::move(out_);
  }

 private:
  std::string_view NameOf(size_t slice) const { return store_.Text(store_.slices.name[slice]); }
  TrackKind KindOfTrack(size_t slice) const {
    const auto track = static_cast<size_t>(store_.slices.track[slice]);
    return track < kinds_.size() ? kinds_[track] : TrackKind::kOther;
  }
  std::string TrackName(size_t slice) const {
    const auto track = static_cast<size_t>(store_.slices.track[slice]);
    return track < store_.tracks.size() ? std::string(store_.Text(store_.tracks.name[track])) : "";
  }
  void Add(Message wording, int64_t ns) {
    out_.items.push_back(MakeEvidence(std::move(wording), ns, wait_.end_ns - wait_.begin_ns));
  }

  // What the device did while somebody waited for it; the shares add up to 1.
  void AddDeviceTimes() {
    int64_t computing_ns = 0;
    int64_t communication_ns = 0;
    int64_t copies_ns = 0;
    for (const OverlapLanes& lanes : ComputeOverlapLanes(store_)) {
      computing_ns += Cover(lanes.computing).Within(wait_);
      communication_ns += Cover(lanes.not_overlapped).Within(wait_);
      copies_ns += Cover(lanes.memory).Within(wait_);
    }
    const int64_t rest_ns =
        wait_.end_ns - wait_.begin_ns - computing_ns - communication_ns - copies_ns;
    const std::pair<const char*, int64_t> parts[] = {{"sync.computing", computing_ns},
                                                     {"sync.communication", communication_ns},
                                                     {"sync.copies", copies_ns},
                                                     {"sync.idle", std::max<int64_t>(0, rest_ns)}};
    for (const auto& [key, ns] : parts) {
      if (ns > 0) Add(Message{key, {{"time", TimeText(ns)}}}, ns);
    }
    std::stable_sort(out_.items.begin(), out_.items.end(),
                     [](const Evidence& a, const Evidence& b) { return a.ns > b.ns; });
  }

  // The slice that ended the wait, and the verdict that names it.
  void Blame(const char* key, SliceId cause, int64_t ended_ns) {
    const auto row = static_cast<size_t>(cause);
    Evidence item =
        MakeEvidence(Message{key,
                             {{"name", std::string(NameOf(row))},
                              {"track", TrackName(row)},
                              {"gap", TimeText(std::max<int64_t>(0, wait_.end_ns - ended_ns))}}},
                     std::min(store_.slices.dur_ns[row], wait_.end_ns - wait_.begin_ns),
                     wait_.end_ns - wait_.begin_ns);
    item.slice = SliceRef{rank_index_, cause};
    out_.verdict = item.wording;
    out_.items.push_back(std::move(item));
  }
  void NotCaptured() {
    out_.verdict = Message{"sync.not_captured"};
    Add(out_.verdict, 0);
  }

  // Device work: kernels, copies and tasks, but nothing that itself only waits or marks.
  bool IsWork(size_t slice) const {
    const TrackKind kind = KindOfTrack(slice);
    if (kind != TrackKind::kDevice && kind != TrackKind::kCommGroup) return false;
    return WaitKindOf(NameOf(slice), TrackKind::kDevice) == WaitKind::kNone &&
           !IsEventRecord(NameOf(slice));
  }

  void ExplainHost() {
    LastEnding last(store_, wait_);
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      if (IsWork(i)) last.Look(i);
    }
    if (last.found() == store::kNoSlice) return NotCaptured();
    Blame("sync.last_work", last.found(), last.end_ns());
  }

  // The record of the event ends the wait; what its stream did before it is what was waited for.
  void ExplainEvent() {
    LastEnding record(store_, wait_);
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      if (IsElsewhere(i) && IsEventRecord(NameOf(i))) record.Look(i);
    }
    if (record.found() == store::kNoSlice) {
      LastEnding last(store_, wait_);
      for (size_t i = 0; i < store_.slices.size(); ++i) {
        if (IsElsewhere(i) && IsWork(i)) last.Look(i);
      }
      if (last.found() == store::kNoSlice) return NotCaptured();
      return Blame("sync.other_stream", last.found(), last.end_ns());
    }
    const auto recorder = static_cast<size_t>(record.found());
    LastEnding before(store_, {wait_.begin_ns, store_.slices.begin_ns[recorder]});
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      if (i != recorder && store_.slices.track[i] == store_.slices.track[recorder]) before.Look(i);
    }
    const bool has_task = before.found() != store::kNoSlice;
    Blame("sync.event", has_task ? before.found() : record.found(), record.end_ns());
  }
  bool IsElsewhere(size_t slice) const {
    return KindOfTrack(slice) == TrackKind::kDevice &&
           store_.slices.track[slice] != store_.slices.track[slice_];
  }

  // A task of a collective: the collective is explained.
  void ExplainNotify() {
    const int64_t middle_ns = wait_.begin_ns + (wait_.end_ns - wait_.begin_ns) / 2;
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      const int64_t begin_ns = store_.slices.begin_ns[i];
      if (begin_ns > middle_ns || EndNs(begin_ns, store_.slices.dur_ns[i]) < middle_ns) continue;
      if (KindOfTrack(i) != TrackKind::kCommGroup) continue;
      const Result<Explanation> call = ExplainWait(job_, rank_index_, static_cast<SliceId>(i));
      if (!call.ok()) continue;
      Add(Message{"sync.collective", {{"name", std::string(NameOf(i))}}},
          wait_.end_ns - wait_.begin_ns);
      out_.items.back().slice = SliceRef{rank_index_, static_cast<SliceId>(i)};
      out_.items.insert(out_.items.end(), call->items.begin(), call->items.end());
      out_.verdict = call->verdict;
      return;
    }
    NotCaptured();
  }

  // The other thread's work that ended last.
  void ExplainQueue() {
    LastEnding last(store_, wait_);
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      const bool is_host = KindOfTrack(i) == TrackKind::kHost || KindOfTrack(i) == TrackKind::kCann;
      if (!is_host || store_.slices.track[i] == store_.slices.track[slice_]) continue;
      if (WaitKindOf(NameOf(i), KindOfTrack(i)) == WaitKind::kNone) last.Look(i);
    }
    if (last.found() == store::kNoSlice) return NotCaptured();
    Blame("sync.producer", last.found(), last.end_ns());
  }

  const store::Job& job_;
  const uint32_t rank_index_;
  const TraceStore& store_;
  const size_t slice_;
  const std::vector<TrackKind> kinds_;
  const Interval wait_;
  Explanation out_;
};

}  // namespace

std::optional<Explanation> ExplainSynchronisation(const store::Job& job, uint32_t rank_index,
                                                  SliceId slice) {
  return SyncExplainer(job, rank_index, static_cast<size_t>(slice)).Explain();
}

}  // namespace steplens::analysis::viewer
