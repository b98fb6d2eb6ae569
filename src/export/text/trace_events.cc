#include "export/text/trace_events.h"

#include "base/number.h"

namespace steplens::exporting {

TraceEvents::TraceEvents(const store::TraceStore& store, FileOut& file)
    : file_(file), out_(file.text()), texts_(store, JsonText) {
  const store::TrackTable& tracks = store.tracks;
  for (size_t i = 0; i < tracks.size(); ++i) {
    pids_.push_back(IdJson(store.Text(tracks.pid[i])));
    StringId pid = tracks.pid[i];
    const auto parent = static_cast<size_t>(tracks.parent[i]);
    if (pid == StringId::kEmpty && parent < tracks.size()) pid = tracks.pid[parent];
    places_.push_back("\"pid\": " + IdJson(store.Text(pid)) +
                      ", \"tid\": " + IdJson(store.Text(tracks.tid[i])) + ", ");
  }
}

std::string TraceEvents::IdJson(std::string_view id) {
  if (id.empty()) return "0";
  const auto number = ParseInt64(id);
  return number && std::to_string(*number) == id ? std::string(id) : JsonText(id);
}

}  // namespace steplens::exporting
