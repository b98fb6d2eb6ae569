#include "readers/chrome/structural_index.h"

#include <simdjson.h>

#include <algorithm>

namespace steplens::readers {

// simdjson's first stage alone. Its parsers walk the index one function call a token; trace events
// are so regular that a loop over the index does the same in half the time.
struct StructuralIndex::Impl {
  simdjson::dom::parser parser;
};

StructuralIndex::StructuralIndex() : impl_(std::make_unique<Impl>()) {}
StructuralIndex::~StructuralIndex() = default;

bool StructuralIndex::Build(std::string_view text) {
  constexpr size_t kDepth = 1;  // of stage two, which is not used
  simdjson::dom::parser& parser = impl_->parser;
  if (parser.capacity() < text.size() || !parser.implementation) {
    const size_t capacity = std::max(text.size(), 2 * parser.capacity());
    if (parser.allocate(capacity, kDepth) != simdjson::SUCCESS) return false;
  }
  return parser.implementation->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                       simdjson::stage1_mode::regular) == simdjson::SUCCESS;
}

const uint32_t* StructuralIndex::begin() const {
  return impl_->parser.implementation->structural_indexes.get();
}
const uint32_t* StructuralIndex::end() const {
  return begin() + impl_->parser.implementation->n_structural_indexes;
}

std::string_view TokenCursor::TakeNested() {
  const uint32_t begin = *position_;
  int64_t depth = 0;
  do {
    const char token = Peek();
    if (token == '\0') return {};
    if (token == '{' || token == '[') ++depth;
    if (token == '}' || token == ']') --depth;
    ++position_;
  } while (depth > 0);
  return {text_ + begin, position_[-1] + 1 - begin};
}

}  // namespace steplens::readers
