#include "collect/op_inputs.h"

#include <algorithm>
#include <charconv>

#include "steplens/collect.h"

namespace steplens::collect {
namespace {

void AppendNumber(int64_t value, std::string* out) {
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void AppendAddress(uint64_t address, std::string* out) {
  char digits[24] = {'0', 'x'};
  out->append(digits, std::to_chars(digits + 2, digits + sizeof(digits), address, 16).ptr);
}

void AppendList(std::span<const uint64_t> numbers, std::string* out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) *out += ',';
    AppendNumber(static_cast<int64_t>(numbers[i]), out);
  }
}

// The parts of a word made by SL_INPUT.
struct Head {
  explicit Head(uint64_t word)
      : type(static_cast<uint32_t>(word & 0xFFFFFF)),
        dimensions(static_cast<uint32_t>(word >> 24 & 0xFFF)),
        kind(static_cast<uint8_t>(word >> 36 & 0xF)),
        element_size(static_cast<uint8_t>(word >> 40)),
        device_type(static_cast<int8_t>(word >> 48)),
        device_index(static_cast<int8_t>(word >> 56)) {}
  bool is_tensor() const { return (kind & SL_INPUT_TENSOR) != 0; }

  uint32_t type;
  uint32_t dimensions;
  uint8_t kind;
  uint8_t element_size;
  int8_t device_type;
  int8_t device_index;
};

// Takes words from the front; there are fewer than asked for where the text was cut.
class Words {
 public:
  explicit Words(std::span<const uint64_t> words) : left_(words) {}
  bool empty() const { return left_.empty(); }
  uint64_t One() {
    const std::span<const uint64_t> word = Take(1);
    return word.empty() ? 0 : word[0];
  }
  std::span<const uint64_t> Take(size_t count) {
    const std::span<const uint64_t> out = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(out.size());
    return out;
  }

 private:
  std::span<const uint64_t> left_;
};

struct TensorWords {
  Head head;
  uint64_t address = 0;
  uint64_t storage = 0;
  std::span<const uint64_t> sizes;
  std::span<const uint64_t> strides;
};

TensorWords TakeTensor(Head head, bool with_addresses, Words* words) {
  TensorWords out{head, 0, 0, {}, {}};
  if (with_addresses) out.address = words->One();
  if (with_addresses && (head.kind & SL_INPUT_HAS_STORAGE) != 0) out.storage = words->One();
  out.sizes = words->Take(head.dimensions);
  if (with_addresses && (head.kind & SL_INPUT_STRIDED) != 0) {
    out.strides = words->Take(head.dimensions);
  }
  return out;
}

// impl address; storage address; dtype; element size; sizes; strides; device type; device index
void AppendTensor(const TensorWords& tensor, const StringTable& strings, std::string* out) {
  AppendAddress(tensor.address, out);
  *out += ';';
  if ((tensor.head.kind & SL_INPUT_HAS_STORAGE) != 0) AppendAddress(tensor.storage, out);
  *out += ';';
  *out += strings.View(tensor.head.type);
  *out += ';';
  AppendNumber(tensor.head.element_size, out);
  *out += ';';
  AppendList(tensor.sizes, out);
  *out += ';';
  AppendList(tensor.strides, out);
  *out += ';';
  AppendNumber(tensor.head.device_type, out);
  *out += ';';
  AppendNumber(tensor.head.device_index, out);
}

void AppendTensorList(const StringTable& strings, Words* words, std::string* out) {
  for (uint64_t left = words->One(); left != 0 && !words->empty(); --left) {
    AppendTensor(TakeTensor(Head(words->One()), true, words), strings, out);
    *out += ')';
  }
}

const char* ScalarName(uint8_t kind) {
  switch (kind) {
    case SL_INPUT_BOOL:
      return "Bool";
    case SL_INPUT_INT:
      return "Int";
    case SL_INPUT_DOUBLE:
      return "Double";
    default:
      return "Complex";
  }
}

void Separate(char separator, std::string* out) {
  if (!out->empty()) *out += separator;
}

}  // namespace

void DescribeInputs(std::span<const uint64_t> words, bool with_tensors, const StringTable& strings,
                    InputTexts* out) {
  for (std::string* text : {&out->types, &out->shapes, &out->tensors, &out->lists, &out->scalars}) {
    text->clear();
  }
  Words left(words);
  for (bool is_first = true; !left.empty(); is_first = false) {
    const Head head(left.One());
    if (!is_first) out->types += ';', out->shapes += ';';
    out->types += strings.View(head.type);
    if (head.is_tensor()) {
      const TensorWords tensor = TakeTensor(head, with_tensors, &left);
      AppendList(tensor.sizes, &out->shapes);
      if (!with_tensors) continue;
      Separate(')', &out->tensors);
      AppendTensor(tensor, strings, &out->tensors);
    } else if (head.kind == SL_INPUT_LIST && with_tensors) {
      Separate('}', &out->lists);
      AppendTensorList(strings, &left, &out->lists);
    } else if (head.kind >= SL_INPUT_BOOL && head.kind <= SL_INPUT_COMPLEX) {
      Separate(';', &out->scalars);
      out->scalars += ScalarName(head.kind);
    }
  }
}

void FillInTensors(std::string_view text, std::span<const uint64_t> words,
                   const StringTable& strings, std::string* out) {
  Words left(words);
  for (const char letter : text) {
    if (letter != '\x01') {
      *out += letter;
    } else if (!left.empty()) {
      AppendTensor(TakeTensor(Head(left.One()), true, &left), strings, out);
    }
  }
}

void AppendShapes(std::span<const uint64_t> words, std::string* out) {
  Words left(words);
  for (bool is_first = true; !left.empty(); is_first = false) {
    if (!is_first) *out += ';';
    const auto dimensions = static_cast<int64_t>(left.One());
    AppendList(left.Take(dimensions > 0 ? static_cast<size_t>(dimensions) : 0), out);
  }
}

}  // namespace steplens::collect
