#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/file_out.h"
#include "export/text/rendered_texts.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// The array of events that a trace file is, and the members that events share. An event is begun,
// filled through text() and closed by its writer. Not thread safe.
class TraceEvents {
 public:
  // Both must outlive this.
  TraceEvents(const store::TraceStore& store, FileOut& file);

  TextBuffer& text() { return out_; }
  // A text of the store as JSON.
  std::string_view Json(StringId text) { return texts_[text]; }

  void Begin() {
    file_.Tick();
    out_ += is_first_ ? std::string_view("{") : std::string_view(", {");
    is_first_ = false;
  }
  // "pid": 1, "tid": 2,
  std::string_view PlaceOf(store::TrackId track) const {
    const auto i = static_cast<size_t>(track);
    return i < places_.size() ? std::string_view(places_[i]) : "\"pid\": 0, \"tid\": 0, ";
  }
  void Place(store::TrackId track) { out_ += PlaceOf(track); }
  void Pid(size_t track) { out_ += pids_[track]; }
  void Ts(int64_t ns) {
    out_ += "\"ts\": \"";
    out_.Us(ns);
    out_ += '"';
  }
  void Dur(int64_t ns) {
    out_ += ", \"dur\": ";
    out_.UsNumber(ns);
  }
  // Ids are numbers where they are written as such.
  static std::string IdJson(std::string_view id);

 private:
  FileOut& file_;
  TextBuffer& out_;
  RenderedTexts<RenderText> texts_;
  std::vector<std::string> places_;  // of each track
  std::vector<std::string> pids_;    // of each track, its own
  bool is_first_ = true;
};

}  // namespace steplens::exporting
