#include "torch_adapter/inputs.h"

#include <ATen/core/Tensor.h>

#include <cstdio>

namespace steplens::torch_adapter {
namespace {

// How an input is called in the list of types: a scalar type's own number, or one of these.
enum Kind : unsigned char { kNone = 200, kTensorList = 201, kScalar = 202, kScalarList = 203 };

bool HasPlainShape(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.is_nested() &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

// The usual kinds first: each question about the elements of a list costs more than the last.
unsigned char KindOf(const c10::IValue& value) {
  if (value.isTensor()) {
    if (!HasPlainShape(value.toTensor())) return kNone;
    return static_cast<unsigned char>(value.toTensor().scalar_type());
  }
  if (value.isNone()) return kNone;
  if (value.isInt() || value.isBool() || value.isDouble() || value.isComplexDouble())
    return kScalar;
  if (!value.isList()) return kNone;
  if (value.isIntList()) return kScalarList;
  if (value.isTensorList() || value.isOptionalTensorList()) return kTensorList;
  return value.isDoubleList() || value.isBoolList() || value.isComplexDoubleList() ? kScalarList
                                                                                   : kNone;
}

std::string_view NameOf(unsigned char kind) {
  switch (kind) {
    case kNone:
      return "None";
    case kTensorList:
      return "TensorList";
    case kScalar:
      return "Scalar";
    case kScalarList:
      return "ScalarList";
    default: {
      const auto name = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(kind)).name();
      return {name.data(), name.size()};
    }
  }
}

sl_string InternKinds(std::string_view kinds) {
  std::string text;
  for (const char kind : kinds) {
    if (!text.empty()) text += ';';
    text += NameOf(static_cast<unsigned char>(kind));
  }
  return InternText(text);
}

void AppendAddress(std::string* out, const void* address) {
  char buffer[32];
  const int length = std::snprintf(buffer, sizeof(buffer), "0x%llx",
                                   reinterpret_cast<unsigned long long>(address));
  out->append(buffer, static_cast<size_t>(length));
}

void AppendList(std::string* out, c10::IntArrayRef values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) *out += ',';
    *out += std::to_string(values[i]);
  }
}

// impl address; storage address; dtype; element size; sizes; strides; device type; device index
void AppendTensor(std::string* out, const at::Tensor& tensor) {
  AppendAddress(out, tensor.unsafeGetTensorImpl());
  *out += ';';
  if (tensor.has_storage()) AppendAddress(out, tensor.storage().data());
  *out += ';';
  *out += NameOf(static_cast<unsigned char>(tensor.scalar_type()));
  *out += ';';
  *out += std::to_string(tensor.element_size());
  *out += ';';
  AppendList(out, tensor.sizes());
  *out += ';';
  if (tensor.layout() == c10::kStrided) AppendList(out, tensor.strides());
  *out += ';';
  *out += std::to_string(static_cast<int>(tensor.device().type()));
  *out += ';';
  *out += std::to_string(static_cast<int>(tensor.device().index()));
}

void AppendTensorList(std::string* out, const c10::IValue& value) {
  for (const c10::IValue& item : value.toListRef()) {
    if (!item.isTensor() || !HasPlainShape(item.toTensor())) continue;
    AppendTensor(out, item.toTensor());
    *out += ')';
  }
}

const char* ScalarKind(const c10::IValue& value) {
  if (value.isBool()) return "Bool";
  if (value.isInt()) return "Int";
  if (value.isDouble()) return "Double";
  if (value.isComplexDouble()) return "Complex";
  return "Others";
}

}  // namespace

void Shapes::Spill(int64_t word) {
  if (more_.empty()) more_.assign(words_, words_ + size_);
  more_.push_back(word);
}

sl_string DescribeInputs(c10::ArrayRef<const c10::IValue> inputs, TextCache<256>* cache,
                         Shapes* shapes) {
  char kinds[64];
  std::string many;
  const bool fits = inputs.size() <= sizeof(kinds);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const unsigned char kind = KindOf(inputs[i]);
    if (fits) {
      kinds[i] = static_cast<char>(kind);
    } else {
      many += static_cast<char>(kind);
    }
    if (kind >= kNone) {
      shapes->Add(-1);
      continue;
    }
    const auto sizes = inputs[i].toTensor().sizes();
    shapes->Add(static_cast<int64_t>(sizes.size()));
    for (const int64_t size : sizes) shapes->Add(size);
  }
  if (inputs.empty()) return 0;
  return cache->Get(fits ? std::string_view(kinds, inputs.size()) : many, InternKinds);
}

TensorTexts DescribeTensors(c10::ArrayRef<const c10::IValue> inputs) {
  TensorTexts out;
  for (const c10::IValue& value : inputs) {
    const unsigned char kind = KindOf(value);
    if (kind < kNone) {
      if (!out.tensors.empty()) out.tensors += ')';
      AppendTensor(&out.tensors, value.toTensor());
    } else if (kind == kTensorList) {
      if (!out.lists.empty()) out.lists += '}';
      AppendTensorList(&out.lists, value);
    } else if (kind == kScalar) {
      if (!out.scalars.empty()) out.scalars += ';';
      out.scalars += ScalarKind(value);
    }
  }
  return out;
}

}  // namespace steplens::torch_adapter
