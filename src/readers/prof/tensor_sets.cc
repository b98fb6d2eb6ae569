#include "readers/prof/tensor_sets.h"

#include <fmt/format.h>

#include "format/bytes.h"
#include "format/prof/host_records.h"
#include "readers/prof/enum_names.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {

uint32_t TensorSets::Add(std::string_view tensors) {
  const auto [place, is_new] =
      sets_.try_emplace(std::string(tensors), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&place->first);
  return place->second;
}

uint32_t TensorSets::Join(uint32_t first, uint32_t second) {
  return Add(fmt::format("{}{}", Get(first), Get(second)));
}

TensorTexts DescribeTensors(std::string_view tensors, StringPool& strings) {
  struct Texts {
    std::string shapes;
    std::string types;
    std::string formats;
    bool is_empty = true;
  };
  Texts sides[2];
  const format::Bytes bytes = format::AsBytes(tensors);
  for (size_t at = 0; at + sizeof(format::prof::Tensor) <= bytes.size();
       at += sizeof(format::prof::Tensor)) {
    const auto tensor = format::Load<format::prof::Tensor>(bytes, at);
    if (tensor.kind > 1) continue;
    Texts& texts = sides[tensor.kind];
    if (!texts.is_empty) {
      texts.shapes += ';';
      texts.types += ';';
      texts.formats += ';';
    }
    texts.is_empty = false;
    for (size_t i = 0; i < kLengthOf<decltype(tensor.shape)> && tensor.shape[i] != 0; ++i) {
      const uint32_t length = tensor.shape[i];
      fmt::format_to(std::back_inserter(texts.shapes), "{}{}", i == 0 ? "" : ",", length);
    }
    texts.types += TensorTypeName(tensor.data_type);
    texts.formats += TensorFormatName(tensor.format);
  }
  TensorTexts out;
  out.input_shapes = strings.Intern(sides[0].shapes);
  out.input_types = strings.Intern(sides[0].types);
  out.input_formats = strings.Intern(sides[0].formats);
  out.output_shapes = strings.Intern(sides[1].shapes);
  out.output_types = strings.Intern(sides[1].types);
  out.output_formats = strings.Intern(sides[1].formats);
  return out;
}

}  // namespace steplens::readers::prof
