#include "export/single/tensor_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/number.h"

namespace steplens::exporting {
namespace {

// Takes the part up to the separator off the front.
std::string_view TakePart(std::string_view& text, char separator) {
  const size_t cut = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, cut);
  text.remove_prefix(std::min(cut + 1, text.size()));
  return part;
}

// "0x7f..." -> its value; 0 for anything else.
int64_t ParseAddress(std::string_view text) {
  if (!text.starts_with("0x")) return 0;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? static_cast<int64_t>(value) : 0;
}

void Add(std::string_view tensor, std::vector<RecordedTensor>& out) {
  RecordedTensor parsed;
  if (ParseTensor(tensor, parsed)) out.push_back(parsed);
}

}  // namespace

bool ParseTensor(std::string_view text, RecordedTensor& out) {
  constexpr size_t kItems = 8;
  if (static_cast<size_t>(std::count(text.begin(), text.end(), ';')) + 1 < kItems) return false;
  TakePart(text, ';');  // address of the tensor object
  out.storage = ParseAddress(TakePart(text, ';'));
  if (out.storage == 0) return false;
  TakePart(text, ';');  // type
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  out.size_bytes = ParseInt64(TakePart(text, ';')).value_or(0);
  std::string_view sizes = TakePart(text, ';');
  while (!sizes.empty()) {
    const int64_t size = std::max<int64_t>(0, ParseInt64(TakePart(sizes, ',')).value_or(0));
    if (__builtin_mul_overflow(out.size_bytes, size, &out.size_bytes)) out.size_bytes = kMax;
  }
  return true;
}

std::vector<RecordedTensor> ParseTensors(std::string_view text) {
  std::vector<RecordedTensor> tensors;
  while (!text.empty()) {
    std::string_view list = TakePart(text, '}');
    while (!list.empty()) Add(TakePart(list, ')'), tensors);
  }
  return tensors;
}

void ParseModuleParameters(std::string_view text, RecordedParameters& out) {
  while (!text.empty()) {
    std::string_view item = TakePart(text, '}');
    TakePart(item, ')');  // name
    Add(TakePart(item, ')'), out.parameters);
    Add(TakePart(item, ')'), out.gradients);
  }
}

void ParseOptimizerParameters(std::string_view text, RecordedParameters& out) {
  while (!text.empty()) {
    std::string_view item = TakePart(text, '}');
    Add(TakePart(item, ')'), out.parameters);
    Add(TakePart(item, ')'), out.gradients);
    while (!item.empty()) {
      std::string_view state = TakePart(item, ']');
      TakePart(state, '>');  // name
      Add(state, out.states);
    }
  }
}

}  // namespace steplens::exporting
