#include "server/dataset.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <new>
#include <utility>

#include "analysis/viewer/page_data.h"
#include "base/cancel.h"
#include "base/json_writer.h"
#include "base/memory_limit.h"

namespace steplens::server {
namespace {

// Builds the index of the pool now: looking a text up builds it, which is not for many threads.
void PrepareStrings(const store::TraceStore& store) {
  [[maybe_unused]] const auto found = store.strings.Find("");
}

// Ranks with fewer slices answer a first click fast enough.
constexpr size_t kLargeRank = 300'000;
// Facts cost about 8 bytes a slice, so those of a job with many large ranks wait for their click.
constexpr size_t kPreparedSlices = 20'000'000;

// What the first click on a slice needs.
void PrepareClick(const analysis::RankView& facts) {
  static_cast<void>(facts.kernel_slices());
  static_cast<void>(facts.kernel_names());
  static_cast<void>(facts.slice_names());
  static_cast<void>(facts.communication());
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

}  // namespace

Dataset::Dataset(std::string id, std::vector<std::string> paths, EventHub& events, bool use_cache,
                 RankNumbers numbers)
    : id_(std::move(id)),
      paths_(std::move(paths)),
      events_(events),
      cache_(use_cache ? store::CacheDirectory() : ""),
      numbers_(std::move(numbers)),
      started_(std::chrono::steady_clock::now()) {
  alignments_[0] = {};
  loader_ = std::jthread([this] { Load(); });
}

Dataset::Dataset(std::string id, store::Job job, EventHub& events)
    : id_(std::move(id)), events_(events), cache_(""), started_(std::chrono::steady_clock::now()) {
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

// Memory that runs out before there are ranks costs the data set.
void Dataset::Load() {
  try {
    ReadAll();
  } catch (const std::exception& failure) {
    if (!IsOutOfMemory(failure)) throw;
    SetFailure(OutOfMemory());
  }
  Finish();
  PrepareClicks();
}

void Dataset::SetFailure(const Error& error) {
  {
    const std::unique_lock lock(shown_mutex_);
    failure_ = error.message;
  }
  const std::lock_guard lock(ready_mutex_);
  if (!detection_) detection_ = error;
  ready_changed_.notify_all();
}

void Dataset::ReadAll() {
  Result<opening::Captures> found = opening::FindCaptures(paths_, numbers_);
  {
    const std::lock_guard lock(ready_mutex_);
    detection_ = found.ok() ? Status() : Status(found.error());
    ready_changed_.notify_all();
  }
  {
    const std::unique_lock lock(shown_mutex_);
    if (!found.ok()) {
      failure_ = found.error().message;
    } else {
      ignored_ = std::move(found->ignored);
      expected_ = found->ranks.size();
      for (const opening::Capture& capture : found->ranks) found_ranks_.insert(capture.rank);
    }
  }
  if (found.ok()) {
    for (const std::string& note : found->notes) Log("warning", note);
    slots_.resize(found->ranks.size());
    std::vector<int64_t> ranks;
    for (size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].capture = std::move(found->ranks[i]);
      ranks.push_back(slots_[i].capture.rank);
    }
    queue_.Start(std::move(ranks));
    pool_.ParallelFor(slots_.size(), [&](size_t) { ReadRank(queue_.Take()); });
  }
}

void Dataset::PrepareClicks() const {
  std::vector<const ShownRank*> large;
  for (const auto& rank : ranks_) {
    if (rank->store->slices.size() >= kLargeRank) large.push_back(rank.get());
  }
  size_t slices = 0;
  std::erase_if(large, [&](const ShownRank* rank) {
    return (slices += rank->store->slices.size()) > kPreparedSlices && rank != large.front();
  });
  pool_.ParallelFor(large.size(), [&](size_t i) {
    try {
      if (!IsCancelled()) PrepareClick(large[i]->facts);
    } catch (const std::bad_alloc&) {  // then the click is told
    }
  });
}

Result<store::TraceStore> Dataset::OpenSlot(const Slot& slot, opening::SaveRank& save) {
  const Error stopped{ErrorCode::kCancelled, "not read: reading was stopped"};
  if (stopped_.load()) return stopped;
  // Also cancels a rank that is being read.
  const CancelScope until_stopped([this] { return stopped_.load(); });
  opening::OpenOptions options;
  options.cache = &cache_;
  options.save_later = &save;
  Result<store::TraceStore> opened = opening::OpenRank(slot.capture, pool_, options);
  if (!opened.ok() && stopped_.load()) return stopped;
  return opened;
}

// Memory that runs out costs the rank that needed it.
void Dataset::ReadRank(size_t index) {
  Slot& slot = slots_[index];
  try {
    ReadAndShow(slot, index);
  } catch (const std::exception& failure) {
    if (!IsOutOfMemory(failure)) throw;
    if (slot.is_shown) return;  // without its cache file, and a first tile that takes longer
    slot.store.reset();
    slot.error = OutOfMemory().message;
    Log("error", slot.capture.source.path + ": " + slot.error);
  }
}

void Dataset::ReadAndShow(Slot& slot, size_t index) {
  if (IsCancelled()) return;
  opening::SaveRank save;
  const auto begun = std::chrono::steady_clock::now();
  Result<store::TraceStore> opened = OpenSlot(slot, save);
  const auto passed = std::chrono::steady_clock::now() - begun;
  read_count_.fetch_add(1);
  read_bytes_.fetch_add(FileBytes(slot.capture.source));
  if (!opened.ok()) {
    slot.error = opened.error().message;
    Log("error", slot.capture.source.path + ": " + slot.error);
    return;
  }
  slot.store = std::make_unique<store::TraceStore>(std::move(*opened));
  slot.read_ns = std::chrono::nanoseconds(passed).count();
  slot.is_from_cache = cache_.has_directory() && !save;
  // The moment a rank can be seen comes first, then what its first picture needs, then the cache.
  Show(index);
  PrepareSummaries(slot.capture.rank);
  if (save && !IsCancelled()) save(*slot.store);
}

// Whether the capture does not say which rank it is. The folder of a process that trains alone has
// no number, and then nothing is guessed.
bool Dataset::IsNumberOurs(const Slot& slot) const {
  const opening::Capture& capture = slot.capture;
  const bool is_lone_trace = capture.source.source == store::Source::kUnknown;
  return capture.number_from != opening::NumberFrom::kFiles && (slots_.size() > 1 || is_lone_trace);
}

void Dataset::Show(size_t index) {
  if (IsCancelled()) return;
  store::TraceStore& store = *slots_[index].store;
  PrepareStrings(store);
  auto shown = std::make_unique<ShownRank>(store);
  shown->timeline = RankTimeline::Build(store, pool_);
  shown->read_ns = slots_[index].read_ns;
  shown->is_from_cache = slots_[index].is_from_cache;
  shown->is_number_ours = IsNumberOurs(slots_[index]);
  shown->has_passes = analysis::viewer::HasPasses(store);
  shown->has_pipeline = analysis::viewer::HasPipeline(store);
  shown->has_rl_tasks = analysis::viewer::HasRlTasks(store);
  Publish(std::move(shown));
  slots_[index].is_shown = true;
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
    const size_t lanes_before = lanes_.size();
    const size_t ranks_before = ranks_.size();
    try {
      Add(std::move(shown));
    } catch (...) {  // NOLINT: nobody may see a rank that is not whole
      lanes_.resize(lanes_before);
      ranks_.resize(ranks_before);
      throw;
    }
  }
  ReportProgress("read", rank);
  Announce("ranks");
}

void Dataset::Add(std::unique_ptr<ShownRank> shown) {
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
        ignored_.push_back({slot.capture.source.path, 0, false, slot.error, true});
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
      rank->facts = rank->facts.AfterMove(*rank->store);
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
