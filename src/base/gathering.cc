#include "base/gathering.h"

#include <cstdint>

#include "base/archive.h"

namespace steplens {

Gathering::Gathering(size_t count, size_t members)
    : count_(count),
      division_(count, members),
      run_of_root_(division_.First(0)),
      owners_(count, SIZE_MAX) {
  for (size_t member = 0; member < members; ++member) Give(division_.First(member), member);
}

void Gathering::Give(const ItemRun& run, size_t member) {
  for (size_t i = run.begin; i < run.end; ++i) owners_[i] = member;
  if (member != 0) given_to_others_ += run.size();
}

std::optional<size_t> Gathering::NextOfRoot() {
  const std::lock_guard lock(state_);
  if (run_of_root_.empty()) {
    run_of_root_ = division_.Next();
    Give(run_of_root_, 0);
  }
  if (run_of_root_.empty()) return std::nullopt;
  return run_of_root_.begin++;
}

void Gathering::PutOfRoot(size_t item, std::string part) {
  const std::lock_guard lock(state_);
  waiting_.emplace(item, Batch{std::move(part)});
}

ItemRun Gathering::NextOf(size_t member) {
  const std::lock_guard lock(state_);
  const ItemRun run = division_.Next();
  Give(run, member);
  return run;
}

std::optional<bool> Gathering::Put(size_t member, std::string report) {
  const std::optional<RunReportView> view = FromBytes<RunReportView>(report);
  if (!view) return std::nullopt;
  const bool wants_run = view->wants_run;
  const size_t first = view->first;
  const size_t size = view->parts.size();
  const std::lock_guard lock(state_);
  if (size > count_ || first > count_ - size || waiting_.contains(first)) return std::nullopt;
  for (size_t i = first; i < first + size; ++i) {
    if (owners_[i] != member) return std::nullopt;
  }
  got_of_others_ += size;
  if (size > 0) waiting_.emplace(first, Batch{std::move(report), /*is_report=*/true});
  changed_.notify_all();
  return wants_run;
}

bool Gathering::HasAllOfOthers() const {
  const std::lock_guard lock(state_);
  return got_of_others_ == given_to_others_;
}

void Gathering::End(Status status) {
  const std::lock_guard lock(state_);
  is_ended_ = true;
  status_ = std::move(status);
  changed_.notify_all();
}

void Gathering::TakeBatch(size_t first, const Batch& batch, const Team::Take& take) {
  if (!batch.is_report) {
    take(first, batch.bytes);
    ++next_taken_;
    return;
  }
  const std::optional<RunReportView> view = FromBytes<RunReportView>(batch.bytes);
  for (const std::string_view part : view->parts) take(next_taken_++, part);
}

void Gathering::TakeReady(const Team::Take& take) {
  std::unique_lock lock(state_);
  while (!waiting_.empty() && waiting_.begin()->first == next_taken_) {
    const auto batch = waiting_.extract(waiting_.begin());
    lock.unlock();
    TakeBatch(batch.key(), batch.mapped(), take);
    lock.lock();
  }
}

Status Gathering::TakeRest(const Team::Take& take) {
  while (true) {
    TakeReady(take);
    std::unique_lock lock(state_);
    changed_.wait(lock, [&] {
      return is_ended_ || (!waiting_.empty() && waiting_.begin()->first == next_taken_);
    });
    const bool is_next_there = !waiting_.empty() && waiting_.begin()->first == next_taken_;
    if (!is_next_there) break;
  }
  SL_RETURN_IF_ERROR(status_);
  if (next_taken_ == count_) return {};
  return Error{ErrorCode::kInternal, "items were lost between MPI processes"};
}

}  // namespace steplens
