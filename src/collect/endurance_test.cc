// Bad days: many threads, deep recursion, long names, full buffers, signals, fork, exit and kill
// while recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include "collect/json_text.h"
#include "collect/test_capture.h"

namespace steplens::collect {
namespace {

class Endurance : public testing::Test {
 protected:
  ~Endurance() override { sl_discard(); }
  void Start(const sl_options& options) { ASSERT_EQ(sl_start(&options), SL_OK) << sl_last_error(); }
  sl_statistics Stop() {
    sl_statistics statistics = {};
    EXPECT_EQ(sl_stop(&statistics), SL_OK) << sl_last_error();
    return statistics;
  }
  // Runs `body` in a child process; how it ended.
  static int InChild(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  static void Ranges(sl_string name, int count) {
    for (int i = 0; i < count; ++i) {
      sl_range_begin(name);
      sl_range_end();
    }
  }

  ScratchFolder folder_;
  const std::string capture_ = folder_ / "capture";
};

TEST_F(Endurance, RecursionTenThousandDeepIsWhole) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 4 << 20;
  Start(options);
  constexpr int kDepth = 10'000;
  for (int i = 0; i < kDepth; ++i) sl_range_begin(Id("deep"));
  for (int i = 0; i < kDepth; ++i) sl_range_end();
  EXPECT_EQ(Stop().recorded, static_cast<uint64_t>(kDepth));
  const auto ops = ReadOps(capture_);
  for (size_t i = 1; i < ops.size(); ++i) ASSERT_LE(ops[i].fixed.start, ops[i - 1].fixed.start);
}

TEST_F(Endurance, TooDeepIsCountedAndTheRestIsRight) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 8 << 20;
  Start(options);
  constexpr uint64_t kDepth = 65'536;
  for (uint64_t i = 0; i < kDepth + 100; ++i) sl_range_begin(Id("deep"));
  for (uint64_t i = 0; i < kDepth + 100; ++i) sl_range_end();
  sl_range_begin(Id("afterwards"));
  sl_range_end();
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded, kDepth + 1);
  EXPECT_EQ(statistics.dropped, 100u);
  EXPECT_EQ(ReadOps(capture_).back().fields.at(2), "afterwards");
}

TEST_F(Endurance, TwoThousandThreadsOneAfterAnotherAndManyAtOnce) {
  sl_options options = OptionsFor(capture_);
  options.total_buffer_bytes = 8 << 20;
  Start(options);
  const sl_string name = Id("work");
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 100; ++i) threads.emplace_back([&] { Ranges(name, 5); });
    for (std::thread& thread : threads) thread.join();
  }
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded + statistics.dropped, 10'000u);
  EXPECT_EQ(statistics.dropped, 0u);
  EXPECT_EQ(ReadOps(capture_).size(), 10'000u);
}

TEST_F(Endurance, TwoThousandThreadsAtTheSameTime) {
  constexpr int kThreads = 2000;
  Start(OptionsFor(capture_));
  struct Shared {
    sl_string name = Id("work");
    std::atomic<int> recorded{0};
    std::atomic<bool> all_have{false};  // nobody leaves before everybody has a ring
  } shared;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  std::vector<pthread_t> threads(kThreads);
  int started = 0;
  for (pthread_t& thread : threads) {
    const auto body = [](void* pointer) -> void* {
      auto* all = static_cast<Shared*>(pointer);
      Ranges(all->name, 5);
      ++all->recorded;
      all->all_have.wait(false);
      return nullptr;
    };
    if (pthread_create(&thread, &attributes, body, &shared) != 0) break;
    ++started;
  }
  pthread_attr_destroy(&attributes);
  while (shared.recorded < started) usleep(1000);
  shared.all_have = true;
  shared.all_have.notify_all();
  for (int i = 0; i < started; ++i) pthread_join(threads[static_cast<size_t>(i)], nullptr);
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded, static_cast<uint64_t>(started) * 5);
  EXPECT_EQ(statistics.dropped, 0u);
  EXPECT_GT(started, 100);
}

TEST_F(Endurance, ThreadsBeyondTheBoundShareARing) {
  sl_options options = OptionsFor(capture_);
  options.total_buffer_bytes = 64 << 10;
  options.thread_buffer_bytes = 16 << 10;
  Start(options);
  const sl_string name = Id("work");
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  std::set<uint64_t> ids;
  std::mutex mutex;
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < 40) std::this_thread::yield();
      Ranges(name, 20);
      const std::lock_guard lock(mutex);
      ids.insert(sl_thread());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded + statistics.dropped, 800u);
  EXPECT_GT(statistics.recorded, 400u);
  for (const auto& op : ReadOps(capture_)) EXPECT_TRUE(ids.contains(op.fixed.start_thread));
}

TEST_F(Endurance, FullBuffersDropAndCountInProfilerInfo) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 16 << 10;
  options.flush_period_ms = 1000;
  Start(options);
  Ranges(Id("r"), 100'000);
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded + statistics.dropped, 100'000u);
  EXPECT_GT(statistics.dropped, 0u);
  EXPECT_EQ(ReadOps(capture_).size(), statistics.recorded);
  const auto members = *JsonMembers(ReadWhole(capture_ + "/profiler_info.json"));
  for (const auto& [key, value] : members) {
    if (key != "steplens_drops") continue;
    const auto drops = *JsonMembers(value);
    EXPECT_EQ(drops[0].second, std::to_string(statistics.recorded));
    EXPECT_EQ(drops[1].second, std::to_string(statistics.dropped));
  }
}

TEST_F(Endurance, LongNamesAndAnyBytesSurvive) {
  Start(OptionsFor(capture_));
  const std::string megabyte(1 << 20, 'n');
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (const std::string& name : {megabyte, bytes, std::string()}) {
    sl_range_begin(Id(name));
    sl_range_end();
  }
  Stop();
  const auto ops = ReadOps(capture_);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].fields.at(2), megabyte.substr(0, 65'536));
  EXPECT_EQ(ops[1].fields.at(2), bytes);
  EXPECT_EQ(ops[2].fields.at(2), "");
}

TEST_F(Endurance, AnOperatorWithHugeShapesIsCutOrDroppedNotABug) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 16 << 10;
  Start(options);
  const std::vector<int64_t> shapes(1'000'000, 1);
  sl_op op = {};
  op.start = sl_now();
  op.end = op.start;
  op.name = Id("huge");
  op.shapes = shapes.data();
  op.shape_words = static_cast<uint32_t>(shapes.size());
  sl_record_op(&op);
  sl_record_op(nullptr);
  sl_record_memory(nullptr);
  Ranges(Id("after"), 1);
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.dropped, 1u);
  EXPECT_EQ(statistics.recorded, 1u);
}

std::atomic<int> signals_handled{0};
sl_string signal_name = 0;
void OnSignal(int) {
  sl_range_begin(signal_name);
  sl_range_end();
  ++signals_handled;
}

TEST_F(Endurance, SignalHandlersMayRecord) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 16 << 20;
  Start(options);
  signal_name = Id("handler");
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  struct sigaction before = {};
  const sl_string name = Id("interrupted");
  Ranges(name, 1);  // from now on the thread has all it needs
  const pthread_t target = pthread_self();
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> done{false};
  std::thread sender([&] {
    while (!done) {
      pthread_kill(target, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  constexpr uint64_t kRanges = 200'000;
  Ranges(name, kRanges - 1);
  done = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded + statistics.dropped,
            kRanges + static_cast<uint64_t>(signals_handled.load()));
  uint64_t whole = 0;
  for (const auto& op : ReadOps(capture_)) {
    ASSERT_LE(op.fixed.start, op.fixed.end);
    whole += op.fields.at(2) == "interrupted" ? 1 : 0;
  }
  EXPECT_EQ(whole, kRanges);
}

TEST_F(Endurance, AnExceptionLeavesNestingRight) {
  struct Guard {
    explicit Guard(const char* name) { sl_range_begin(Id(name)); }
    ~Guard() { sl_range_end(); }
  };
  Start(OptionsFor(capture_));
  try {
    const Guard outer("outer");
    const Guard inner("inner");
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  Ranges(Id("next"), 1);
  Stop();
  const auto ops = ReadOps(capture_);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[2].fields.at(2), "next");
  EXPECT_GE(ops[2].fixed.start, ops[1].fixed.end);
}

TEST_F(Endurance, AForkedChildLeavesTheParentsCaptureAlone) {
  Start(OptionsFor(capture_));
  Ranges(Id("parent"), 3);
  const int status = InChild([] {
    if (sl_recording()) _exit(1);
    Ranges(Id("child"), 1000);
    sl_mark(Id("child"), 0);
    if (sl_stop(nullptr) != SL_NOT_RUNNING) _exit(2);
    if (sl_intern("new text", 8) == 0) _exit(3);
    exit(0);  // with its handlers
  });
  EXPECT_EQ(status, 0);
  Ranges(Id("parent"), 2);
  EXPECT_EQ(Stop().recorded, 5u);
  for (const auto& op : ReadOps(capture_)) EXPECT_EQ(op.fields.at(2), "parent");
}

TEST_F(Endurance, AForkedChildMayRecordItself) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer does not allow threads in a child";
#endif
#endif
  Start(OptionsFor(capture_));
  Ranges(Id("parent"), 1);
  const std::string own = folder_ / "child";
  EXPECT_EQ(InChild([&] {
              const sl_options options = OptionsFor(own);
              if (sl_start(&options) != SL_OK) _exit(1);
              Ranges(Id("child"), 4);
              if (sl_stop(nullptr) != SL_OK) _exit(2);
            }),
            0);
  Stop();
  const auto ops = ReadOps(own);
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_NE(ops[0].fixed.process_id, static_cast<uint64_t>(getpid()));
  EXPECT_EQ(ops[0].fixed.start_thread, ops[0].fixed.process_id);
}

TEST_F(Endurance, ForksWhileOtherThreadsRecordDoNotHang) {
  sl_options options = OptionsFor(capture_);
  options.thread_buffer_bytes = 16 << 20;
  Start(options);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int count = 0; !done; ++count) {
        Ranges(Id("thread " + std::to_string(i) + " " + std::to_string(count % 5000)), 1);
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(InChild([] { sl_intern("text of a child", 15); }), 0);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  Stop();
}

TEST_F(Endurance, ExitWhileRecordingWritesEverything) {
  EXPECT_EQ(InChild([&] {
              sl_options options = OptionsFor(capture_);
              options.flush_period_ms = 100'000;
              if (sl_start(&options) != SL_OK) _exit(1);
              Ranges(Id("r"), 7);
              exit(0);
            }),
            0);
  EXPECT_EQ(ReadOps(capture_).size(), 7u);
  EXPECT_THAT(ReadWhole(capture_ + "/profiler_info.json"), testing::HasSubstr("end_info"));
}

TEST_F(Endurance, AfterAKillTheFilesAreReadableUpToTheLastFlush) {
  const int status = InChild([&] {
    const sl_options options = OptionsFor(capture_);
    if (sl_start(&options) != SL_OK) _exit(1);
    Ranges(Id("r"), 1000);
    sl_flush();
    Ranges(Id("lost perhaps"), 10);
    kill(getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_GE(ReadOps(capture_).size(), 1000u);
  const std::string info = ReadWhole(capture_ + "/profiler_info.json");
  EXPECT_TRUE(IsJson(info));
  EXPECT_THAT(info, testing::HasSubstr("steplens_clock"));
  EXPECT_THAT(info, testing::Not(testing::HasSubstr("end_info")));
}

TEST_F(Endurance, StartingAndStoppingUnderLoadLosesNothingAndMixesNothing) {
  std::atomic<bool> done{false};
  std::thread worker([&] {
    const sl_string name = Id("load");
    while (!done) Ranges(name, 10);
  });
  for (int round = 0; round < 10; ++round) {
    const std::string capture = capture_ + std::to_string(round);
    Start(OptionsFor(capture));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const sl_statistics statistics = Stop();
    EXPECT_EQ(ReadOps(capture).size(), statistics.recorded);
  }
  done = true;
  worker.join();
}

}  // namespace
}  // namespace steplens::collect
