#pragma once

#include <string>
#include <string_view>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {

// A Kineto trace of one GPU whose operators launch kernels of 1 ms.
struct GpuRank : StoreBuilder {
  // An operator on FP16 tensors; with a kernel if `launches`.
  void Op(std::string_view name, int64_t begin_ns, int64_t end_ns, std::string_view shapes,
          bool launches) {
    constexpr int64_t kMs = 1'000'000;
    const auto slice = Slice(host, begin_ns, end_ns, name, "cpu_op");
    store.host_ops.Append({.slice = slice,
                           .input_shapes = Text(shapes),
                           .input_types = Text(R"(["c10::Half", "c10::Half"])")});
    if (!launches) return;
    Slice(host, begin_ns + 1, begin_ns + 2, "cudaLaunchKernel", "cuda_runtime", begin_ns);
    Slice(stream, begin_ns * kMs, (begin_ns + 1) * kMs, "gemm", "kernel", begin_ns);
    StoreBuilder::Kernel("gemm", "", "kernel", begin_ns * kMs, (begin_ns + 1) * kMs, 0);
  }
  void Device(std::string_view name) {
    store.meta.Append(
        {Text("deviceProperties"), Text(R"([{"id": 0, "name": ")" + std::string(name) + R"("}])")});
  }

  store::TrackId host = ThreadOf("python", "thread 1");
  store::TrackId stream = Thread(Process("python", "GPU 0"), "stream 7");
};

}  // namespace steplens::analysis
