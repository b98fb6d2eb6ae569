#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis::compare {

// Which sheets are wanted.
struct SheetChoice {
  bool overall = true;
  bool operators = true;  // operator or module sheets
  bool memory = true;
  bool communication = true;
  bool api = true;
  bool kernels = true;
};

// Reads the args of a slice again, as JSON text (readers/slice_args.h). Analyses open no file.
using ArgsReader = std::function<std::string(const store::TraceStore&, store::SliceId)>;

struct SheetOptions {
  SheetChoice wanted{};
  // The reference's rules instead of ours, defects included; docs/differences.md has both.
  bool compat = false;
  bool details = true;                   // off: no detail sheets, and no matching of sequences
  bool modules = true;                   // off: operator level, whatever the input has
  bool kernel_types = false;             // kernels by type and core instead of type and shape
  bool input_shapes = false;             // an operator is its name and its input shapes
  std::optional<int64_t> max_kernels{};  // operators with more kernels are opened
  // Operators of one name that go by another. A '*' in the first stands for any text (not under
  // compat).
  std::vector<std::pair<std::string, std::string>> op_names{};
  std::string gpu_flow_category{};  // empty: those of Kineto
  std::optional<int64_t> base_step{};
  std::optional<int64_t> comparison_step{};
  ArgsReader args{};  // may be empty: task ids that only the trace knows are left out
};

}  // namespace steplens::analysis::compare
