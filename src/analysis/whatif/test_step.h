#pragma once

#include <string_view>
#include <vector>

#include "analysis/testing/store_builder.h"
#include "analysis/whatif/whatif_answer.h"

namespace steplens::analysis {

// A rank for tests of the step graph: times in microseconds, one marked step.
struct TestStep : StoreBuilder {
  static constexpr int64_t kUs = 1000;

  explicit TestStep(int64_t length_us, int64_t rank = 0) {
    store.info.rank = rank;
    Step(1, 0, length_us * kUs);
    Host("ProfilerStep#1", 0, length_us, "user_annotation");
  }
  store::SliceId Host(std::string_view name, int64_t begin_us, int64_t end_us,
                      std::string_view category = "cpu_op") {
    return Slice(host, begin_us * kUs, end_us * kUs, name, category);
  }
  // A runtime call that launches a kernel on a stream.
  void Launch(int64_t begin_us, int64_t end_us, store::TrackId on, int64_t kernel_begin_us,
              int64_t kernel_end_us, std::string_view name = "gemm",
              std::string_view category = "kernel") {
    ++correlation;
    Slice(host, begin_us * kUs, end_us * kUs,
          category == "kernel" ? "cudaLaunchKernel" : "cudaMemcpyAsync", "cuda_runtime",
          correlation);
    Slice(on, kernel_begin_us * kUs, kernel_end_us * kUs, name, category, correlation);
  }
  void Call(std::string_view name, int64_t begin_us, int64_t end_us) {
    Host(name, begin_us, end_us, "cuda_runtime");
  }
  void Collective(int64_t begin_us, int64_t end_us, std::string_view name) {
    ++correlation;
    Slice(stream2, begin_us * kUs, end_us * kUs, name, "kernel", correlation);
    CommOp(name, begin_us * kUs, end_us * kUs, stream2);
  }

  store::TrackId host = ThreadOf("python", "thread 1");
  store::TrackId stream = Thread(Process("python", "GPU 0"), "stream 7");
  store::TrackId stream2 = Thread(Process("python", "GPU 0"), "stream 9");
  int64_t correlation = 0;
};

// The replay of a job, which it owns.
struct TestReplay {
  explicit TestReplay(store::Job of_job)
      : job(std::move(of_job)), ranks(ViewsOf(job, {})), replay(job, ranks, std::nullopt) {}
  explicit TestReplay(TestStep& step) : TestReplay(step.Job()) {}

  int64_t MeasuredUs() const { return replay.measured_ns() / 1000; }
  int64_t ReplayedUs() const { return replay.graph().FinishNs(replay.at()) / 1000; }
  // With the edits applied together.
  int64_t Us(const EditTexts& texts) const {
    return replay.Run(*ParseEdits(texts)).window_ns / 1000;
  }
  int64_t PathUs(PathClass path_class) const {
    return replay.path().class_ns[static_cast<size_t>(path_class)] / 1000;
  }

  store::Job job;
  std::vector<RankView> ranks;
  StepReplay replay;
};

}  // namespace steplens::analysis
