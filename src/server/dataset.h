#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "open/open.h"
#include "server/events.h"
#include "server/names.h"
#include "server/read_queue.h"
#include "server/timeline/query_lane.h"
#include "server/timeline/rank_timeline.h"
#include "server/timeline/shades.h"
#include "store/trace_store.h"

namespace steplens::server {

// A rank that can be looked at.
struct ShownRank {
  explicit ShownRank(store::TraceStore& of) : rank(of.info.rank), store(&of), facts(of) {}

  int64_t rank = 0;
  store::TraceStore* store = nullptr;  // filled; changed by nobody
  analysis::RankView facts;            // of the store, kept from request to request
  std::unique_ptr<RankTimeline> timeline;
  RankShades shades;
  int64_t read_ns = 0;  // how long reading it took
  bool is_from_cache = false;
  bool is_number_ours = false;  // the capture does not say which rank it is
  bool has_passes = false;      // what the Pipeline and RL pages would show
  bool has_pipeline = false;
  bool has_rl_tasks = false;
};

using opening::RankNumbers;

// Where time 0 of each rank lies, as a set of offsets: shown time = time - origin - offset.
struct Alignment {
  std::vector<int64_t> offset_ns;  // by slot of the rank
};

// The paths a user opened, read in the background rank by rank. A rank can be looked at as soon as
// it is read; numbers and order do not depend on which is read first.
//
// Threads: reading runs on threads of its own; any number of threads may look through a View. What
// is shown is immutable; a View holds off only the moment in which a rank is added.
class Dataset {
 public:
  // `id` names it in requests. Starts reading at once; `events` must outlive it.
  Dataset(std::string id, std::vector<std::string> paths, EventHub& events, bool use_cache = true,
          RankNumbers numbers = {});
  // From a job that is in memory already.
  Dataset(std::string id, store::Job job, EventHub& events);
  ~Dataset();  // stops reading
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const std::string& id() const { return id_; }
  const std::vector<std::string>& paths() const { return paths_; }
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }
  // Waits until all ranks are read; false if that takes longer.
  bool WaitReady(std::chrono::milliseconds timeout) const;
  // What looking for ranks came to, before any is read; nothing if that takes longer.
  std::optional<Status> WaitDetected(std::chrono::milliseconds timeout) const;
  // Reads these ranks before others that are not being read yet. The last call counts.
  void Focus(std::vector<int64_t> ranks) { queue_.Focus(std::move(ranks)); }
  // Ranks that are not read yet are left out, also those that are being read; the data set is ready
  // without them.
  void StopReading() { stopped_.store(true); }
  const RankNumbers& numbers() const { return numbers_; }
  ThreadPool& pool() const { return pool_; }

  // What can be seen now. Hold it for one request, not longer.
  class View {
   public:
    explicit View(const Dataset& dataset) : lock_(dataset.shown_mutex_), d_(dataset) {}

    const Dataset& dataset() const { return d_; }
    const std::vector<std::unique_ptr<ShownRank>>& ranks() const { return d_.ranks_; }  // by slot
    std::vector<size_t> SlotsByRank() const;
    std::optional<size_t> SlotOf(int64_t rank) const;
    const NamePool& names() const { return d_.names_; }
    const Lane* FindLane(int64_t id) const;  // null if there is none
    const ShownRank& RankOf(const Lane& lane) const { return *d_.ranks_[lane.rank_slot]; }
    size_t lane_count() const { return d_.lanes_.size(); }  // without merged ones and queries
    // One lane of several, found by its id from now on. The same lanes give the same lane. An error
    // if they cannot be shown as one, or if too many were merged.
    Result<const Lane*> Merge(std::vector<const Lane*> lanes) const;
    // Lanes of what a query found, each found by its id from now on; once all ranks are read. The
    // same key gives the same lanes without a look at `result`. An error if a row names no rank, or
    // if too many were made.
    Result<std::vector<const Lane*>> KeepQueryLanes(const std::string& key, std::string_view title,
                                                    const table::Table& result) const;
    // Those kept under the key; none if there are none.
    std::vector<const Lane*> QueryLanes(const std::string& key) const;

    int64_t origin_ns() const { return d_.origin_ns_; }
    int64_t end_ns() const { return d_.end_ns_; }    // shown time of the last end
    store::Extent work() const { return d_.work_; }  // shown times of the first and last slice
    uint32_t generation() const { return d_.generation_; }
    const std::vector<store::InputFile>& ignored() const { return d_.ignored_; }
    const std::string& failure() const { return d_.failure_; }
    size_t expected_ranks() const { return d_.expected_; }
    // Numbers of ranks that were found and are not shown yet, as far as they are known.
    std::vector<int64_t> PendingRanks() const;
    // All ranks, in order; null until all are read.
    const store::Job* job() const { return d_.is_ready() ? &d_.job_ : nullptr; }

    // Time on the rank's clock that is shown as 0. Nothing if there is no such alignment.
    std::optional<int64_t> BaseNs(size_t slot, uint32_t align) const;
    // Keeps a set of offsets and returns the number that requests name it by. The last 64 are kept.
    Result<uint32_t> KeepAlignment(std::vector<int64_t> offset_ns) const;

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const Dataset& d_;
  };

 private:
  struct Slot {
    opening::Capture capture;
    std::unique_ptr<store::TraceStore> store;
    std::string error;
    int64_t read_ns = 0;
    bool is_from_cache = false;
    bool is_shown = false;  // then others look at the store
  };

  void Load();
  void ReadAll();
  void SetFailure(const Error& error);
  Result<store::TraceStore> OpenSlot(const Slot& slot, opening::SaveRank& save);
  void ReadRank(size_t index);
  void ReadAndShow(Slot& slot, size_t index);
  bool IsNumberOurs(const Slot& slot) const;
  void Show(size_t index);
  void PrepareSummaries(int64_t rank);
  void Finish();
  // What a first click needs that takes long to find, once everything is shown.
  void PrepareClicks() const;
  void Publish(std::unique_ptr<ShownRank> shown);
  void Add(std::unique_ptr<ShownRank> shown);
  void Realign();
  void Announce(std::string_view what) const;
  void Log(std::string_view level, std::string_view text) const;
  void ReportProgress(std::string_view phase, int64_t rank) const;

  const std::string id_;
  const std::vector<std::string> paths_;
  EventHub& events_;
  store::StoreCache cache_;
  const RankNumbers numbers_;
  mutable ThreadPool pool_;
  std::chrono::steady_clock::time_point started_;

  std::vector<Slot> slots_;  // each filled by the thread that reads it
  ReadQueue queue_;
  std::atomic<size_t> read_count_{0};
  std::atomic<uint64_t> read_bytes_{0};
  std::atomic<bool> stopped_{false};

  mutable std::shared_mutex shown_mutex_;  // guards everything below
  std::vector<std::unique_ptr<ShownRank>> ranks_;
  std::vector<const Lane*> lanes_;  // by id - 1
  NamePool names_;
  store::Job job_;
  std::vector<store::InputFile> ignored_;
  std::string failure_;
  size_t expected_ = 0;
  std::set<int64_t> found_ranks_;
  int64_t origin_ns_ = 0;
  int64_t end_ns_ = 0;
  store::Extent work_;
  uint32_t generation_ = 0;

  mutable std::mutex merged_mutex_;
  mutable std::vector<std::unique_ptr<Lane>> merged_;            // by id, from kFirstMergedId
  mutable uint64_t merged_slices_ = 0;                           // of query lanes as well
  mutable std::vector<std::unique_ptr<QueryLane>> query_lanes_;  // by id, from kFirstQueryId
  mutable std::map<std::string, std::vector<const Lane*>> lanes_of_query_;

  mutable std::mutex alignments_mutex_;
  mutable std::map<uint32_t, Alignment> alignments_;  // 0 is the default
  mutable uint32_t next_alignment_ = 1;

  std::atomic<bool> ready_{false};
  mutable std::mutex ready_mutex_;  // guards detection_
  std::optional<Status> detection_;
  mutable std::condition_variable ready_changed_;
  std::jthread loader_;
};

}  // namespace steplens::server
