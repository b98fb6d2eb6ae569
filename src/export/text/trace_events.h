#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/file_out.h"
#include "export/text/rendered_texts.h"
#include "store/trace_store.h"

namespace steplens::exporting {

inline constexpr int64_t kMindSporePid = 1;  // of the lane MindSpore, and its place

// The array of events that a trace file is, and the members that events share. An event is begun,
// filled through text() and closed by its writer. Not thread safe.
class TraceEvents {
 public:
  // Both must outlive this. `own_lane`: the tracks whose process is MindSpore's lane, by track;
  // empty: none.
  TraceEvents(const store::TraceStore& store, FileOut& file, std::vector<bool> own_lane = {});

  TextBuffer& text() { return out_; }
  // A text of the store as the member an event begins with: "name": "aten::mul",
  PaddedView Name(StringId text) { return names_[text]; }
  // A text of the store as JSON.
  std::string_view Json(StringId text) {
    std::string_view json = names_[text];
    json.remove_prefix(kNameKey.size());
    json.remove_suffix(kNext.size());
    return json;
  }
  // A text of one's own that a pen can write.
  PaddedView Keep(std::string_view text) { return kept_.Keep(text); }

  void Begin() {
    file_.Tick();
    out_ += is_first_ ? std::string_view("{") : std::string_view(", {");
    is_first_ = false;
  }
  // "pid": 1, "tid": 2, "ts": "
  PaddedView UntilTs(store::TrackId track) const {
    const auto i = static_cast<size_t>(track);
    return i < places_.size() ? places_[i] : no_place_;
  }
  // "pid": 1, "tid": 2,
  std::string_view PlaceOf(store::TrackId track) const {
    std::string_view place = UntilTs(track);
    place.remove_suffix(kTsKey.size());
    return place;
  }
  void Place(store::TrackId track) { out_ += PlaceOf(track); }
  void Pid(size_t track) { out_ += pids_[track]; }
  void Ts(int64_t ns) {
    out_ += kTsKey;
    out_.Us(ns);
    out_ += '"';
  }
  // Ids are numbers where they are written as such.
  static std::string IdJson(std::string_view id);

 private:
  static constexpr std::string_view kNameKey = "\"name\": ";
  static constexpr std::string_view kNext = ", ";
  static constexpr std::string_view kTsKey = "\"ts\": \"";
  static std::string NameMember(std::string_view text);

  FileOut& file_;
  TextBuffer& out_;
  RenderedTexts<RenderText> names_;
  PaddedTexts kept_;
  std::vector<PaddedView> places_;  // of each track
  PaddedView no_place_;
  std::vector<std::string> pids_;  // of each track, its own
  bool is_first_ = true;
};

}  // namespace steplens::exporting
