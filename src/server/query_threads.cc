#include "server/query_threads.h"

#include <atomic>
#include <condition_variable>
#include <new>
#include <optional>

#include "base/allocator.h"
#include "base/cancel.h"
#include "base/memory_limit.h"

namespace steplens::server {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxResultBytes = size_t{256} << 20;
// A function over texts of this size takes some seconds at worst (instr, replace and LIKE are
// quadratic), and no name, stack or shape of a capture is as long.
constexpr int kMaxTextBytes = 1'000'000;
constexpr int kMaxPatternBytes = 1'000;
// How late a query that can be stopped may notice the time.
constexpr std::chrono::milliseconds kGrace{250};
constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

struct QueryThreads::Running {
  std::unique_ptr<query::Database> database;  // until it is given back
  const Question question;
  const GiveBack give_back;
  const Clock::time_point end = Clock::now() + question.timeout;
  std::atomic<bool> is_unwanted{false};
  std::mutex mutex;
  std::condition_variable ended;
  // Once it has ended. Without memory there is none for the words that say so either.
  std::optional<Answer> answer{};
  Answer out_of_memory{OutOfMemory(), false};

  void Work();
  Answer Ask();
};

QueryThreads::Answer QueryThreads::Running::Ask() try {
  const CancelScope until_unwanted([this] { return is_unwanted.load(); });
  bool timed_out = false;
  Result<table::Table> table =
      database->Run(question.sql, {.max_result_bytes = kMaxResultBytes,
                                   .max_rows = question.max_rows,
                                   .max_text_bytes = kMaxTextBytes,
                                   .max_pattern_bytes = kMaxPatternBytes,
                                   .should_stop = [&] {
                                     timed_out = Clock::now() >= end;
                                     return timed_out || is_unwanted.load();
                                   }});
  return {std::move(table), timed_out};
} catch (const std::bad_alloc&) {  // the query's failure, not the server's
  return std::move(out_of_memory);
}

void QueryThreads::Running::Work() {
  Answer asked = Ask();
  if (!asked.table.ok() && asked.table.error().code == ErrorCode::kOutOfMemory)
    ReturnUnusedMemory();
  give_back(std::move(database));
  const std::lock_guard lock(mutex);
  answer = std::move(asked);
  ended.notify_all();
}

void QueryThreads::Keep(std::shared_ptr<Running> running, std::jthread thread) {
  const std::lock_guard lock(mutex_);
  threads_.remove_if([](const auto& one) {
    const std::lock_guard answer_lock(one.first->mutex);
    return one.first->answer.has_value();
  });
  threads_.emplace_back(std::move(running), std::move(thread));
}

QueryThreads::Answer QueryThreads::Run(std::unique_ptr<query::Database> database, Question question,
                                       GiveBack give_back) {
  const auto running =
      std::make_shared<Running>(std::move(database), std::move(question), std::move(give_back));
  try {
    Keep(running, std::jthread([running] { running->Work(); }));
  } catch (...) {  // NOLINT: there is no room for the thread; the next query may have it
    if (running->database) running->give_back(std::move(running->database));
    throw;
  }
  std::unique_lock lock(running->mutex);
  while (!running->answer && Clock::now() < running->end + kGrace && !IsCancelled())
    running->ended.wait_for(lock, kLookEvery);
  if (running->answer) return *std::move(running->answer);
  running->is_unwanted = true;
  return {Error{ErrorCode::kCancelled, "the query was cancelled"}, Clock::now() >= running->end};
}

}  // namespace steplens::server
