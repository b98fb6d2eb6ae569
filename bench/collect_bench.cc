// What a record costs the thread that makes it: CPU time per call, the best of many batches that
// fit the thread's ring, so that neither the writer nor other processes are in the number. Prints a
// table; --json for a program.
//
//   build/bench/collect_bench [--json] [FOLDER]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "steplens/collect.h"

namespace {

constexpr int kBatches = 60;

double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Case {
  const char* name;
  int calls;  // in a batch: as many as the ring holds
  std::function<void(int)> run;
};

// The best batch of a case, in nanoseconds a call.
double Best(const Case& one) {
  double best = 1e18;
  for (int i = 0; i < kBatches; ++i) {
    const double start = ThreadCpuNs();
    one.run(one.calls);
    best = std::min(best, (ThreadCpuNs() - start) / one.calls);
    if (sl_recording()) sl_flush();
  }
  return best;
}

std::vector<Case> Cases() {
  static const sl_string name = sl_intern("aten::addmm", 11);
  static const int64_t shapes[] = {1, 64, 2, 32, 128, 2, 128, 64, -1, -1};
  return {
      {"sl_now", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) asm volatile("" ::"r"(sl_now()));
       }},
      {"range begin + end", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) {
           sl_range_begin(name);
           sl_range_end();
         }
       }},
      {"operator with shapes", 2'500,
       [](int count) {
         sl_op op = {};
         op.name = name;
         op.shapes = shapes;
         op.shape_words = 10;
         for (int i = 0; i < count; ++i) {
           op.start = sl_now();
           op.end = sl_now();
           sl_record_op(&op);
         }
       }},
      {"plain operator", 10'000,
       [](int count) {
         sl_plain_op op = {};
         op.name = name;
         for (int i = 0; i < count; ++i) {
           op.start = sl_now();
           sl_record_plain_op(&op, nullptr);
         }
       }},
      {"block of memory", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) sl_record_block(0x1000, i % 2 == 0 ? 64 : 0, 20, 0);
       }},
      {"mark", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) sl_mark(name, 0);
       }},
      {"counter", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) sl_counter(name, 1.5);
       }},
      {"intern a known text", 10'000,
       [](int count) {
         for (int i = 0; i < count; ++i) asm volatile("" ::"r"(sl_intern("aten::addmm", 11)));
       }},
  };
}

// The same work on two threads at once: the mean of their best batches.
double OnTwoThreads(const Case& one) {
  double results[2] = {};
  std::vector<std::thread> threads;
  for (double& result : results) threads.emplace_back([&] { result = Best(one); });
  for (std::thread& thread : threads) thread.join();
  return (results[0] + results[1]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  const bool has_folder = argc > (json ? 2 : 1);
  const std::string folder = has_folder ? argv[argc - 1] : "/tmp/steplens_collect_bench";
  const std::vector<Case> cases = Cases();
  std::vector<std::vector<double>> results(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) results[i].push_back(Best(cases[i]));  // idle

  sl_options options = {};
  options.struct_size = sizeof(options);
  options.directory = folder.c_str();
  options.rank = -1;
  options.thread_buffer_bytes = 4 << 20;
  if (sl_start(&options) != SL_OK) {
    std::fprintf(stderr, "%s\n", sl_last_error());
    return 1;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    results[i].push_back(Best(cases[i]));
    results[i].push_back(OnTwoThreads(cases[i]));
  }
  sl_statistics statistics = {};
  sl_stop(&statistics);
  std::filesystem::remove_all(folder);
  if (statistics.dropped != 0)
    std::fprintf(stderr, "%llu records were dropped; the numbers do not count\n",
                 static_cast<unsigned long long>(statistics.dropped));

  if (!json)
    std::printf("%-24s %10s %10s %12s\n", "ns a call (CPU time)", "idle", "recording",
                "two threads");
  for (size_t i = 0; i < cases.size(); ++i) {
    std::printf(json ? "{\"case\": \"%s\", \"idle_ns\": %.1f, \"recording_ns\": %.1f, "
                       "\"two_threads_ns\": %.1f}\n"
                     : "%-24s %10.1f %10.1f %12.1f\n",
                cases[i].name, results[i][0], results[i][1], results[i][2]);
  }
  return statistics.dropped == 0 ? 0 : 1;
}
