// CPU memory of tensors: an allocator in front of libtorch's own that records each allocation and
// free. Covers all threads and lives beside the framework's profiler.
//
// Only blocks allocated while it is installed are seen. The CPU is the device here: events carry
// device type 20 (as an NPU's do) and the index given.
#ifndef STEPLENS_TORCH_ADAPTER_ALLOCATOR_H_
#define STEPLENS_TORCH_ADAPTER_ALLOCATOR_H_

namespace steplens::torch_adapter {

// Not for several threads at once. Blocks allocated before RemoveAllocator may be freed at any time
// after it.
void InstallAllocator(int device_index);
void RemoveAllocator();

}  // namespace steplens::torch_adapter

#endif
