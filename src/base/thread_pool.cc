#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>

#include "base/cancel.h"

namespace steplens {

struct ThreadPool::Batch {
  Batch(size_t n, const std::function<void(size_t)>& f) : count(n), task(f) {}
  const size_t count;
  const std::function<void(size_t)>& task;
  const CancelScope* const scope = CancelScope::Current();  // whoever works on it works for this
  std::atomic<size_t> next{0};
  std::atomic<size_t> done{0};
  std::mutex done_mutex;
  std::condition_variable all_done;
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;  // the first; guarded by done_mutex until all are done
};

ThreadPool::ThreadPool(size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  workers_.reserve(threads - 1);
  try {
    for (size_t i = 1; i < threads; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
    }
  } catch (const std::system_error&) {  // no room for another stack: fewer do the work
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
  queue_changed_.notify_all();
}

void ThreadPool::Drain(Batch& batch) {
  const CancelScope::Entered working_for(batch.scope);
  for (size_t i; (i = batch.next.fetch_add(1)) < batch.count;) {
    try {
      if (!batch.has_failed.load(std::memory_order_relaxed)) batch.task(i);
    } catch (...) {  // NOLINT: whatever it is, it belongs to who waits for the batch
      const std::lock_guard lock(batch.done_mutex);
      if (!batch.has_failed.exchange(true)) batch.failure = std::current_exception();
    }
    if (batch.done.fetch_add(1) + 1 == batch.count) {
      const std::lock_guard lock(batch.done_mutex);
      batch.all_done.notify_all();
    }
  }
}

void ThreadPool::Work(const std::stop_token& stop) {
  while (true) {
    std::shared_ptr<Batch> batch;
    {
      std::unique_lock lock(queue_mutex_);
      if (!queue_changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      batch = queue_.front();
      if (batch->next.load() >= batch->count) {
        queue_.pop_front();
        continue;
      }
    }
    Drain(*batch);
  }
}

void ThreadPool::ParallelFor(size_t count, const std::function<void(size_t)>& task) {
  if (count == 0) return;
  const auto batch = std::make_shared<Batch>(count, task);
  if (count > 1 && !workers_.empty()) {
    {
      const std::lock_guard lock(queue_mutex_);
      queue_.push_front(batch);  // inner batches first: they finish outer ones
    }
    queue_changed_.notify_all();
  }
  Drain(*batch);
  {
    std::unique_lock lock(batch->done_mutex);
    batch->all_done.wait(lock, [&] { return batch->done.load() == count; });
  }
  {
    const std::lock_guard lock(queue_mutex_);
    std::erase(queue_, batch);
  }
  if (batch->failure) std::rethrow_exception(batch->failure);
}

}  // namespace steplens
