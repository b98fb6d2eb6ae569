#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "table/table.h"

namespace steplens::mcp {

// The text of a tool's answer, kept small: agents pay for every character. At most kMaxChars; what
// does not fit is counted, never silently missing.
class Answer {
 public:
  static constexpr size_t kMaxChars = 7600;

  // A line of text; long ones are shortened.
  void Line(std::string_view text);
  // "name:" and the rows from `offset` on, at most `limit`, cells between bars; then how many rows
  // there are if some are missing. Columns without any value are left out.
  void Table(const table::Table& table, size_t limit, size_t offset = 0,
             std::string_view title = "");
  // The SQL that gives the numbers above.
  void Query(std::string_view sql);

  bool is_full() const { return text_.size() >= kMaxChars; }
  // With a word on what was cut off.
  std::string Take();

 private:
  std::string text_;
  bool is_cut_ = false;
};

// A text of at most `most` bytes, cut between characters, with "..." where something is missing.
std::string Shortened(std::string_view text, size_t most);

}  // namespace steplens::mcp
