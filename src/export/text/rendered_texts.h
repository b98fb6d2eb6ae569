#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/json_writer.h"
#include "export/text/append.h"
#include "export/text/padded_texts.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// Texts of a store in the form a file wants them, each made once: names, shapes and stacks repeat
// by the million. `render(text)` returns the form as std::string; views live as long as this. Not
// thread safe.
template <typename Render>
class RenderedTexts {
 public:
  RenderedTexts(const store::TraceStore& store, Render render)
      : store_(store), render_(render), forms_(store.strings.size()) {}

  PaddedView operator[](StringId id) {
    PaddedView& form = forms_[static_cast<size_t>(id)];
    if (form.data() == nullptr) form = texts_.Keep(render_(store_.Text(id)));
    return form;
  }

 private:
  const store::TraceStore& store_;  // outlives this
  Render render_;
  std::vector<PaddedView> forms_;  // by StringId; without data: not made yet
  PaddedTexts texts_;
};

using RenderText = std::string (*)(std::string_view);

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
