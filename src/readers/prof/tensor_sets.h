#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"

namespace steplens::readers::prof {

// The tensors of operators, each distinct list once: a training step has few. A list is the bytes
// of its tensors as recorded (format::prof::Tensor).
class TensorSets {
 public:
  static constexpr uint32_t kEmpty = 0;
  TensorSets() { Add({}); }

  uint32_t Add(std::string_view tensors);
  // The list of `first` followed by `second`.
  uint32_t Join(uint32_t first, uint32_t second);
  std::string_view Get(uint32_t set) const { return *texts_[set]; }
  size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, uint32_t> sets_;
  std::vector<const std::string*> texts_;  // keys of sets_, which stay where they are
};

// A list as results show it: "4096,1024;1024,4096", "DT_BF16;DT_BF16", "ND;ND".
struct TensorTexts {
  StringId input_shapes = StringId::kEmpty;
  StringId input_types = StringId::kEmpty;
  StringId input_formats = StringId::kEmpty;
  StringId output_shapes = StringId::kEmpty;
  StringId output_types = StringId::kEmpty;
  StringId output_formats = StringId::kEmpty;
};
TensorTexts DescribeTensors(std::string_view tensors, StringPool& strings);

}  // namespace steplens::readers::prof
