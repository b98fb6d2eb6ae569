#include "export/text/trace_events.h"

#include "base/number.h"

namespace steplens::exporting {

TraceEvents::TraceEvents(const store::TraceStore& store, FileOut& file, std::vector<bool> own_lane)
    : file_(file), out_(file.text()), names_(store, NameMember) {
  const auto place = [&](const std::string& pid, const std::string& tid) {
    return kept_.Keep("\"pid\": " + pid + ", \"tid\": " + tid + ", " + std::string(kTsKey));
  };
  no_place_ = place("0", "0");
  const store::TrackTable& tracks = store.tracks;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool is_own = i < own_lane.size() && own_lane[i];
    const auto pid_json = [&](StringId pid) {
      return is_own ? std::to_string(kMindSporePid) : IdJson(store.Text(pid));
    };
    pids_.push_back(pid_json(tracks.pid[i]));
    StringId pid = tracks.pid[i];
    const auto parent = static_cast<size_t>(tracks.parent[i]);
    if (pid == StringId::kEmpty && parent < tracks.size()) pid = tracks.pid[parent];
    places_.push_back(place(pid_json(pid), IdJson(store.Text(tracks.tid[i]))));
  }
}

std::string TraceEvents::NameMember(std::string_view text) {
  std::string out(kNameKey);
  AppendJsonString(out, text);
  out += kNext;
  return out;
}

std::string TraceEvents::IdJson(std::string_view id) {
  if (id.empty()) return "0";
  const auto number = ParseInt64(id);
  return number && std::to_string(*number) == id ? std::string(id) : JsonText(id);
}

}  // namespace steplens::exporting
