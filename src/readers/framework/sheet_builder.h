#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "store/trace_store.h"

namespace steplens::readers {

// Fills a table the store has no columns for. A column is numbers or texts from its first row on.
class SheetBuilder {
 public:
  SheetBuilder(std::string name, std::initializer_list<std::string_view> columns) {
    sheet_.name = std::move(name);
    for (const std::string_view column : columns) {
      sheet_.columns.emplace_back().name = std::string(column);
    }
  }
  // The cells of a row come in order of the columns; each row fills all of them.
  SheetBuilder& Number(double value) {
    Next().numbers.Append(value);
    return *this;
  }
  SheetBuilder& Text(StringId value) {
    Next().texts.Append(value);
    return *this;
  }
  // Adds the sheet to the store unless it has no rows.
  void Finish(store::TraceStore& out) {
    if (sheet_.size() > 0) out.sheets.push_back(std::move(sheet_));
  }

 private:
  store::DynamicColumn& Next() {
    store::DynamicColumn& column = sheet_.columns[next_];
    next_ = (next_ + 1) % sheet_.columns.size();
    return column;
  }
  store::DynamicTable sheet_;
  size_t next_ = 0;
};

}  // namespace steplens::readers
