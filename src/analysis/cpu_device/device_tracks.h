#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "store/trace_store.h"

namespace steplens::analysis {

// Makes the processes and threads that the exporter of a device writes beside the Python process,
// with its names, ids and order.
class DeviceTracks {
 public:
  // `device`: its number, in labels ("NPU 0") and process ids. The store must outlive this.
  DeviceTracks(store::TraceStore& store, int64_t device);

  store::TrackId Stream(int64_t stream);
  store::TrackId Group(std::string_view group);  // "Group <group> Communication"
  store::TrackId Overlap(int64_t thread, std::string_view name);

 private:
  struct Process {
    std::string_view name;
    int64_t index;
  };
  store::TrackId ProcessTrack(const Process& process);
  store::TrackId Thread(const Process& process, int64_t tid, const std::string& name);

  store::TraceStore& store_;
  int64_t device_;
  int64_t os_pid_ = 0;
  std::map<int64_t, store::TrackId> processes_;                    // by index
  std::map<std::pair<int64_t, int64_t>, store::TrackId> threads_;  // by (index, tid)
  std::map<std::string, store::TrackId, std::less<>> groups_;
};

}  // namespace steplens::analysis
