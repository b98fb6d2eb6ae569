#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "query/database.h"

namespace steplens::cli {

// Prints rows to stdout while they are found, in large pieces.
class RowPrinter : public query::RowSink {
 public:
  ~RowPrinter() override;
  // After the last row.
  virtual Status End() = 0;

 protected:
  // Prints what has gathered if that is much; `Flush` in any case.
  Status FlushIfLarge();
  Status Flush();

  std::string out_;  // not printed yet
};

// `format`: csv or json, in the layout of table::ToCsv and table::ToJson. `is_safe`: texts in csv
// are guarded as GuardedCell does.
std::unique_ptr<RowPrinter> MakeRowPrinter(std::string_view format, bool is_safe = false);

}  // namespace steplens::cli
