// Operators and ranges of all threads, by global RecordFunction callbacks.
#ifndef STEPLENS_TORCH_ADAPTER_OPERATORS_H_
#define STEPLENS_TORCH_ADAPTER_OPERATORS_H_

#include "torch_adapter/torch_adapter.h"

namespace steplens::torch_adapter {

// The first InstallOperators does it otherwise.
void PrepareOperators();

// Not for several threads at once. `options` is copied.
void InstallOperators(const slt_options& options);
void RemoveOperators();

// Installs them again so that operators come with their inputs, unless they do already. Operators
// that run are recorded.
void AlsoTakeInputs();

}  // namespace steplens::torch_adapter

#endif
