// What is kept of an operator's inputs: shapes, types and, for the memory timeline, the tensors
// themselves.
#ifndef STEPLENS_TORCH_ADAPTER_INPUTS_H_
#define STEPLENS_TORCH_ADAPTER_INPUTS_H_

#include <ATen/core/ivalue.h>
#include <steplens/collect.h>

#include <string>
#include <vector>

#include "torch_adapter/text_cache.h"

namespace steplens::torch_adapter {

// Shapes in the form of sl_op::shapes. Small ones need no allocation.
class Shapes {
 public:
  void Add(int64_t word) {
    if (size_ < kInline) {
      words_[size_++] = word;
    } else {
      Spill(word);
    }
  }
  const int64_t* data() const { return more_.empty() ? words_ : more_.data(); }
  uint32_t size() const { return more_.empty() ? size_ : static_cast<uint32_t>(more_.size()); }

 private:
  void Spill(int64_t word);

  static constexpr uint32_t kInline = 40;
  int64_t words_[kInline];
  uint32_t size_ = 0;
  std::vector<int64_t> more_;  // everything, once kInline is not enough
};

// Fills `shapes` and returns the text of the types: "float;Scalar;None". `cache` belongs to the
// calling thread.
sl_string DescribeInputs(c10::ArrayRef<const c10::IValue> inputs, TextCache<256>* cache,
                         Shapes* shapes);

// The texts of tags 5 (tensors), 6 (tensor lists) and 7 (scalars); empty where there is none.
struct TensorTexts {
  std::string tensors;
  std::string lists;
  std::string scalars;
};
TensorTexts DescribeTensors(c10::ArrayRef<const c10::IValue> inputs);

}  // namespace steplens::torch_adapter

#endif
