// What is kept of an operator's inputs: types and shapes and, for the memory timeline, the tensors
// themselves, as the words of sl_op.inputs.
#ifndef STEPLENS_TORCH_ADAPTER_INPUTS_H_
#define STEPLENS_TORCH_ADAPTER_INPUTS_H_

#include <ATen/core/ivalue.h>
#include <steplens/collect.h>

#include <cstdlib>

namespace steplens::torch_adapter {

// Words that grow; few of them need no allocation. Without memory they stop growing.
class Words {
 public:
  Words() {}  // NOLINT: Words{} would fill inline_ with zeros
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (data_ != inline_) std::free(data_);
  }

  // The place of the next `count` words, which are the caller's to fill; nullptr: no memory.
  uint64_t* Add(uint32_t count) {
    if (__builtin_expect(count > capacity_ - size_, 0) && !Grow(count)) return nullptr;
    uint64_t* place = data_ + size_;
    size_ += count;
    return place;
  }
  // Gives up all but the first `size`.
  void Truncate(uint32_t size) {
    if (size < size_) size_ = size;
  }
  const uint64_t* data() const { return data_; }
  uint32_t size() const { return size_; }

 private:
  bool Grow(uint32_t count);

  static constexpr uint32_t kInline = 64;
  uint64_t* data_ = inline_;
  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
  uint64_t inline_[kInline];
};

// Before the first AddInputs: the texts of types get their ids.
void PrepareInputs();

// Appends the words of all inputs; with_tensors as in sl_op.
void AddInputs(c10::ArrayRef<const c10::IValue> inputs, bool with_tensors, Words* out);

// Appends the words of one tensor with its addresses; `tensor` is its c10::TensorImpl.
void AddTensorAt(const void* tensor, Words* out);

}  // namespace steplens::torch_adapter

#endif
