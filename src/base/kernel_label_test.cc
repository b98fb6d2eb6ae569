#include "base/kernel_label.h"

#include <gtest/gtest.h>

#include <sstream>

namespace steplens {
namespace {

// Pairs of lines, name and label. The unit tests of the pages (ui/tests/unit) read them from here.
constexpr const char* kLabels = R"labels(
void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, c10::BFloat16, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(c10::BFloat16*, c10::BFloat16 const*, int)
cunn_SoftMaxForward<8,BFloat16,float,BFloat16,SoftMaxForwardEpilogue>
void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)
cunn_SoftMaxForward<8,float,float,float,SoftMaxForwardEpilogue>
void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)
vectorized_elementwise_kernel<4,CUDAFunctor_add<float>,Array<char*,3>>
void at::native::vectorized_elementwise_kernel<4, at::native::exp_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)
vectorized_elementwise_kernel<4,exp_kernel_cuda::lambda,Array<char*,2>>
void cub::DeviceReduceKernel<cub::Policy<(int)4>, at::Half const*, unsigned int>(at::Half const*, unsigned int)
DeviceReduceKernel<Policy<4>,Half*,unsigned int>
ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)
ncclKernel_AllReduce_RING_LL_Sum_float
cask_cudnn_infer::computeBOffsetsKernel(cask_cudnn_infer::ComputeBOffsetsParams)
computeBOffsetsKernel
std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, false, true>(cublasGemvParams<float>)
kernel<int,int,float,false,true>
void Cijk_Ailk<float>(float*) [clone .kd]
Cijk_Ailk<float>
volta_sgemm_64x64_nt
volta_sgemm_64x64_nt
aten::mm
aten::mm
Memcpy HtoD (Pinned -> Device)
Memcpy HtoD (Pinned -> Device)
torch/nn/modules/module.py(1190): _call_impl
torch/nn/modules/module.py(1190): _call_impl
PyTorch Profiler (0)
PyTorch Profiler (0)
autograd::engine::evaluate_function: AddBackward0
autograd::engine::evaluate_function: AddBackward0
<built-in method apply of type object>
<built-in method apply of type object>
hcom_allReduce__586_0_1
hcom_allReduce__586_0_1
)labels";

TEST(KernelLabel, DropsReturnTypesNamespacesAndParameters) {
  std::istringstream lines(kLabels + 1);
  size_t pairs = 0;
  for (std::string name, label; std::getline(lines, name) && std::getline(lines, label); ++pairs)
    EXPECT_EQ(KernelLabel(name), label) << name;
  EXPECT_EQ(pairs, 17u);
}

TEST(KernelLabel, TakesAnyText) {
  for (const char* text : {"", " ", "(", "void ", "void <", "a<", "a(", "a::", "void a::(", "a>(",
                           "void {", "x<<<<>", "a()", "void const", "a->b<c>"})
    EXPECT_LE(KernelLabel(text).size(), std::string_view(text).size() + 8) << text;
}

}  // namespace
}  // namespace steplens
