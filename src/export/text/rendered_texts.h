#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/json_writer.h"
#include "export/text/append.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// Texts of a store in the form a file wants them, each made once: names, shapes and stacks repeat
// by the million. `render(text)` returns the form as std::string. Not thread safe.
template <typename Render>
class RenderedTexts {
 public:
  RenderedTexts(const store::TraceStore& store, Render render)
      : store_(store), render_(render), texts_(store.strings.size()), known_(texts_.size()) {}

  std::string_view operator[](StringId id) {
    const auto i = static_cast<size_t>(id);
    if (!known_[i]) {
      texts_[i] = render_(store_.Text(id));
      known_[i] = true;
    }
    return texts_[i];
  }

 private:
  const store::TraceStore& store_;  // outlives this
  Render render_;
  std::vector<std::string> texts_;
  std::vector<bool> known_;
};

inline std::string JsonText(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}
inline std::string JsonLines(std::string_view text) { return JsonText(WithLineBreaks(text)); }
inline std::string CsvText(std::string_view text) {
  std::string out;
  AppendCsvCell(out, text);
  return out;
}
inline std::string CsvLines(std::string_view text) { return CsvText(WithLineBreaks(text)); }

}  // namespace steplens::exporting
