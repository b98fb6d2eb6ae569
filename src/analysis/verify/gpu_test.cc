#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

using store::SliceId;
using store::TrackId;

// Two kernels of one stream, [20, 30) and [30, 40) us, each with its launch, and a copy behind
// them.
struct GpuTrace : TestStore {
  GpuTrace() {
    store.info.source = store::Source::kKineto;
    host = ThreadOf("python", "thread 1");
    stream = ThreadOf("python", "stream 7");
    Launch(1000, 1);
    Launch(2000, 2);
    Slice(stream, 20000, 30000, "gemm", "kernel", 1);
    second = Slice(stream, 30000, 40000, "relu", "kernel", 2);
    Slice(stream, 40000, 41000, "Memcpy DtoH", "gpu_memcpy", 3);
  }
  void Launch(int64_t begin_ns, int64_t correlation, std::string_view call = "cudaLaunchKernel") {
    Slice(host, begin_ns, begin_ns + 500, call, "cuda_runtime", correlation);
  }
  void MoveSecond(int64_t begin_ns) {
    store.slices.begin_ns.Set(static_cast<size_t>(second), begin_ns);
  }

  TrackId host, stream;
  SliceId second;
};

TEST(VerifyGpuStreams, KernelsRunOneAfterTheOther) {
  GpuTrace s;
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
  s.MoveSecond(29000);  // within the resolution of older traces
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
  s.MoveSecond(28999);
  ExpectBroken(s.Run("kernels.stream_overlap"), "1 of 2 kernels",
               "relu at 28.999 us: begins 1.001 us before gemm at 20.000 us ends");
}

TEST(VerifyGpuStreams, LooksBehindAShortKernelForALongOne) {
  GpuTrace s;
  s.MoveSecond(50000);
  s.Slice(s.stream, 20000, 60000, "long", "kernel", 8);
  EXPECT_EQ(s.Run("kernels.stream_overlap").detail, "2 of 3 kernels");
}

TEST(VerifyGpuStreams, KernelsOfAGraphRunWhereItsExecutorPutsThem) {
  GpuTrace s;
  s.MoveSecond(25000);
  s.store.slices.name.Set(1, s.Text("cudaGraphLaunch"));
  ExpectHolds(s.Run("kernels.stream_overlap"), "1 kernels");
}

TEST(VerifyGpuStreams, KernelsOfOneLaunchAreAGraphsEvenIfTheCallWasNotRecorded) {
  GpuTrace s;
  s.MoveSecond(25000);
  for (const size_t row : {size_t{2}, size_t{3}}) s.store.slices.correlation.Set(row, 99);
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
}

TEST(VerifyGpuStreams, ADependentLaunchMayBeginEarly) {
  GpuTrace s;
  s.MoveSecond(25000);
  s.store.slices.name.Set(1, s.Text("cudaLaunchKernelExC"));
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
}

TEST(VerifyGpuStreams, CopiesAreNoKernels) {
  GpuTrace s;
  s.Slice(s.stream, 21000, 22000, "Memcpy HtoD", "gpu_memcpy", 9);
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
}

TEST(VerifyLaunchOrder, ReportsAKernelThatBeginsBeforeItsLaunch) {
  GpuTrace s;
  ExpectHolds(s.Run("kernels.launch_order"), "2 launched kernels, copies and memsets");
  s.MoveSecond(999);  // 1.001 us before
  ExpectBroken(s.Run("kernels.launch_order"), "1 of 2 launched kernels, copies and memsets",
               "relu at 0.999 us: begins 1.001 us before its launch, cudaLaunchKernel at 2.000 us");
}

// Delays of at most 28 us and kernels of at most 10 us: what was launched up to 100 us is due.
struct WithLaterKernel : GpuTrace {
  WithLaterKernel() {
    Launch(110000, 4);
    Slice(stream, 128000, 138000, "add", "kernel", 4);
  }
};

TEST(VerifyLaunchedKernels, CountsLaunchesWithoutAKernel) {
  WithLaterKernel s;
  ExpectHolds(s.Run("kernels.launches"), "3 launches");
  s.Launch(50000, 5);
  ExpectBroken(s.Run("kernels.launches"), "1 of 4 launches",
               "cudaLaunchKernel at 50.000 us: nothing on the GPU has its correlation 5");
}

TEST(VerifyLaunchedKernels, TheLastOnesMayRunAfterTheCapture) {
  WithLaterKernel s;
  s.Launch(120000, 5);
  ExpectHolds(s.Run("kernels.launches"),
              "3 launches; 1 more into graphs or near the end of the capture");
}

TEST(VerifyLaunchedKernels, LaunchesIntoAGraphRunWhenItIsReplayed) {
  WithLaterKernel s;
  s.Launch(50000, 5, "cudaStreamBeginCapture");
  s.Launch(51000, 6);
  s.Launch(52000, 7, "cudaStreamEndCapture");
  ExpectHolds(s.Run("kernels.launches"),
              "3 launches; 1 more into graphs or near the end of the capture");
  s.Launch(60000, 8, "cudaGraphLaunch");  // no kernel of any graph was recorded
  EXPECT_EQ(s.Run("kernels.launches").state, CheckState::kHolds);
  s.Launch(61000, 9, "cudaGraphLaunch");
  s.Slice(s.stream, 63000, 64000, "a", "kernel", 9);
  s.Slice(s.stream, 64000, 65000, "b", "kernel", 9);
  ExpectBroken(s.Run("kernels.launches"),
               "1 of 5 launches; 1 more into graphs or near the end of the capture",
               "cudaGraphLaunch at 60.000 us: nothing on the GPU has its correlation 8");
}

TEST(VerifyLaunchedKernels, HostFunctionsAndMemsetsAreNoLaunches) {
  WithLaterKernel s;
  s.Launch(50000, 5, "cudaLaunchHostFunc");
  s.Launch(51000, 6, "cudaMemsetAsync");
  ExpectHolds(s.Run("kernels.launches"), "3 launches");
}

TEST(VerifyCopySizes, EveryCopyHasOneWhereTheTraceStatesThem) {
  GpuTrace s;
  s.Slice(s.stream, 50000, 51000, "Memset", "gpu_memset", 6);
  std::string of_memset = R"({"bytes": 16})";
  VerifyOptions options;
  options.args_of = [&](const store::TraceStore& rank, SliceId slice) -> std::string {
    const auto name = rank.Text(rank.slices.name[static_cast<size_t>(slice)]);
    return name == "Memset" ? of_memset : R"({"stream": 7, "bytes": 4096})";
  };
  ExpectHolds(s.Run("copies.size", options), "2 copies and memsets");
  of_memset = R"({"bytes": -16})";
  ExpectBroken(s.Run("copies.size", options), "1 of 2 copies and memsets",
               "Memset at 50.000 us: its size is -16 bytes");
  of_memset = "{}";
  ExpectBroken(s.Run("copies.size", options), "1 of 2 copies and memsets",
               "Memset at 50.000 us: its size is missing");
  options.args_of = [](const store::TraceStore&, SliceId) -> std::string { return "{}"; };
  ExpectNotApplicable(s.Run("copies.size", options), "the trace does not say the size of copies");
}

TEST(VerifyBreakdownParts, SumUp) { ExpectHolds(GpuTrace().Run("breakdown.parts"), "1 steps"); }

TEST(VerifyGpuRules, DoNotApplyToAscend) {
  const TestStore s;
  for (const char* rule :
       {"kernels.launch_order", "kernels.launches", "copies.size", "breakdown.parts"})
    ExpectNotApplicable(s.Run(rule), "not a GPU trace");
}

}  // namespace
}  // namespace steplens::analysis::verify
