#include <algorithm>
#include <string_view>

#include "analysis/classify/classify.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/explain_common.h"
#include "analysis/explain/sync_args.h"
#include "analysis/overlap/cover.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/time_math.h"

// A slice that waits is explained by what ends it.

namespace steplens::analysis {
namespace {

using store::SliceId;
using store::TraceStore;

// The slice on the wanted tracks that was under way during the wait and ended last, by its end or
// shortly after: what a wait ends with may be recorded a little later than the wait itself.
class LastEnding {
 public:
  LastEnding(const TraceStore& store, Interval wait) : store_(store), wait_(wait) {}

  // `is_wanted` looks at names, so it is asked last and seldom.
  template <typename IsWanted>
  void LookAtAll(const IsWanted& is_wanted) {
    for (size_t slice = 0; slice < store_.slices.size(); ++slice) {
      if (EndsBetter(slice) && is_wanted(slice)) Take(slice);
    }
  }
  SliceId found() const { return found_; }
  int64_t end_ns() const { return end_ns_; }

 private:
  size_t Row() const { return static_cast<size_t>(found_); }
  bool EndsBetter(size_t slice) const {
    constexpr int64_t kClockNs = 1000;  // host and device clocks are compared to a microsecond
    const int64_t begin_ns = store_.slices.begin_ns[slice];
    const int64_t end_ns = EndNs(begin_ns, store_.slices.dur_ns[slice]);
    if (end_ns <= wait_.begin_ns || end_ns > AddNs(wait_.end_ns, kClockNs)) return false;
    // Of slices that end together the inner one did the work.
    return found_ == store::kNoSlice ||
           std::pair(end_ns, begin_ns) > std::pair(end_ns_, store_.slices.begin_ns[Row()]);
  }
  void Take(size_t slice) {
    found_ = static_cast<SliceId>(slice);
    end_ns_ = EndNs(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice]);
  }

  const TraceStore& store_;
  Interval wait_;
  SliceId found_ = store::kNoSlice;
  int64_t end_ns_ = 0;
};

class SyncExplainer {
 public:
  SyncExplainer(const store::Job& job, uint32_t rank_index, size_t slice, const RankView& facts,
                const ArgsReader& read_args)
      : job_(job),
        rank_index_(rank_index),
        store_(job.ranks[rank_index]),
        slice_(slice),
        facts_(facts),
        read_args_(read_args),
        kinds_(facts.tracks()),
        wait_{store_.slices.begin_ns[slice],
              EndNs(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice])} {}

  std::optional<Explanation> Explain() {
    const WaitKind kind = WaitOf(slice_);
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
  store::SliceKind CategoryOf(size_t slice) const {
    return facts_.slice_kinds()[store_.slices.category[slice]];
  }
  WaitKind WaitOf(size_t slice) const {
    return WaitKindOf(NameOf(slice), KindOfTrack(slice), CategoryOf(slice));
  }
  std::string TrackName(size_t slice) const {
    const auto track = static_cast<size_t>(store_.slices.track[slice]);
    if (track >= store_.tracks.size()) return "";
    const std::string_view name = store_.Text(store_.tracks.name[track]);
    return std::string(name.empty() ? store_.Text(store_.tracks.tid[track]) : name);
  }
  void Add(Message wording, int64_t ns) {
    out_.items.push_back(MakeEvidence(std::move(wording), ns, wait_.end_ns - wait_.begin_ns));
  }

  // What the device did while somebody waited for it; the shares add up to 1.
  void AddDeviceTimes() {
    int64_t computing_ns = 0;
    int64_t communication_ns = 0;
    int64_t copies_ns = 0;
    for (const OverlapLanes& lanes : facts_.overlap()) {
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

  // Device work: kernels, copies and tasks, but nothing that itself only waits, marks or annotates.
  bool IsWork(size_t slice) const {
    const TrackKind kind = KindOfTrack(slice);
    if (kind != TrackKind::kDevice && kind != TrackKind::kCommGroup) return false;
    const store::SliceKind category = CategoryOf(slice);
    return category != store::SliceKind::kDeviceAnnotation &&
           WaitKindOf(NameOf(slice), TrackKind::kDevice, category) == WaitKind::kNone &&
           !IsEventRecord(NameOf(slice));
  }

  void ExplainHost() {
    const std::optional<SyncArgs> args =
        ReadSyncArgs(facts_, static_cast<SliceId>(slice_), read_args_);
    if (args && ExplainRecord(*args)) return;
    LastEnding last(store_, wait_);
    last.LookAtAll([&](size_t i) {
      if (args && args->stream != store::kNone)
        return IsWork(i) && IsOnStream(store_, i, args->stream);
      const bool is_anywhere = args || KindOfTrack(slice_) != TrackKind::kDevice;
      return IsWork(i) && (is_anywhere || store_.slices.track[i] == store_.slices.track[slice_]);
    });
    if (last.found() == store::kNoSlice) return NotCaptured();
    Blame("sync.last_work", last.found(), last.end_ns());
  }

  // An event that the trace itself leads to. False if it does not.
  bool ExplainRecord(const SyncArgs& args) {
    const SliceId task = TaskBeforeRecord(facts_, args);
    if (task == store::kNoSlice) return false;
    const auto row = static_cast<size_t>(task);
    const int64_t end_ns = EndNs(store_.slices.begin_ns[row], store_.slices.dur_ns[row]);
    Blame(end_ns <= wait_.begin_ns ? "sync.had_ended" : "sync.event", task, end_ns);
    return true;
  }

  // The record of the event ends the wait; what its stream did before it is what was waited for. If
  // that is a wait again, the one that it waited for.
  void ExplainEvent() {
    const std::optional<SyncArgs> args =
        ReadSyncArgs(facts_, static_cast<SliceId>(slice_), read_args_);
    if (args && ExplainRecord(*args)) return;
    size_t waiting = slice_;
    std::optional<EventEnd> end = EndOfEvent(waiting);
    if (!end) {
      if (!BlameWorkElsewhere(waiting)) NotCaptured();
      return;
    }
    const int64_t ended_ns = end->end_ns;
    constexpr int kMostHops = 8;
    for (int hop = 0; hop < kMostHops && IsEventWait(end->task); ++hop) {
      waiting = static_cast<size_t>(end->task);
      const std::optional<EventEnd> next = EndOfEvent(waiting);
      if (!next && BlameWorkElsewhere(waiting)) return;
      if (!next) break;
      end = next;
    }
    Blame("sync.event", end->task, ended_ns);
  }

  Interval TimesOf(size_t slice) const {
    return {store_.slices.begin_ns[slice],
            EndNs(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice])};
  }

  // Without the record: the work on another stream, or the collective, that ended last meanwhile.
  bool BlameWorkElsewhere(size_t waiting) {
    LastEnding last(store_, TimesOf(waiting));
    last.LookAtAll([&](size_t i) {
      return store_.slices.track[i] != store_.slices.track[waiting] && IsWork(i);
    });
    if (last.found() == store::kNoSlice) return false;
    Blame("sync.other_stream", last.found(), last.end_ns());
    return true;
  }

  // What ended a wait for an event: its record, and the task of the record's stream before it.
  struct EventEnd {
    SliceId task = store::kNoSlice;  // the record itself where nothing came before it
    int64_t end_ns = 0;              // of the record
  };
  std::optional<EventEnd> EndOfEvent(size_t waiting) const {
    const Interval wait = TimesOf(waiting);
    LastEnding record(store_, wait);
    record.LookAtAll([&](size_t i) { return IsElsewhere(i, waiting) && IsEventRecord(NameOf(i)); });
    if (record.found() == store::kNoSlice) return std::nullopt;
    const auto recorder = static_cast<size_t>(record.found());
    LastEnding before(store_, {wait.begin_ns, store_.slices.begin_ns[recorder]});
    before.LookAtAll([&](size_t i) {
      return i != recorder && store_.slices.track[i] == store_.slices.track[recorder];
    });
    return EventEnd{before.found() == store::kNoSlice ? record.found() : before.found(),
                    record.end_ns()};
  }
  bool IsEventWait(SliceId slice) const {
    const auto row = static_cast<size_t>(slice);
    return WaitOf(row) == WaitKind::kEvent;
  }
  bool IsElsewhere(size_t slice, size_t waiting) const {
    return KindOfTrack(slice) == TrackKind::kDevice &&
           store_.slices.track[slice] != store_.slices.track[waiting];
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
    last.LookAtAll([&](size_t i) {
      const TrackKind kind = KindOfTrack(i);
      const bool is_host = kind == TrackKind::kHost || kind == TrackKind::kCann;
      return is_host && store_.slices.track[i] != store_.slices.track[slice_] &&
             WaitOf(i) == WaitKind::kNone;
    });
    if (last.found() == store::kNoSlice) return NotCaptured();
    Blame("sync.producer", last.found(), last.end_ns());
  }

  const store::Job& job_;
  const uint32_t rank_index_;
  const TraceStore& store_;
  const size_t slice_;
  const RankView& facts_;
  const ArgsReader& read_args_;
  const std::vector<TrackKind>& kinds_;
  const Interval wait_;
  Explanation out_;
};

}  // namespace

std::optional<Explanation> ExplainSynchronisation(const store::Job& job, uint32_t rank_index,
                                                  SliceId slice, const RankView& facts,
                                                  const ArgsReader& read_args) {
  return SyncExplainer(job, rank_index, static_cast<size_t>(slice), facts, read_args).Explain();
}

}  // namespace steplens::analysis
