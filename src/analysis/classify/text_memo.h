#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// What the text of an id says (predicate(std::string_view) -> bool), asked once per distinct text
// of a store.
template <typename Predicate>
class TextMemo {
 public:
  // The store must outlive the memo.
  TextMemo(const store::TraceStore& store, Predicate predicate)
      : store_(store), predicate_(predicate), known_(store.strings.size(), kUnknown) {}

  bool operator()(StringId id) {
    int8_t& known = known_[static_cast<size_t>(id)];
    if (known == kUnknown) known = predicate_(store_.Text(id)) ? 1 : 0;
    return known == 1;
  }

 private:
  static constexpr int8_t kUnknown = -1;
  const store::TraceStore& store_;
  Predicate predicate_;
  std::vector<int8_t> known_;
};

}  // namespace steplens::analysis
