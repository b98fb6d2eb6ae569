#include "server/query_threads.h"

#include <atomic>
#include <condition_variable>
#include <new>
#include <optional>

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
  std::atomic<bool> is_unwanted{false};
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Answer> answer;  // once it has ended
};

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
  const Clock::time_point end = Clock::now() + question.timeout;
  const auto running = std::make_shared<Running>();
  Keep(running,
       std::jthread([=, question = std::move(question), database = std::move(database)]() mutable {
         const CancelScope until_unwanted([&] { return running->is_unwanted.load(); });
         bool timed_out = false;
         Result<table::Table> table = OutOfMemory();
         try {
           table = database->Run(question.sql, {.max_result_bytes = kMaxResultBytes,
                                                .max_rows = question.max_rows,
                                                .max_text_bytes = kMaxTextBytes,
                                                .max_pattern_bytes = kMaxPatternBytes,
                                                .should_stop = [&] {
                                                  timed_out = Clock::now() >= end;
                                                  return timed_out || running->is_unwanted.load();
                                                }});
         } catch (const std::bad_alloc&) {  // the query's failure, not the server's
         }
         give_back(std::move(database));
         const std::lock_guard lock(running->mutex);
         running->answer = {std::move(table), timed_out};
         running->ended.notify_all();
       }));
  std::unique_lock lock(running->mutex);
  while (!running->answer && Clock::now() < end + kGrace && !IsCancelled())
    running->ended.wait_for(lock, kLookEvery);
  if (running->answer) return *std::move(running->answer);
  running->is_unwanted = true;
  return {Error{ErrorCode::kCancelled, "the query was cancelled"}, Clock::now() >= end};
}

}  // namespace steplens::server
