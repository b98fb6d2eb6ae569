#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "store/trace_store.h"

namespace steplens::readers {

// A process of the exporter's timeline. Its pid is made of the OS process, the index and the
// device, as the text trace does it:  (os_pid << 10) | (index << 5) | device, in 32 bits; device 31
// for processes of the host.
struct ExporterProcess {
  std::string_view name;
  int64_t index;  // also its place among the processes
  bool on_device;
};

inline constexpr ExporterProcess kPythonGc{"Python GC", 1, false};
inline constexpr ExporterProcess kMarkers{"MSTX", 6, false};
inline constexpr ExporterProcess kCann{"CANN", 7, false};
inline constexpr ExporterProcess kCpuUsage{"CPU Usage", 9, false};
inline constexpr ExporterProcess kMemoryUsage{"Memory Usage", 10, false};
inline constexpr ExporterProcess kNetworkUsage{"Network Usage", 11, false};
inline constexpr ExporterProcess kDiskUsage{"Disk Usage", 12, false};
inline constexpr ExporterProcess kOsRuntime{"OS Runtime API", 13, false};
inline constexpr ExporterProcess kAscendHardware{"Ascend Hardware", 14, true};
inline constexpr ExporterProcess kAiCoreFreq{"AI Core Freq", 15, true};
inline constexpr ExporterProcess kHccl{"HCCL", 16, true};  // of files up to CANN 8.0
inline constexpr ExporterProcess kCommunication{"Communication", 16, true};
inline constexpr ExporterProcess kNpuMem{"NPU MEM", 17, true};
inline constexpr ExporterProcess kDdr{"DDR", 18, true};
inline constexpr ExporterProcess kAccPmu{"Acc PMU", 19, true};
inline constexpr ExporterProcess kHccs{"HCCS", 20, true};
inline constexpr ExporterProcess kNic{"NIC", 21, true};
inline constexpr ExporterProcess kRoce{"RoCE", 22, true};
inline constexpr ExporterProcess kPcie{"PCIe", 23, true};
inline constexpr ExporterProcess kHbm{"HBM", 24, true};
inline constexpr ExporterProcess kStarsSocInfo{"Stars Soc Info", 25, true};
inline constexpr ExporterProcess kLlc{"LLC", 27, true};
inline constexpr ExporterProcess kSio{"SIO", 28, true};
inline constexpr ExporterProcess kQos{"QoS", 29, true};
// Not in the text trace; indexes it does not use.
inline constexpr ExporterProcess kNetdevStats{"Netdev Stats", 2, true};
inline constexpr ExporterProcess kAiCoreUtilization{"AI Core Utilization", 3, true};

// Appends tracks to a store and finds them again; processes are made at their first use.
class TrackBuilder {
 public:
  explicit TrackBuilder(store::TraceStore& out) : out_(out) {}
  // `has_plain_labels`: "NPU" instead of "NPU 0", as files up to CANN 8.0 have it.
  void SetProcess(int64_t os_pid, bool has_plain_labels);

  // The framework's thread, from pid << 32 | tid.
  store::TrackId PythonThread(int64_t global_tid);
  // A thread of a process of the host, from pid << 32 | tid.
  store::TrackId HostThread(const ExporterProcess& process, int64_t global_tid);
  // A stream, group or plane of a device. `key` tells it from the others of its process and is its
  // tid.
  store::TrackId DeviceThread(const ExporterProcess& process, int64_t device, int64_t key,
                              std::string_view name);
  store::TrackId Stream(int64_t device, int64_t stream);
  // A new counter series; the caller keeps it. `label` is the series' unit or number, as in the
  // text trace.
  store::TrackId AddCounter(const ExporterProcess& process, int64_t device, std::string_view name,
                            std::string_view label);

 private:
  using Key = std::pair<int64_t, int64_t>;  // (parent, key)

  store::TrackId Append(const store::TrackTable::Row& row);
  store::TrackId Process(const ExporterProcess& process, int64_t os_pid, int64_t device);
  store::TrackId PythonProcess(int64_t os_pid);
  store::TrackId Thread(store::TrackId process, int64_t key, std::string_view name);

  store::TraceStore& out_;
  int64_t os_pid_ = 0;
  bool has_plain_labels_ = false;
  std::map<std::pair<int64_t, std::string_view>, store::TrackId> processes_;  // by (pid, name)
  std::map<Key, store::TrackId> threads_;
};

// The track of the row before serves most rows: remembers it by the number the db gives.
template <typename Make>
class TrackMemo {
 public:
  explicit TrackMemo(Make make) : make_(std::move(make)) {}
  store::TrackId operator()(int64_t key) {
    if (track_ == store::kNoTrack || key != key_) {
      key_ = key;
      track_ = make_(key);
    }
    return track_;
  }

 private:
  Make make_;
  int64_t key_ = 0;
  store::TrackId track_ = store::kNoTrack;
};

}  // namespace steplens::readers
