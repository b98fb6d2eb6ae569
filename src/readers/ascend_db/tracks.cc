#include "readers/ascend_db/tracks.h"

#include <fmt/format.h>

namespace steplens::readers {
namespace {

using store::TrackId;

constexpr int64_t kHostDevice = 31;

int64_t ExporterPid(int64_t os_pid, int64_t index, int64_t device) {
  const uint64_t pid = (static_cast<uint64_t>(os_pid) << 10) | (static_cast<uint64_t>(index) << 5) |
                       (static_cast<uint64_t>(device) & 31);
  return static_cast<int64_t>(pid & 0xFFFFFFFF);
}

int64_t ThreadOf(int64_t global_tid) { return global_tid & 0xFFFFFFFF; }

}  // namespace

void TrackBuilder::SetProcess(int64_t os_pid, bool has_plain_labels) {
  os_pid_ = os_pid;
  has_plain_labels_ = has_plain_labels;
}

TrackId TrackBuilder::Append(const store::TrackTable::Row& row) {
  const TrackId id{static_cast<uint32_t>(out_.tracks.size())};
  out_.tracks.Append(row);
  return id;
}

TrackId TrackBuilder::Process(const ExporterProcess& process, int64_t os_pid, int64_t device) {
  const int64_t known_device = device == store::kNone ? 0 : device;
  const int64_t pid =
      ExporterPid(os_pid, process.index, process.on_device ? known_device : kHostDevice);
  const auto [place, is_new] = processes_.try_emplace({pid, process.name}, store::kNoTrack);
  if (!is_new) return place->second;
  store::TrackTable::Row row;
  row.kind = out_.strings.Intern("process");
  row.pid = out_.strings.Intern(fmt::to_string(pid));
  row.name = out_.strings.Intern(process.name);
  const std::string npu = has_plain_labels_ ? "NPU" : fmt::format("NPU {}", known_device);
  row.label = out_.strings.Intern(process.on_device ? npu : "CPU");
  row.sort_index = process.index;
  return place->second = Append(row);
}

TrackId TrackBuilder::PythonProcess(int64_t os_pid) {
  const auto [place, is_new] = processes_.try_emplace({os_pid, "Python"}, store::kNoTrack);
  if (!is_new) return place->second;
  store::TrackTable::Row row;
  row.kind = out_.strings.Intern("process");
  row.pid = out_.strings.Intern(fmt::to_string(os_pid));
  row.name = out_.strings.Intern("Python");
  row.label = out_.strings.Intern("CPU");
  row.sort_index = 0;
  return place->second = Append(row);
}

TrackId TrackBuilder::Thread(TrackId process, int64_t key, std::string_view name) {
  const auto [place, is_new] =
      threads_.try_emplace({static_cast<int64_t>(process), key}, store::kNoTrack);
  if (!is_new) return place->second;
  store::TrackTable::Row row;
  row.parent = process;
  row.kind = out_.strings.Intern("thread");
  row.pid = out_.tracks.pid[static_cast<size_t>(process)];
  row.tid = out_.strings.Intern(fmt::to_string(key));
  row.name = out_.strings.Intern(name);
  row.sort_index = key;
  return place->second = Append(row);
}

TrackId TrackBuilder::PythonThread(int64_t global_tid) {
  const int64_t tid = ThreadOf(global_tid);
  return Thread(PythonProcess(global_tid >> 32), tid, fmt::format("Thread {}", tid));
}

TrackId TrackBuilder::HostThread(const ExporterProcess& process, int64_t global_tid) {
  const int64_t tid = ThreadOf(global_tid);
  return Thread(Process(process, global_tid >> 32, store::kNone), tid,
                fmt::format("Thread {}", tid));
}

TrackId TrackBuilder::DeviceThread(const ExporterProcess& process, int64_t device, int64_t key,
                                   std::string_view name) {
  return Thread(Process(process, os_pid_, device), key, name);
}

TrackId TrackBuilder::Stream(int64_t device, int64_t stream) {
  if (stream == store::kNone) return DeviceThread(kAscendHardware, device, -1, "Stream");
  return DeviceThread(kAscendHardware, device, stream, fmt::format("Stream {}", stream));
}

TrackId TrackBuilder::AddCounter(const ExporterProcess& process, int64_t device,
                                 std::string_view name, std::string_view label) {
  const TrackId parent = Process(process, os_pid_, device);
  store::TrackTable::Row row;
  row.parent = parent;
  row.kind = out_.strings.Intern("counter");
  row.pid = out_.tracks.pid[static_cast<size_t>(parent)];
  row.name = out_.strings.Intern(name);
  row.label = out_.strings.Intern(label);
  return Append(row);
}

}  // namespace steplens::readers
