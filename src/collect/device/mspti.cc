#include "collect/device/mspti.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

#include "collect/device/mspti_records.h"
#include "collect/device/vendor_library.h"
#include "collect/library.h"
#include "collect/thread_state.h"
#include "format/device_record.h"

namespace steplens::collect {
namespace {

using format::DeviceActivity;

constexpr size_t kBufferBytes = 2 << 20;  // the vendor's recommended least
constexpr size_t kBufferAlignment = 64;
constexpr int kMaxBuffers = 64;  // with the vendor at one time; beyond it drops

// The vendor's callbacks have no argument for us.
std::atomic<int> buffers_out{0};
std::atomic<int (*)(uint8_t*, size_t, void**)> next_record{nullptr};

std::string_view Text(const char* text) { return text != nullptr ? text : ""; }
int64_t Ns(uint64_t time) { return static_cast<int64_t>(time); }

void Append(const DeviceActivity& activity, std::string_view name, std::string_view second,
            std::string_view algorithm, std::vector<uint8_t>* out) {
  format::TlvWriter writer = format::AppendRecord(*out, format::kDeviceRecord, activity);
  writer.FieldIfAny(format::kDeviceName, name);
  writer.FieldIfAny(format::kDeviceSecondText, second);
  writer.FieldIfAny(format::kDeviceAlgorithm, algorithm);
}

void AppendMarker(const mspti::Marker& marker, DeviceActivity activity, std::vector<uint8_t>* out) {
  activity.detail = static_cast<uint32_t>(marker.flag);
  activity.start_ns = activity.end_ns = Ns(marker.timestamp);
  activity.place = marker.object.first;
  activity.lane = marker.object.second;
  activity.amount = marker.id;
  activity.extra = static_cast<uint64_t>(marker.source_kind);
  Append(activity, Text(marker.name), Text(marker.domain), "", out);
}

void AppendApi(const mspti::Api& api, DeviceActivity activity, std::vector<uint8_t>* out) {
  activity.start_ns = Ns(api.start);
  activity.end_ns = Ns(api.end);
  activity.place = api.process.first;
  activity.lane = api.process.second;
  activity.correlation_id = api.correlation_id;
  Append(activity, Text(api.name), "", "", out);
}

void AppendKernel(const mspti::Kernel& kernel, DeviceActivity activity, std::vector<uint8_t>* out) {
  activity.start_ns = Ns(kernel.start);
  activity.end_ns = Ns(kernel.end);
  activity.place = kernel.device.first;
  activity.lane = kernel.device.second;
  activity.correlation_id = kernel.correlation_id;
  Append(activity, Text(kernel.name), Text(kernel.type), "", out);
}

void AppendHccl(const mspti::Hccl& hccl, DeviceActivity activity, std::vector<uint8_t>* out) {
  activity.start_ns = Ns(hccl.start);
  activity.end_ns = Ns(hccl.end);
  activity.place = hccl.device.first;
  activity.lane = hccl.device.second;
  activity.extra = std::bit_cast<uint64_t>(hccl.bandwidth);
  Append(activity, Text(hccl.name), Text(hccl.comm_name), "", out);
}

void AppendMemory(const mspti::Memory& memory, DeviceActivity activity, std::vector<uint8_t>* out) {
  activity.detail = static_cast<uint32_t>(memory.operation);
  activity.start_ns = Ns(memory.start);
  activity.end_ns = Ns(memory.end);
  activity.place = memory.device_id;
  activity.lane = memory.stream_id;
  activity.correlation_id = memory.correlation_id;
  activity.amount = memory.bytes;
  activity.extra = memory.address;
  Append(activity, "", "", "", out);
}

// Memset and memcpy differ in one field.
template <typename Copy>
void AppendCopy(const Copy& copy, uint32_t detail, DeviceActivity activity,
                std::vector<uint8_t>* out) {
  activity.detail = detail;
  activity.start_ns = Ns(copy.start);
  activity.end_ns = Ns(copy.end);
  activity.place = copy.device_id;
  activity.lane = copy.stream_id;
  activity.correlation_id = copy.correlation_id;
  activity.amount = copy.bytes;
  activity.extra = copy.is_async != 0 ? 1 : 0;
  Append(activity, "", "", "", out);
}

void AppendExternal(const mspti::ExternalCorrelation& external, DeviceActivity activity,
                    std::vector<uint8_t>* out) {
  activity.detail = static_cast<uint32_t>(external.external_kind);
  activity.correlation_id = external.correlation_id;
  activity.amount = external.external_id;
  Append(activity, "", "", "", out);
}

void AppendCommunication(const mspti::Communication& comm, DeviceActivity activity,
                         std::vector<uint8_t>* out) {
  activity.detail = static_cast<uint32_t>(comm.data_type);
  activity.start_ns = Ns(comm.start);
  activity.end_ns = Ns(comm.end);
  activity.place = comm.device.first;
  activity.lane = comm.device.second;
  activity.correlation_id = comm.correlation_id;
  activity.amount = comm.count;
  Append(activity, Text(comm.name), Text(comm.comm_name), Text(comm.algorithm), out);
}

// The kinds of a configuration, the most useful first.
std::vector<int> WantedKinds(const sl_device_config& config) {
  std::vector<int> kinds;
  if (config.mstx != 0) kinds.push_back(format::kDeviceMarker);
  if (config.level < 0) return kinds;
  kinds.push_back(format::kDeviceKernel);
  if (config.level >= 1) {
    kinds.push_back(format::kDeviceCommunication);
    kinds.push_back(format::kDeviceApi);
  }
  if (config.level >= 2) kinds.push_back(format::kDeviceRuntimeApi);
  if (config.profile_memory != 0) {
    kinds.insert(kinds.end(),
                 {format::kDeviceMemory, format::kDeviceMemset, format::kDeviceMemcpy});
  }
  return kinds;
}

}  // namespace

bool AppendActivity(const void* record, std::vector<uint8_t>* out) {
  const int32_t kind = static_cast<const mspti::Activity*>(record)->kind;
  DeviceActivity activity;
  activity.kind = static_cast<uint32_t>(kind);
  switch (kind) {
    case format::kDeviceMarker:
      AppendMarker(*static_cast<const mspti::Marker*>(record), activity, out);
      return true;
    case format::kDeviceKernel:
      AppendKernel(*static_cast<const mspti::Kernel*>(record), activity, out);
      return true;
    case format::kDeviceApi:
    case format::kDeviceAclApi:
    case format::kDeviceNodeApi:
    case format::kDeviceRuntimeApi:
      AppendApi(*static_cast<const mspti::Api*>(record), activity, out);
      return true;
    case format::kDeviceHccl:
      AppendHccl(*static_cast<const mspti::Hccl*>(record), activity, out);
      return true;
    case format::kDeviceMemory:
      AppendMemory(*static_cast<const mspti::Memory*>(record), activity, out);
      return true;
    case format::kDeviceMemset: {
      const auto& copy = *static_cast<const mspti::Memset*>(record);
      AppendCopy(copy, copy.value, activity, out);
      return true;
    }
    case format::kDeviceMemcpy: {
      const auto& copy = *static_cast<const mspti::Memcpy*>(record);
      AppendCopy(copy, static_cast<uint32_t>(copy.copy_kind), activity, out);
      return true;
    }
    case format::kDeviceExternalCorrelation:
      AppendExternal(*static_cast<const mspti::ExternalCorrelation*>(record), activity, out);
      return true;
    case format::kDeviceCommunication:
      AppendCommunication(*static_cast<const mspti::Communication*>(record), activity, out);
      return true;
    default:
      return false;
  }
}

Mspti::Mspti() {
  const auto find = [](const char* name, auto** out) {
    FindVendorFunction(name, VendorLibrary::kMspti, VendorLibrary::kMspti, out);
  };
  find("msptiSubscribe", &vendor_.subscribe);
  find("msptiUnsubscribe", &vendor_.unsubscribe);
  find("msptiActivityRegisterCallbacks", &vendor_.register_callbacks);
  find("msptiActivityEnable", &vendor_.enable);
  find("msptiActivityDisable", &vendor_.disable);
  find("msptiActivityGetNextRecord", &vendor_.next_record);
  find("msptiActivityFlushAll", &vendor_.flush_all);
  find("msptiActivityFlushPeriod", &vendor_.flush_period);
}

bool Mspti::is_available() const {
  return vendor_.subscribe != nullptr && vendor_.unsubscribe != nullptr &&
         vendor_.register_callbacks != nullptr && vendor_.enable != nullptr &&
         vendor_.next_record != nullptr;
}

void Mspti::Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = nullptr;
  *size = 0;
  if (max_records != nullptr) *max_records = 0;
  if (buffers_out.fetch_add(1) < kMaxBuffers) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  }
  if (*buffer != nullptr) {
    *size = kBufferBytes;
  } else {
    buffers_out.fetch_sub(1);
  }
}

// A buffer must be walked to its end on one thread: the vendor keeps the position.
void Mspti::Complete(uint8_t* buffer, size_t, size_t valid) {
  if (buffer == nullptr) return;
  const auto next = next_record.load();
  const uint32_t generation = hot_state.current_generation.load(std::memory_order_acquire);
  const bool is_wanted = generation != 0 && generation != kAutoPending && next != nullptr;
  try {
    SideQueue::Item item;
    item.is_device = true;
    void* record = nullptr;
    while (is_wanted && valid != 0 && next(buffer, valid, &record) == mspti::kSuccess) {
      if (record != nullptr && AppendActivity(record, &item.bytes)) ++item.records;
    }
    if (item.records != 0) TheLibrary().side.Add(std::move(item));
  } catch (const std::bad_alloc&) {
    // These records are gone; the next buffer may fit.
  }
  std::free(buffer);
  buffers_out.fetch_sub(1);
}

DeviceResult Mspti::Start(const sl_device_config& config) {
  if (!is_available()) return {SL_DEVICE_UNSUPPORTED, "libmspti.so is not on this machine"};
  next_record.store(vendor_.next_record);
  int code = vendor_.subscribe(&subscriber_, nullptr, nullptr);
  if (code != mspti::kSuccess) {
    return {code, "msptiSubscribe failed with code " + std::to_string(code)};
  }
  code = vendor_.register_callbacks(Request, Complete);
  if (code != mspti::kSuccess) {
    vendor_.unsubscribe(subscriber_);
    return {code, "msptiActivityRegisterCallbacks failed with code " + std::to_string(code)};
  }
  if (vendor_.flush_period != nullptr) vendor_.flush_period(1000);
  std::string refused;
  for (const int kind : WantedKinds(config)) {
    code = vendor_.enable(kind);
    if (code == mspti::kSuccess) {
      enabled_.push_back(kind);
      continue;
    }
    refused += (refused.empty() ? "" : ", ") + std::to_string(kind);
    if (code == mspti::kWithoutPreload) refused += " (needs libmspti.so in LD_PRELOAD)";
  }
  if (!enabled_.empty()) return {0, refused.empty() ? "" : "left out: kinds " + refused};
  vendor_.unsubscribe(subscriber_);
  return {code, "msptiActivityEnable refused every kind: " + refused};
}

DeviceResult Mspti::Stop() {
  if (vendor_.flush_all != nullptr) vendor_.flush_all(1);
  for (const int kind : enabled_) {
    if (vendor_.disable != nullptr) vendor_.disable(kind);
  }
  enabled_.clear();
  const int code = vendor_.unsubscribe(subscriber_);
  subscriber_ = nullptr;
  if (vendor_.flush_all != nullptr) vendor_.flush_all(1);
  if (code == mspti::kSuccess) return {};
  return {code, "msptiUnsubscribe failed with code " + std::to_string(code)};
}

}  // namespace steplens::collect
