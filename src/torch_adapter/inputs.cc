#include "torch_adapter/inputs.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "torch_adapter/text_cache.h"

namespace steplens::torch_adapter {
namespace {

constexpr size_t kTypes = static_cast<size_t>(c10::ScalarType::NumOptions);
constexpr uint32_t kMaxDimensions = 0xFFF;   // what SL_INPUT has room for
constexpr uint32_t kMaxWords = 1024 * 1024;  // far more than a record may have

// The first words of inputs, all but what differs from tensor to tensor. Set by PrepareInputs.
struct Heads {
  std::array<uint64_t, kTypes> tensors;                // of a scalar type
  uint64_t none, closed_list, open_list, scalar_list;  // an open list is followed by its tensors
  std::array<uint64_t, SL_INPUT_COMPLEX + 1> scalars;  // of a kind
};
Heads heads;

uint64_t HeadOf(std::string_view type, uint64_t kind, uint64_t element_size = 0) {
  return SL_INPUT(InternText(type), 0, kind, element_size, 0, 0);
}

bool HasPlainShape(const c10::TensorImpl* tensor) {
  return tensor != c10::UndefinedTensorImpl::singleton() && !tensor->is_nested() &&
         !tensor->has_symbolic_sizes_strides();
}

void CopyWords(c10::IntArrayRef from, uint32_t count, uint64_t* to) {
  const int64_t* numbers = from.data();
  for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<uint64_t>(numbers[i]);
}

inline __attribute__((always_inline)) void AddTensor(const c10::TensorImpl* tensor,
                                                     bool with_addresses, Words* out) {
  const c10::IntArrayRef sizes = tensor->sizes();
  const auto dimensions = static_cast<uint32_t>(std::min<size_t>(sizes.size(), kMaxDimensions));
  uint64_t head = heads.tensors[static_cast<size_t>(c10::typeMetaToScalarType(tensor->dtype()))] |
                  uint64_t{dimensions} << 24;
  if (!with_addresses) {
    uint64_t* place = out->Add(1 + dimensions);
    if (!place) return;
    *place = head;
    return CopyWords(sizes, dimensions, place + 1);
  }
  const bool has_storage = tensor->has_storage();
  const bool is_strided = tensor->layout() == c10::kStrided;
  const c10::Device device = tensor->device();
  head |=
      SL_INPUT(0, 0, (has_storage ? SL_INPUT_HAS_STORAGE : 0), 0, device.type(), device.index());
  head |= SL_INPUT(0, 0, (is_strided ? SL_INPUT_STRIDED : 0), 0, 0, 0);
  uint64_t* place = out->Add(2 + (has_storage ? 1 : 0) + dimensions * (is_strided ? 2 : 1));
  if (!place) return;
  *place++ = head;
  *place++ = reinterpret_cast<uint64_t>(tensor);
  if (has_storage) *place++ = reinterpret_cast<uint64_t>(tensor->unsafe_storage().data());
  CopyWords(sizes, dimensions, place);
  if (is_strided) CopyWords(tensor->strides(), dimensions, place + dimensions);
}

inline __attribute__((always_inline)) void AddWord(uint64_t word, Words* out) {
  if (uint64_t* place = out->Add(1)) *place = word;
}

const c10::TensorImpl* PlainTensor(const c10::IValue& value) {
  if (!value.isTensor()) return nullptr;
  const c10::TensorImpl* tensor = value.unsafeToTensorImpl();
  return HasPlainShape(tensor) ? tensor : nullptr;
}

void AddTensorList(const c10::IValue& value, Words* out) {
  AddWord(heads.open_list, out);
  const auto items = value.toListRef();
  const auto is_plain = [](const c10::IValue& item) { return PlainTensor(item) != nullptr; };
  AddWord(static_cast<uint64_t>(std::count_if(items.begin(), items.end(), is_plain)), out);
  for (const c10::IValue& item : items) {
    if (const c10::TensorImpl* tensor = PlainTensor(item)) AddTensor(tensor, true, out);
  }
}

// Each question about the elements of a list costs more than the last.
void AddList(const c10::IValue& value, bool with_tensors, Words* out) {
  if (value.isIntList()) return AddWord(heads.scalar_list, out);
  if (value.isTensorList() || value.isOptionalTensorList()) {
    return with_tensors ? AddTensorList(value, out) : AddWord(heads.closed_list, out);
  }
  const bool is_scalars = value.isDoubleList() || value.isBoolList() || value.isComplexDoubleList();
  AddWord(is_scalars ? heads.scalar_list : heads.none, out);
}

uint64_t HeadOfOther(const c10::IValue& value) {
  if (value.isInt()) return heads.scalars[SL_INPUT_INT];
  if (value.isBool()) return heads.scalars[SL_INPUT_BOOL];
  if (value.isDouble()) return heads.scalars[SL_INPUT_DOUBLE];
  if (value.isComplexDouble()) return heads.scalars[SL_INPUT_COMPLEX];
  return heads.none;
}

}  // namespace

bool Words::Grow(uint32_t count) {
  if (count > kMaxWords || size_ > kMaxWords) return false;
  const uint32_t wanted = std::max(capacity_ * 2, size_ + count);
  auto* memory = static_cast<uint64_t*>(
      std::realloc(data_ == inline_ ? nullptr : data_, wanted * sizeof(uint64_t)));
  if (!memory) return false;
  if (data_ == inline_) std::memcpy(memory, inline_, size_ * sizeof(uint64_t));
  data_ = memory;
  capacity_ = wanted;
  return true;
}

void PrepareInputs() {
  for (size_t i = 0; i < kTypes; ++i) {
    const auto type = static_cast<c10::ScalarType>(i);
    const auto meta =
        type == c10::ScalarType::Undefined ? caffe2::TypeMeta() : c10::scalarTypeToTypeMeta(type);
    const auto name = meta.name();
    heads.tensors[i] = HeadOf({name.data(), name.size()}, SL_INPUT_TENSOR, meta.itemsize());
  }
  heads.none = HeadOf("None", SL_INPUT_OTHER);
  heads.closed_list = HeadOf("TensorList", SL_INPUT_OTHER);
  heads.open_list = HeadOf("TensorList", SL_INPUT_LIST);
  heads.scalar_list = HeadOf("ScalarList", SL_INPUT_OTHER);
  for (size_t kind = 0; kind < heads.scalars.size(); ++kind) {
    heads.scalars[kind] = HeadOf("Scalar", kind);
  }
}

void AddInputs(c10::ArrayRef<const c10::IValue> inputs, bool with_tensors, Words* out) {
  for (const c10::IValue& value : inputs) {
    if (const c10::TensorImpl* tensor = PlainTensor(value)) {
      AddTensor(tensor, with_tensors, out);
    } else if (value.isList()) {
      AddList(value, with_tensors, out);
    } else {
      AddWord(HeadOfOther(value), out);
    }
  }
}

void AddTensorAt(const void* tensor, Words* out) {
  AddTensor(static_cast<const c10::TensorImpl*>(tensor), true, out);
}

}  // namespace steplens::torch_adapter
