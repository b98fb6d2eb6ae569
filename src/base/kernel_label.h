#pragma once

#include <string>
#include <string_view>

namespace steplens {

// The readable form of a demangled C++ name, as kernels of a GPU have them: without return type,
// namespaces and parameters, e.g. "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8,
// c10::BFloat16, float>(float*, int)" is "cunn_SoftMaxForward<8,BFloat16,float>". A lambda goes by
// the function that it is written in. Other names come back as they are. Pages and the console show
// it; files and links have the full name. ui/src/kernel_label.ts does the same for the pages, and
// one list of names tests both.
std::string KernelLabel(std::string_view name);

}  // namespace steplens
