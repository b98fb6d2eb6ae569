#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "collect/strings.h"

namespace steplens::collect {

// Fields 3 to 7 of an operator (docs/formats/framework.md).
struct InputTexts {
  std::string types;
  std::string shapes;
  std::string tensors;
  std::string lists;
  std::string scalars;
};

// The texts of the words of sl_op.inputs; `out` is overwritten. Counts beyond the end of the words
// are not believed.
void DescribeInputs(std::span<const uint64_t> words, bool with_tensors, const StringTable& strings,
                    InputTexts* out);

// "2,3;;4" from the numbers of sl_op.shapes. What does not fit its own counts is left out.
void AppendShapes(std::span<const uint64_t> words, std::string* out);

// `text` with each byte 1 replaced by the next tensor of `words`, which have addresses; appended to
// `out`. Where tensors are missing nothing takes the byte's place.
void FillInTensors(std::string_view text, std::span<const uint64_t> words,
                   const StringTable& strings, std::string* out);

}  // namespace steplens::collect
