#pragma once

#include "format/framework.h"

// steplens.device (ours): what the device's activity interface delivered, one framed record an
// activity. Unlike all else in FRAMEWORK/, times are nanoseconds since the epoch, on the clock the
// vendor's library reports.
namespace steplens::format {

// The vendor's kinds of activities.
enum DeviceKind : uint32_t {
  kDeviceMarker = 1,
  kDeviceKernel = 2,
  kDeviceApi = 3,
  kDeviceHccl = 4,
  kDeviceMemory = 5,
  kDeviceMemset = 6,
  kDeviceMemcpy = 7,
  kDeviceExternalCorrelation = 8,
  kDeviceCommunication = 9,
  kDeviceAclApi = 10,
  kDeviceNodeApi = 11,
  kDeviceRuntimeApi = 12,
};

inline constexpr uint16_t kDeviceName = 1;
inline constexpr uint16_t kDeviceSecondText = 2;  // kernel type, communicator or domain
inline constexpr uint16_t kDeviceAlgorithm = 3;   // of a communication

// What a field means depends on the kind; docs/formats/framework.md has the table.
//   detail   marker: flag; memory: operation; memcpy: direction; memset: value; communication: data
//   type;
//            external correlation: its kind
//   place, lane   device and stream; of an api, and of a marker on the host: process and thread
//   amount   bytes; communication: elements; marker: id; external correlation: the external id
//   extra    memory: address; hccl: bandwidth in GB/s, a double's bits; marker: source (0 host, 1
//   device);
//            memset and memcpy: 1 if asynchronous
struct DeviceActivity {
  static constexpr size_t kFixedBytes = 56;
  uint32_t kind = 0;
  uint32_t detail = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t place = 0;
  uint32_t lane = 0;
  uint64_t correlation_id = 0;
  uint64_t amount = 0;
  uint64_t extra = 0;
};

inline void EncodeFixed(const DeviceActivity& activity, uint8_t* out) {
  Store(out, 0, activity.kind);
  Store(out, 4, activity.detail);
  Store(out, 8, activity.start_ns);
  Store(out, 16, activity.end_ns);
  Store(out, 24, activity.place);
  Store(out, 28, activity.lane);
  Store(out, 32, activity.correlation_id);
  Store(out, 40, activity.amount);
  Store(out, 48, activity.extra);
}

inline bool Decode(Bytes in, DeviceActivity* activity) {
  if (in.size() < DeviceActivity::kFixedBytes) return false;
  activity->kind = Load<uint32_t>(in, 0);
  activity->detail = Load<uint32_t>(in, 4);
  activity->start_ns = Load<int64_t>(in, 8);
  activity->end_ns = Load<int64_t>(in, 16);
  activity->place = Load<uint32_t>(in, 24);
  activity->lane = Load<uint32_t>(in, 28);
  activity->correlation_id = Load<uint64_t>(in, 32);
  activity->amount = Load<uint64_t>(in, 40);
  activity->extra = Load<uint64_t>(in, 48);
  return true;
}

}  // namespace steplens::format
