// Stand-in for libmspti.so: one subscriber, buffers asked for and delivered as the vendor does,
// scripted activities.
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "collect/device/mspti_records.h"
#include "faults.h"

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

namespace mspti = steplens::collect::mspti;

enum Code : int { kOk = 0, kInvalid = 1, kMultipleSubscribers = 2, kEnd = 3, kWithoutPreload = 6 };
enum Kind : int {
  kMarker = 1,
  kKernel = 2,
  kApi = 3,
  kHccl = 4,
  kMemory = 5,
  kMemset = 6,
  kMemcpy = 7,
  kExternal = 8,
  kCommunication = 9,
  kLastKind = 12
};

using RequestFunction = void (*)(uint8_t**, size_t*, size_t*);
using CompleteFunction = void (*)(uint8_t*, size_t, size_t);

std::mutex mutex;  // guards what follows
int subscriber = 0;
bool is_subscribed = false;
RequestFunction request = nullptr;
CompleteFunction complete = nullptr;
std::set<int> kinds;
std::vector<std::vector<uint8_t>> waiting;  // records not delivered yet
uint64_t scripted = 0;

uint64_t DeviceTime(uint64_t after_ns) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t time =
      int64_t{now.tv_sec} * 1000000000 + now.tv_nsec + static_cast<int64_t>(after_ns);
  const int64_t ppm = standin::Setting("STANDIN_CLOCK_PPM", 0);
  const int64_t skew =
      static_cast<int64_t>(static_cast<double>(time) * static_cast<double>(ppm) / 1e6);
  return static_cast<uint64_t>(time + standin::Setting("STANDIN_CLOCK_OFFSET_NS", 0) + skew);
}

bool NeedsPreload(int kind) { return kind >= kHccl && kind <= kMemcpy; }

bool IsPreloaded() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload != nullptr && std::strstr(preload, "libmspti.so") != nullptr;
}

size_t SizeOf(int kind) {
  switch (kind) {
    case kMarker:
      return sizeof(mspti::Marker);
    case kKernel:
      return sizeof(mspti::Kernel);
    case kHccl:
      return sizeof(mspti::Hccl);
    case kMemory:
      return sizeof(mspti::Memory);
    case kMemset:
      return sizeof(mspti::Memset);
    case kMemcpy:
      return sizeof(mspti::Memcpy);
    case kExternal:
      return sizeof(mspti::ExternalCorrelation);
    case kCommunication:
      return sizeof(mspti::Communication);
    default:
      return sizeof(mspti::Api);
  }
}

// A mark, a range's end, its start, and so on: ends have no name, and may come first.
mspti::Marker ScriptedMarker(uint64_t index, uint64_t time) {
  constexpr int32_t kFlags[] = {1, 4, 2};
  const uint64_t place = index % 3;
  const bool is_end = place == 1;
  return {kMarker,
          kFlags[place],
          0,
          is_end ? time + 50000 : time,
          index / 3 * 2 + (place == 0 ? 1 : 2),
          {static_cast<uint32_t>(getpid()), 7},
          is_end       ? ""
          : place == 0 ? "mark"
                       : "range",
          is_end ? "" : "default",
          0};
}

// A plausible record of a kind; every n-th of them is lost if that is asked for.
void Script(int kind, uint64_t index) {
  const int64_t lose_every = standin::Setting("STANDIN_LOSE_EVERY", 0);
  if (lose_every > 0 && ++scripted % static_cast<uint64_t>(lose_every) == 0) return;
  std::vector<uint8_t> bytes(SizeOf(kind));
  const uint64_t start = DeviceTime(index * 10000);
  const uint64_t end = start + 5000;
  const auto put = [&](const auto& record) { std::memcpy(bytes.data(), &record, sizeof(record)); };
  switch (kind) {
    case kMarker:
      put(ScriptedMarker(index, start));
      break;
    case kKernel:
      put(mspti::Kernel{kKernel, start, end, {0, 2}, index + 1, "KERNEL_AICORE", "MatMulV2", 0});
      break;
    case kHccl:
      put(mspti::Hccl{kHccl, start, end, {0, 3}, 12.5, "hcom_allReduce_", "group", 0});
      break;
    case kMemory:
      put(mspti::Memory{kMemory, 0, 1, index + 1, start, end, 0x1000, 4096,
                        static_cast<uint32_t>(getpid()), 0, 2});
      break;
    case kMemset:
      put(mspti::Memset{kMemset, 0, 64, start, end, 0, 2, index + 1, 1, {}});
      break;
    case kMemcpy:
      put(mspti::Memcpy{kMemcpy, 2, 64, start, end, 0, 2, index + 1, 1, {}});
      break;
    case kCommunication:
      put(mspti::Communication{kCommunication,
                               4,
                               1024,
                               {0, 3},
                               start,
                               end,
                               "RING",
                               "hcom_allReduce_",
                               "group",
                               index + 1});
      break;
    default:
      put(mspti::Api{
          kind, start, end, {static_cast<uint32_t>(getpid()), 7}, index + 1, "aclnnMatmul", 0});
      break;
  }
  waiting.push_back(std::move(bytes));
}

// Hands what waits to the tool, a buffer at a time, each on a thread of its own as the vendor does.
void Deliver() {
  std::vector<std::vector<uint8_t>> records;
  RequestFunction ask = nullptr;
  CompleteFunction hand_over = nullptr;
  {
    const std::lock_guard lock(mutex);
    records.swap(waiting);
    ask = request;
    hand_over = complete;
  }
  size_t next = 0;
  while (next < records.size() && ask != nullptr) {
    uint8_t* buffer = nullptr;
    size_t size = 0;
    size_t most = 0;
    ask(&buffer, &size, &most);
    if (buffer == nullptr) {
      standin::Log("dropped %zu records", records.size() - next);
      return;
    }
    size_t valid = 0;
    while (next < records.size() && valid + records[next].size() <= size) {
      std::memcpy(buffer + valid, records[next].data(), records[next].size());
      valid += records[next++].size();
    }
    std::thread(hand_over, buffer, size, valid).join();
  }
}

}  // namespace

STANDIN_API int msptiSubscribe(void** handle, void*, void*) {
  STANDIN_CALL("msptiSubscribe", "msptiSubscribe");
  if (handle == nullptr) return kInvalid;
  const std::lock_guard lock(mutex);
  if (is_subscribed) return kMultipleSubscribers;
  is_subscribed = true;
  *handle = &subscriber;
  return kOk;
}

STANDIN_API int msptiUnsubscribe(void* handle) {
  STANDIN_CALL("msptiUnsubscribe", "msptiUnsubscribe");
  const std::lock_guard lock(mutex);
  if (!is_subscribed) return kOk;
  if (handle != &subscriber) return kInvalid;
  is_subscribed = false;
  return kOk;
}

STANDIN_API int msptiActivityRegisterCallbacks(RequestFunction ask, CompleteFunction hand_over) {
  STANDIN_CALL("msptiActivityRegisterCallbacks", "msptiActivityRegisterCallbacks");
  if (ask == nullptr || hand_over == nullptr) return kInvalid;
  const std::lock_guard lock(mutex);
  request = ask;
  complete = hand_over;
  return kOk;
}

STANDIN_API int msptiActivityEnable(int kind) {
  STANDIN_CALL("msptiActivityEnable", "msptiActivityEnable %d", kind);
  if (kind < kMarker || kind > kLastKind) return kInvalid;
  if (NeedsPreload(kind) && !IsPreloaded()) return kWithoutPreload;
  const std::lock_guard lock(mutex);
  kinds.insert(kind);
  return kOk;
}

STANDIN_API int msptiActivityDisable(int kind) {
  STANDIN_CALL("msptiActivityDisable", "msptiActivityDisable %d", kind);
  if (kind < kMarker || kind > kLastKind) return kInvalid;
  const std::lock_guard lock(mutex);
  kinds.erase(kind);
  return kOk;
}

STANDIN_API bool msptiActivityIsEnabled(int kind) {
  const std::lock_guard lock(mutex);
  return kinds.contains(kind);
}

namespace {

bool IsDomainName(const char* name) { return name != nullptr && std::strlen(name) < 255; }

}  // namespace

STANDIN_API int msptiActivityEnableMarkerDomain(const char* name) {
  STANDIN_CALL("msptiActivityEnableMarkerDomain", "msptiActivityEnableMarkerDomain %s",
               name != nullptr ? name : "NULL");
  return IsDomainName(name) ? kOk : kInvalid;
}

STANDIN_API int msptiActivityDisableMarkerDomain(const char* name) {
  STANDIN_CALL("msptiActivityDisableMarkerDomain", "msptiActivityDisableMarkerDomain %s",
               name != nullptr ? name : "NULL");
  return IsDomainName(name) ? kOk : kInvalid;
}

STANDIN_API int msptiActivityFlushPeriod(uint32_t milliseconds) {
  STANDIN_CALL("msptiActivityFlushPeriod", "msptiActivityFlushPeriod %u", milliseconds);
  return kOk;
}

// The script runs when the first flush asks for it: then every kind that is enabled has had its
// time.
STANDIN_API int msptiActivityFlushAll(uint32_t) {
  STANDIN_CALL("msptiActivityFlushAll", "msptiActivityFlushAll");
  {
    const std::lock_guard lock(mutex);
    const int64_t count = standin::Setting("STANDIN_RECORDS", 10);
    for (const int kind : kinds) {
      for (int64_t i = 0; i < count; ++i) Script(kind, static_cast<uint64_t>(i));
    }
  }
  usleep(static_cast<useconds_t>(standin::Setting("STANDIN_SLOW_STOP_MS", 0) * 1000));
  Deliver();
  return kOk;
}

#ifndef STANDIN_BROKEN
// Like the vendor's: the position is the thread's, so a buffer must be walked to its end on one
// thread.
STANDIN_API int msptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  thread_local size_t position = 0;
  if (buffer == nullptr || record == nullptr) return kInvalid;
  if (position >= valid) {
    position = 0;
    return kEnd;
  }
  *record = buffer + position;
  position += SizeOf(*reinterpret_cast<const int32_t*>(buffer + position));
  return kOk;
}
#endif
