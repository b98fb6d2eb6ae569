#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace steplens::exporting {

// A tensor as the recorder wrote it: eight items joined by ';' (addresses, type, sizes, device).
struct RecordedTensor {
  int64_t storage = 0;  // address
  int64_t size_bytes = 0;
};

// One tensor. False if it has no storage or is not one.
bool ParseTensor(std::string_view text, RecordedTensor& out);

// The tensors of an operator, joined by ')'; lists of them end with '}'.
std::vector<RecordedTensor> ParseTensors(std::string_view text);

// The tensors of modules and optimisers (sheet framework_params).
struct RecordedParameters {
  std::vector<RecordedTensor> parameters;
  std::vector<RecordedTensor> gradients;
  std::vector<RecordedTensor> states;
};
// Module parameters: "name)tensor)gradient" joined by '}'.
void ParseModuleParameters(std::string_view text, RecordedParameters& out);
// Optimiser parameters: "tensor)gradient)state" joined by '}', state = "name>tensor]" repeated.
void ParseOptimizerParameters(std::string_view text, RecordedParameters& out);

}  // namespace steplens::exporting
