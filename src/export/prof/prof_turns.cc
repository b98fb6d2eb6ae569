#include "export/prof/prof_turns.h"

#include <cstdint>
#include <map>
#include <utility>

namespace steplens::exporting {
namespace {

// Tracks of streams by device and stream.
std::map<std::pair<int64_t, int64_t>, size_t> StreamTracks(const ProfFacts& facts) {
  std::map<std::pair<int64_t, int64_t>, size_t> tracks;
  for (size_t i = 0; i < facts.timeline.tracks.size(); ++i) {
    const TrackFacts& track = facts.timeline.tracks[i];
    if (track.process == "Ascend Hardware") tracks.try_emplace({track.device, track.tid}, i);
  }
  return tracks;
}

}  // namespace

void WriteProfTurns(const ProfFacts& facts, TraceEvents& events,
                    const std::function<void(size_t track)>& use_track) {
  const store::DynamicTable* sheet = FindSheet(facts.store, "prof_turns");
  if (sheet == nullptr) return;
  enum Column : size_t { kDevice, kTime, kLength, kName, kStream, kTask };
  const auto tracks = StreamTracks(facts);
  TextBuffer& out = events.text();
  for (size_t row = 0; row < sheet->size(); ++row) {
    const auto number = [&](Column column) {
      return static_cast<int64_t>(sheet->columns[column].numbers[row]);
    };
    const auto track = tracks.find({number(kDevice), number(kStream)});
    if (track == tracks.end()) continue;
    use_track(track->second);
    events.Begin();
    out += events.Name(sheet->columns[kName].texts[row]);
    events.Place(store::TrackId{static_cast<uint32_t>(track->second)});
    events.Ts(facts.begin_ns + number(kTime));
    out += ", \"dur\": ";
    out.UsNumber(number(kLength));
    out += ", \"ph\": \"X\", \"args\": {\"Physic Stream Id\": ";
    out.Int(number(kStream));
    out += ", \"Task Id\": ";
    out.Int(number(kTask));
    out += "}}";
  }
}

}  // namespace steplens::exporting
