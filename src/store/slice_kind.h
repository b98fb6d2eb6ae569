#pragma once

#include <cstdint>
#include <string_view>

namespace steplens::store {

// What a slice is, by its category.
enum class SliceKind : uint8_t {
  kOther,
  kHostOp,      // cpu_op, Operator
  kAnnotation,  // user_annotation
  kPython,      // python_function
  kEnqueue,
  kDequeue,
  kRuntime,     // cuda_runtime, Runtime: a call into the runtime of a device
  kDriver,      // cuda_driver
  kKernel,      // kernel, Kernel: device work; the category of an Ascend task is its task type
  kMemcpy,      // gpu_memcpy, Memcpy
  kMemset,      // gpu_memset, Memset
  kCollective,  // collective_comm
  kDeviceAnnotation,  // gpu_user_annotation: a range of the host over its work on the device
  kDeviceSync,        // cuda_sync, cuda_event: waits on the device
  kDeviceCounters,    // cuda_profiler_range: counters of kernels, whose times are made up
};

// Kind of a category text. Kineto renamed its categories twice, and each back end has its own:
// names follow the pattern BACKEND_WHAT (cuda_runtime, xpu_driver, gpu_memcpy, GCU_MEMSET), which
// is known for every back end. Ascend's task types (MEMCPY_ASYNC, KERNEL_AICORE) are kOther.
SliceKind KindOfCategory(std::string_view category);

// Whether a kernel carries out a collective: its name begins with that of a communication library
// (ncclDevKernel_AllReduce..., hcom_allReduce_...), in any case.
bool IsCommunicationKernel(std::string_view name);

// Whether a kernel only moves data: the DMA requests that MTIA records among its kernels
// (dma_request), but not a dmatmul.
bool IsCopyKernel(std::string_view name);

}  // namespace steplens::store
