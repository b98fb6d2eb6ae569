#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// Where in the model and in the program a kernel was launched. Empty where nothing says so.
struct KernelPlace {
  std::string module;  // "Model_0/Layer_1/MLP_0", "[Backward]..." of the backward pass
  std::string python;  // "train.py(45): forward": the innermost frame outside of libraries
};

// One place for each row of store.kernels. Stacks are those of the operators, else the Python
// functions around them; an operator of the backward pass stands where its forward operator does.
std::vector<KernelPlace> FindKernelPlaces(const store::TraceStore& store);

// The frame to show of a stack, innermost first: the first that is no part of an installed package,
// else the first. Empty for an empty stack.
std::string_view OwnFrame(const std::vector<std::string_view>& frames);

}  // namespace steplens::analysis
