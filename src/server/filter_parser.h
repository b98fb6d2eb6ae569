#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/slice_filter.h"

namespace steplens::server {

// Reads the filter language, by recursive descent:
//
//   any  := all ("or" all)*
//   all  := one (["and"] one)*
//   one  := "not" one | "(" any ")" | term
//   term := field operator value
class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : text_(text), rest_(text) {}

  // Whether a text is meant as terms: behind opening parentheses and "not" comes a field with an
  // operator. Everything else is a name.
  static bool LooksLikeTerms(std::string_view text);

  Result<SliceFilter> Parse();

 private:
  using Term = SliceFilter::Term;
  using Field = SliceFilter::Field;

  // A field and an operator at the front of a text.
  struct Head {
    Field field = Field::kName;
    std::string_view name;  // as written
    std::string arg{};
    std::string_view op;
    std::string_view rest;  // behind the operator
  };
  static std::optional<Head> ReadHead(std::string_view text);

  Result<uint32_t> Any(int depth);
  Result<uint32_t> All(int depth);
  Result<uint32_t> One(int depth);
  Result<uint32_t> ReadTerm();
  Result<std::vector<std::string>> ReadValues(const Head& head);
  Result<std::string> ReadValue(const Head& head, bool in_list);
  bool TakeWord(std::string_view word);
  uint32_t AddNode(SliceFilter::Join join, std::vector<uint32_t> parts);

  std::string_view text_;
  std::string_view rest_;
  SliceFilter out_;
};

}  // namespace steplens::server
