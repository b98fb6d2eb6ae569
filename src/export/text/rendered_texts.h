#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/json_writer.h"
#include "export/text/append.h"
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

  std::string_view operator[](StringId id) {
    std::string_view& form = forms_[static_cast<size_t>(id)];
    if (form.data() == nullptr) form = Keep(render_(store_.Text(id)));
    return form;
  }

 private:
  // Forms lie side by side in blocks that never move; an empty one is somewhere, too.
  std::string_view Keep(std::string_view form) {
    constexpr size_t kBlockBytes = size_t{1} << 16;
    if (form.size() >= room_) {
      room_ = std::max(form.size() + 1, kBlockBytes);
      next_ = blocks_.emplace_back(new char[room_]).get();
    }
    std::memcpy(next_, form.data(), form.size());
    const std::string_view kept(next_, form.size());
    next_ += form.size();
    room_ -= form.size();
    return kept;
  }

  const store::TraceStore& store_;  // outlives this
  Render render_;
  std::vector<std::string_view> forms_;  // by StringId; without data: not made yet
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0;
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
