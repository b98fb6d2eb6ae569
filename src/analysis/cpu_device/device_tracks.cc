#include "analysis/cpu_device/device_tracks.h"

#include <fmt/format.h>

#include "base/number.h"

namespace steplens::analysis {

using store::TrackId;

namespace {

int64_t OsPid(const store::TraceStore& store) {
  for (size_t i = 0; i < store.tracks.size(); ++i) {
    if (store.tracks.parent[i] != store::kNoTrack) continue;
    if (store.Text(store.tracks.name[i]) != "Python") continue;
    return ParseInt64(store.Text(store.tracks.pid[i])).value_or(0);
  }
  return 0;
}

}  // namespace

DeviceTracks::DeviceTracks(store::TraceStore& store, int64_t device)
    : store_(store), device_(device), os_pid_(OsPid(store)) {}

TrackId DeviceTracks::ProcessTrack(const Process& process) {
  const auto [place, is_new] = processes_.try_emplace(process.index, store::kNoTrack);
  if (!is_new) return place->second;
  const auto device = static_cast<uint64_t>(device_);
  const uint64_t pid = (static_cast<uint64_t>(os_pid_) << 10 |
                        static_cast<uint64_t>(process.index) << 5 | (device & 31)) &
                       0xFFFFFFFF;
  store::TrackTable::Row row;
  row.kind = store_.strings.Intern("process");
  row.pid = store_.strings.Intern(fmt::to_string(pid));
  row.name = store_.strings.Intern(process.name);
  row.label = store_.strings.Intern(fmt::format("NPU {}", device_));
  row.sort_index = process.index;
  store_.tracks.Append(row);
  return place->second = TrackId{static_cast<uint32_t>(store_.tracks.size() - 1)};
}

TrackId DeviceTracks::Thread(const Process& process, int64_t tid, const std::string& name) {
  const auto [place, is_new] = threads_.try_emplace({process.index, tid}, store::kNoTrack);
  if (!is_new) return place->second;
  const TrackId parent = ProcessTrack(process);
  store::TrackTable::Row row;
  row.parent = parent;
  row.kind = store_.strings.Intern("thread");
  row.pid = store_.tracks.pid[static_cast<size_t>(parent)];
  row.tid = store_.strings.Intern(fmt::to_string(tid));
  row.name = store_.strings.Intern(name);
  row.sort_index = tid;
  store_.tracks.Append(row);
  return place->second = TrackId{static_cast<uint32_t>(store_.tracks.size() - 1)};
}

TrackId DeviceTracks::Stream(int64_t stream) {
  return Thread({"Ascend Hardware", 14}, stream, fmt::format("Stream {}", stream));
}

TrackId DeviceTracks::Group(std::string_view group) {
  const auto found = groups_.find(group);
  if (found != groups_.end()) return found->second;
  const auto tid = static_cast<int64_t>(groups_.size());
  const TrackId track =
      Thread({"Communication", 16}, tid, fmt::format("Group {} Communication", group));
  groups_.emplace(group, track);
  return track;
}

TrackId DeviceTracks::Overlap(int64_t thread, std::string_view name) {
  return Thread({"Overlap Analysis", 31}, thread, std::string(name));
}

}  // namespace steplens::analysis
