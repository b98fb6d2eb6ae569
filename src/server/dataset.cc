#include "server/dataset.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "analysis/complete/complete.h"
#include "analysis/viewer/page_data.h"
#include "base/cancel.h"
#include "base/json_writer.h"
#include "readers/open.h"
#include "server/store_view.h"

namespace steplens::server {
namespace {

// Builds the index of the pool now: looking a text up builds it, which is not for many threads.
void PrepareStrings(const store::TraceStore& store) {
  [[maybe_unused]] const auto found = store.strings.Find("");
}

uint64_t FileBytes(const readers::RankSource& source) {
  uint64_t total = 0;
  for (const readers::SourceFile& file : source.files) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(file.path, ignored);
    if (!ignored) total += size;
  }
  return total;
}

bool IsLoneTrace(const readers::RankSource& source) {
  return source.source.empty() || source.source == "kineto";
}

// Whether the number that detection found is the one the rank has when it is read. A lone trace may
// say another one inside.
bool IsNumberSure(const readers::RankSource& source) {
  return source.rank >= 0 && !IsLoneTrace(source);
}

}  // namespace

Dataset::Dataset(std::string id, std::vector<std::string> paths, EventHub& events, bool use_cache,
                 RankNumbers numbers)
    : id_(std::move(id)),
      paths_(std::move(paths)),
      events_(events),
      use_cache_(use_cache),
      numbers_(std::move(numbers)),
      started_(std::chrono::steady_clock::now()) {
  alignments_[0] = {};
  loader_ = std::jthread([this] { Load(); });
}

Dataset::Dataset(std::string id, store::Job job, EventHub& events)
    : id_(std::move(id)),
      events_(events),
      use_cache_(false),
      started_(std::chrono::steady_clock::now()) {
  alignments_[0] = {};
  slots_.resize(job.ranks.size());
  expected_ = slots_.size();
  ignored_ = std::move(job.ignored);
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].store = std::make_unique<store::TraceStore>(std::move(job.ranks[i]));
    Show(i);
  }
  detection_ = Status();
  Finish();
}

Dataset::~Dataset() {
  StopReading();
  if (loader_.joinable()) loader_.join();
}

bool Dataset::WaitReady(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(ready_mutex_);
  return ready_changed_.wait_for(lock, timeout, [&] { return is_ready(); });
}

std::optional<Status> Dataset::WaitDetected(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(ready_mutex_);
  ready_changed_.wait_for(lock, timeout, [&] { return detection_.has_value(); });
  return detection_;
}

void Dataset::Load() {
  Result<readers::Detected> detected = readers::DetectRanks(paths_);
  {
    const std::lock_guard lock(ready_mutex_);
    detection_ = detected.ok() ? Status() : Status(detected.error());
    ready_changed_.notify_all();
  }
  {
    const std::unique_lock lock(shown_mutex_);
    if (!detected.ok()) {
      failure_ = detected.error().message;
    } else {
      ignored_ = std::move(detected->ignored);
      expected_ = detected->ranks.size();
      for (const readers::RankSource& rank : detected->ranks) {
        if (rank.rank >= 0) found_ranks_.insert(rank.rank);
      }
    }
  }
  if (detected.ok()) {
    slots_.resize(detected->ranks.size());
    std::vector<ReadQueue::Found> found;
    for (size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].source = std::move(detected->ranks[i]);
      const auto given = numbers_.find(slots_[i].source.path);
      found.push_back(given != numbers_.end() ? ReadQueue::Found{given->second, true}
                                              : ReadQueue::Found{slots_[i].source.rank,
                                                                 IsNumberSure(slots_[i].source)});
    }
    queue_.Start(std::move(found));
    pool_.ParallelFor(slots_.size(), [&](size_t) { ReadRank(queue_.Take()); });
    NumberTheRest();
  }
  Finish();
}

Result<store::TraceStore> Dataset::OpenSlot(const Slot& slot, readers::SaveRank& save) {
  const Error stopped{ErrorCode::kCancelled, "not read: reading was stopped"};
  if (stopped_.load()) return stopped;
  // A rank that is being read is given up, too.
  const CancelScope until_stopped([this] { return stopped_.load(); });
  readers::OpenOptions options;
  options.use_cache = use_cache_;
  options.complete = analysis::CompleteCapture;
  options.save_later = &save;
  Result<store::TraceStore> opened = readers::OpenRank(slot.source, pool_, options);
  if (!opened.ok() && stopped_.load()) return stopped;
  return opened;
}

void Dataset::ReadRank(size_t index) {
  if (IsCancelled()) return;
  readers::SaveRank save;
  const auto begun = std::chrono::steady_clock::now();
  Result<store::TraceStore> opened = OpenSlot(slots_[index], save);
  const auto passed = std::chrono::steady_clock::now() - begun;
  {
    const std::lock_guard lock(loading_mutex_);
    if (opened.ok()) {
      slots_[index].store = std::make_unique<store::TraceStore>(std::move(*opened));
      slots_[index].save = std::move(save);
      slots_[index].read_ns = std::chrono::nanoseconds(passed).count();
      slots_[index].is_from_cache = use_cache_ && !slots_[index].save;
      const auto given = numbers_.find(slots_[index].source.path);
      // What goes to the cache is what was read, without the number it is given here.
      if (slots_[index].save && (slots_[index].store->info.rank < 0 || given != numbers_.end())) {
        auto as_read = std::make_shared<store::TraceStore>(ViewOf(*slots_[index].store));
        slots_[index].save = [write = std::move(slots_[index].save),
                              as_read](const store::TraceStore&) { write(*as_read); };
      }
      if (given != numbers_.end()) slots_[index].store->info.rank = given->second;
    } else {
      slots_[index].error = opened.error().message;
      Log("error", slots_[index].source.path + ": " + opened.error().message);
    }
  }
  read_count_.fetch_add(1);
  read_bytes_.fetch_add(FileBytes(slots_[index].source));
  const std::vector<size_t> ready = TakeNumbered(index);
  for (const size_t rank : ready) Show(rank);
  // The moment a rank can be seen comes first, then what its first picture needs, then the cache.
  for (const size_t rank : ready) PrepareSummaries(slots_[rank].store->info.rank);
  for (const size_t rank : ready) {
    if (slots_[rank].save && !IsCancelled()) slots_[rank].save(*slots_[rank].store);
  }
}

// Those that can be shown now. Ranks without a number of their own wait for the end.
std::vector<size_t> Dataset::TakeNumbered(size_t just_read) {
  const std::lock_guard lock(loading_mutex_);
  std::optional<int64_t> rank;
  if (slots_[just_read].store) rank = std::max<int64_t>(slots_[just_read].store->info.rank, -1);
  std::vector<size_t> out;
  for (const ReadQueue::Numbered& numbered : queue_.Done(just_read, rank)) {
    Slot& slot = slots_[numbered.index];
    store::TraceStore& store = *slot.store;
    switch (numbered.number) {
      case ReadQueue::Number::kOwn:
        out.push_back(numbered.index);
        continue;
      case ReadQueue::Number::kUnknown:
        store.issues.Add(store::IssueKind::kRankUnknown, store.info.path);
        break;
      case ReadQueue::Number::kTaken:
        store.issues.Add(store::IssueKind::kDuplicateRank,
                         store.info.path + ": rank " + std::to_string(store.info.rank));
        slot.save = nullptr;  // it will not stay what was read
        break;
    }
    // The folder of a process that trains alone has no number: nothing is guessed then.
    slot.is_number_ours = slots_.size() > 1 || IsLoneTrace(slot.source);
    waiting_for_number_.push_back(numbered.index);
  }
  return out;
}

void Dataset::NumberTheRest() {
  const std::vector<size_t>& waiting = waiting_for_number_;
  for (const size_t index : waiting) slots_[index].store->info.rank = queue_.TakeFreeNumber();
  pool_.ParallelFor(waiting.size(), [&](size_t i) { Show(waiting[i]); });
  for (const size_t index : waiting) PrepareSummaries(slots_[index].store->info.rank);
  // Ranks are shown before they are saved.
  pool_.ParallelFor(waiting.size(), [&](size_t i) {
    const Slot& slot = slots_[waiting[i]];
    if (slot.save && !IsCancelled()) slot.save(*slot.store);
  });
}

void Dataset::Show(size_t index) {
  if (IsCancelled()) return;
  store::TraceStore& store = *slots_[index].store;
  PrepareStrings(store);
  auto shown = std::make_unique<ShownRank>();
  shown->rank = store.info.rank;
  shown->store = &store;
  shown->timeline = RankTimeline::Build(store, pool_);
  shown->read_ns = slots_[index].read_ns;
  shown->is_from_cache = slots_[index].is_from_cache;
  shown->is_number_ours = slots_[index].is_number_ours;
  shown->has_passes = analysis::viewer::HasPasses(store);
  shown->has_rl_tasks = analysis::viewer::HasRlTasks(store);
  Publish(std::move(shown));
}

// A tile that comes first waits for the summary it shows, not for all of them.
void Dataset::PrepareSummaries(int64_t rank) {
  std::vector<const Lane*> lanes;
  {
    const std::shared_lock lock(shown_mutex_);
    for (const auto& shown : ranks_) {
      if (shown->rank != rank) continue;
      for (const auto& lane : shown->timeline->lanes()) lanes.push_back(lane.get());
    }
  }
  pool_.ParallelFor(lanes.size(), [&](size_t i) {
    if (!IsCancelled()) lanes[i]->summary.Prepare();
  });
}

void Dataset::Publish(std::unique_ptr<ShownRank> shown) {
  const int64_t rank = shown->rank;
  {
    const std::unique_lock lock(shown_mutex_);
    const auto first_id = static_cast<uint32_t>(lanes_.size());
    shown->timeline->AssignNames(*shown->store, names_);
    for (const auto& lane : shown->timeline->lanes()) {
      lane->id += first_id;
      if (lane->parent != 0) lane->parent += first_id;
      lane->rank_slot = ranks_.size();
      lanes_.push_back(lane.get());
    }
    ranks_.push_back(std::move(shown));
    Realign();
  }
  ReportProgress("read", rank);
  Announce("ranks");
}

// Ranks whose times overlap belong together; each such group begins at time 0, so that captures of
// different days lie beside each other. Offsets of other alignments are kept for ranks they know.
void Dataset::Realign() {
  struct Span {
    size_t slot;
    store::Extent extent;
  };
  std::vector<Span> spans;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const store::Extent extent = ranks_[i]->timeline->extent();
    if (extent.end_ns > extent.begin_ns) spans.push_back({i, extent});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.extent.begin_ns < b.extent.begin_ns; });
  std::vector<int64_t> offset_ns(ranks_.size(), 0);
  const int64_t origin_ns = spans.empty() ? 0 : spans.front().extent.begin_ns;
  int64_t group_begin_ns = origin_ns;
  int64_t group_end_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = 0;
  std::optional<store::Extent> shown_work;
  for (const Span& span : spans) {
    if (group_end_ns != std::numeric_limits<int64_t>::min() && span.extent.begin_ns > group_end_ns)
      group_begin_ns = span.extent.begin_ns;
    group_end_ns = std::max(group_end_ns, span.extent.end_ns);
    offset_ns[span.slot] = SubtractSaturating(group_begin_ns, origin_ns);
    end_ns = std::max(end_ns, SubtractSaturating(span.extent.end_ns, group_begin_ns));
    const store::Extent work = ranks_[span.slot]->timeline->work();
    if (work.end_ns <= work.begin_ns) continue;
    const store::Extent shown{SubtractSaturating(work.begin_ns, group_begin_ns),
                              SubtractSaturating(work.end_ns, group_begin_ns)};
    if (!shown_work) shown_work = shown;
    shown_work->begin_ns = std::min(shown_work->begin_ns, shown.begin_ns);
    shown_work->end_ns = std::max(shown_work->end_ns, shown.end_ns);
  }
  const std::lock_guard lock(alignments_mutex_);
  std::vector<int64_t> before = alignments_[0].offset_ns;
  const bool moved =
      origin_ns != origin_ns_ || !std::equal(before.begin(), before.end(), offset_ns.begin());
  origin_ns_ = origin_ns;
  end_ns_ = end_ns;
  work_ = shown_work.value_or(store::Extent{0, end_ns});
  alignments_[0].offset_ns = std::move(offset_ns);
  for (auto& [id, alignment] : alignments_) alignment.offset_ns.resize(ranks_.size(), 0);
  if (moved && !before.empty()) ++generation_;
}

void Dataset::Finish() {
  {
    const std::unique_lock lock(shown_mutex_);
    for (const Slot& slot : slots_) {
      if (!slot.store && !slot.error.empty())
        ignored_.push_back({slot.source.path, 0, false, slot.error});
    }
    // The stores move to where analyses expect them: by rank, one behind the other.
    std::vector<ShownRank*> ordered;
    for (const auto& rank : ranks_) ordered.push_back(rank.get());
    std::sort(ordered.begin(), ordered.end(),
              [](const ShownRank* a, const ShownRank* b) { return a->rank < b->rank; });
    job_.ranks.reserve(ordered.size());
    for (ShownRank* rank : ordered) {
      job_.ranks.push_back(std::move(*rank->store));
      rank->store = &job_.ranks.back();
    }
    job_.ignored = ignored_;
    if (ranks_.empty() && failure_.empty()) {
      failure_ = IsCancelled()      ? "interrupted"
                 : ignored_.empty() ? "nothing here can be read"
                                    : ignored_.back().note;
    }
    slots_.clear();
    ready_.store(true, std::memory_order_release);
  }
  {
    const std::lock_guard lock(ready_mutex_);
    ready_changed_.notify_all();
  }
  ReportProgress("done", store::kNone);
  Announce("done");
}

void Dataset::Announce(std::string_view what) const {
  JsonWriter json;
  json.BeginObject().Key("ds").String(id_).Key("what").String(what).EndObject();
  events_.Publish("changed", json.text());
}

void Dataset::Log(std::string_view level, std::string_view text) const {
  JsonWriter json;
  json.BeginObject().Key("ds").String(id_).Key("level").String(level);
  json.Key("text").String(text).EndObject();
  events_.Publish("log", json.text());
}

void Dataset::ReportProgress(std::string_view phase, int64_t rank) const {
  const size_t done = read_count_.load();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started_;
  size_t total = 0;
  {
    const std::shared_lock lock(shown_mutex_);
    total = expected_;
  }
  JsonWriter json;
  // Reading a data set is one job, which goes by the same name.
  json.BeginObject().Key("job").String(id_).Key("ds").String(id_);
  json.Key("phase").String(phase).Key("rank");
  if (rank == store::kNone) {
    json.Null();
  } else {
    json.Int(rank);
  }
  json.Key("done").Int(static_cast<int64_t>(done));
  json.Key("total").Int(static_cast<int64_t>(total));
  const double eta =
      done == 0 || done >= total
          ? 0
          : passed.count() * static_cast<double>(total - done) / static_cast<double>(done);
  json.Key("eta_s").Double(std::round(eta * 10) / 10);
  const double mb = static_cast<double>(read_bytes_.load()) / (1 << 20);
  json.Key("mb_per_s").Double(std::round(mb / std::max(1e-3, passed.count()) * 10) / 10);
  json.EndObject();
  events_.Publish("progress", json.text());
}

}  // namespace steplens::server
