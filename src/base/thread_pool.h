#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace steplens {

// A fixed set of workers for coarse work (files, chunks, ranks). The caller of ParallelFor always
// works too, so nested calls cannot deadlock and a pool of one thread runs everything on the
// caller.
class ThreadPool {
 public:
  // `threads` counts the caller: 1 starts no worker. 0 means one per core.
  explicit ThreadPool(size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return workers_.size() + 1; }

  // Calls task(0) ... task(count - 1), each once, in any order and on any thread; returns when all
  // are done. Tasks belong to the caller's CancelScope. What a task throws (memory that is not
  // there) is thrown here once the others have ended; those that had not begun do not begin.
  void ParallelFor(size_t count, const std::function<void(size_t)>& task);

  // Calls body() threads() times, at once where workers are free: the frame of a pipeline.
  void RunOnAll(const std::function<void()>& body) {
    ParallelFor(threads(), [&](size_t) { body(); });
  }

 private:
  struct Batch;
  void Work(const std::stop_token& stop);
  static void Drain(Batch& batch);

  std::mutex queue_mutex_;
  std::condition_variable_any queue_changed_;
  std::deque<std::shared_ptr<Batch>>
      queue_;  // shared: a batch is held by its caller and by the workers on it
  std::vector<std::jthread> workers_;
};

}  // namespace steplens
