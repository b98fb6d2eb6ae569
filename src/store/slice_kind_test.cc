#include "store/slice_kind.h"

#include <gtest/gtest.h>

#include <string>

namespace steplens::store {
namespace {

TEST(KindOfCategory, KnowsTheHost) {
  EXPECT_EQ(KindOfCategory("cpu_op"), SliceKind::kHostOp);
  EXPECT_EQ(KindOfCategory("Operator"), SliceKind::kHostOp);
  EXPECT_EQ(KindOfCategory("user_annotation"), SliceKind::kAnnotation);
  EXPECT_EQ(KindOfCategory("python_function"), SliceKind::kPython);
  for (const char* other : {"", "Trace", "overhead", "external_correlation", "cpu_instant_event",
                            "mtia_workloadd", "ac2g", "fwdbwd"}) {
    EXPECT_EQ(KindOfCategory(other), SliceKind::kOther) << other;
  }
}

TEST(KindOfCategory, KnowsKernelsOfEveryBackEnd) {
  for (const char* kernel : {"kernel", "Kernel", "concurrent_kernel", "mtia_ccp_events"}) {
    EXPECT_EQ(KindOfCategory(kernel), SliceKind::kKernel) << kernel;
  }
  EXPECT_EQ(KindOfCategory("collective_comm"), SliceKind::kCollective);
}

TEST(KindOfCategory, KnowsWhatFollowsTheNameOfABackEnd) {
  for (const char* backend :
       {"gpu", "cuda", "hip", "xpu", "mtia", "npu", "hpu", "privateuse1", "nobody9", "GCU"}) {
    const auto kind_of = [&](const char* what) {
      return KindOfCategory(std::string(backend) + what);
    };
    EXPECT_EQ(kind_of("_memcpy"), SliceKind::kMemcpy) << backend;
    EXPECT_EQ(kind_of("_memset"), SliceKind::kMemset) << backend;
    EXPECT_EQ(kind_of("_runtime"), SliceKind::kRuntime) << backend;
    EXPECT_EQ(kind_of("_driver"), SliceKind::kDriver) << backend;
    EXPECT_EQ(kind_of("_user_annotation"), SliceKind::kDeviceAnnotation) << backend;
    EXPECT_EQ(kind_of("_sync"), SliceKind::kDeviceSync) << backend;
    EXPECT_EQ(kind_of("_profiler_range"), SliceKind::kDeviceCounters) << backend;
  }
  EXPECT_EQ(KindOfCategory("GCU_MEMCPY"), SliceKind::kMemcpy);
}

TEST(KindOfCategory, LeavesTaskTypesOfAscendAlone) {
  for (const char* type : {"MEMCPY_ASYNC", "KERNEL_AICORE", "AI_CORE", "EVENT_RECORD_SQE",
                           "PCIE_DMA_SQE", "Notify Wait", "_memcpy", "a b_memcpy"}) {
    EXPECT_EQ(KindOfCategory(type), SliceKind::kOther) << type;
  }
}

TEST(IsCommunicationKernel, KnowsTheLibrariesInAnyCase) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "NCCLKernel_AllGather",
                           "hcom_allReduce__586_0_1", "hcclAllReduce", "oneccl_allreduce"}) {
    EXPECT_TRUE(IsCommunicationKernel(name)) << name;
  }
  for (const char* name : {"", "ncc", "void gemm", "occlusion", "accumulate", "hcomb"}) {
    EXPECT_FALSE(IsCommunicationKernel(name)) << name;
  }
}

TEST(IsCopyKernel, TellsARequestFromAProduct) {
  EXPECT_TRUE(IsCopyKernel("dma_request"));
  EXPECT_TRUE(IsCopyKernel("dma"));
  EXPECT_TRUE(IsCopyKernel("dma0: 4 MB"));
  EXPECT_FALSE(IsCopyKernel("dmatmul"));
  EXPECT_FALSE(IsCopyKernel("matmul_dma"));
}

}  // namespace
}  // namespace steplens::store
