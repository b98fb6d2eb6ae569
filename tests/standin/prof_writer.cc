#include "prof_writer.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "faults.h"
#include "format/prof/device_records.h"
#include "format/prof/host_records.h"

namespace standin {
namespace {

namespace raw = steplens::format::prof;
__extension__ using Wide = unsigned __int128;

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint32_t kDevice = 0;
constexpr uint32_t kLaunch = 5;        // the node API of a launch
constexpr uint32_t kMaster = 0x10001;  // the communication API of the main plane
constexpr uint16_t kAicoreSqe = 0;
constexpr uint16_t kNotifyWaitSqe = 7;
constexpr uint16_t kSdmaSqe = 11;

uint64_t Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

uint32_t Thread() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

uint16_t Head(raw::StarsFunction function, uint16_t sequence, uint16_t type) {
  return static_cast<uint16_t>(function | (sequence & 0xF) << 6 | type << 10);
}

void WriteFile(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

}  // namespace

ProfWriter::ProfWriter(std::string folder)
    : folder_(std::move(folder)),
      slice_bytes_(static_cast<uint64_t>(Setting("STANDIN_SLICE_BYTES", 2 << 20))),
      wrap_at_(static_cast<uint64_t>(Setting("STANDIN_WRAP_AT", 65535))) {
  for (const char* side : {"/host/data", "/device_0/data"})
    std::filesystem::create_directories(folder_ + side);
  start_ns_ = Now(CLOCK_MONOTONIC_RAW);
  utc_offset_ns_ = static_cast<int64_t>(Now(CLOCK_REALTIME) / 1000 * 1000 - start_ns_);
  device_hz_ = static_cast<uint64_t>(50'000'000 + 50 * Setting("STANDIN_CLOCK_PPM", 0));
  // A device whose clock is off: its counter stands elsewhere, and its anchor says so.
  start_ticks_ = 7'000'000'000 + static_cast<uint64_t>(Setting("STANDIN_CLOCK_OFFSET_NS", 0)) / 20;
  WriteControls();
  Type(raw::kLevelNode, kLaunch, "launch");
  Type(raw::kLevelCommunication, kMaster, "master");
  Type(raw::kLevelRuntime, raw::kTaskKernelAicore, "KERNEL_AICORE");
  Type(raw::kLevelRuntime, raw::kTaskNotifyWait, "NOTIFY_WAIT");
  Type(raw::kLevelRuntime, raw::kTaskMemcpyAsync, "MEMCPY_ASYNC");
}

ProfWriter::~ProfWriter() { Finish(); }

void ProfWriter::WriteControls() {
  const std::string common =
      R"("platform_version":"5","pid":")" + std::to_string(getpid()) +
      R"(","hostname":"standin","hostUid":"1","drvVersion":467732,"memoryTotal":1000000,)"
      R"("rank_id":-1,"netCard":[],"CPU":[{"Id":0,"Name":"x","Frequency":""}],"DeviceInfo":[)";
  char frequency[32];
  std::snprintf(frequency, sizeof(frequency), "%.6f", static_cast<double>(device_hz_) / 1e6);
  WriteFile(folder_ + "/host/info.json", "{" + common + "]}");
  WriteFile(folder_ + "/device_0/info.json.0",
            "{" + common + R"({"id":0,"ai_core_num":20,"aiv_num":40,"aic_frequency":"1850",)" +
                R"("aiv_frequency":"1850","hwts_frequency":")" + frequency + "\"}]}");
  const std::string sample =
      R"({"devices":"0","profLevel":"l1","ai_core_profiling":"on",)"
      R"("ai_core_profiling_mode":"task-based","ai_core_metrics":"PipeUtilizationExct",)"
      R"("ai_core_profiling_events":"0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55",)"
      R"("aiv_metrics":"PipeUtilization","aiv_profiling_events":"0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"})";
  WriteFile(folder_ + "/host/sample.json", sample);
  WriteFile(folder_ + "/device_0/sample.json", sample);
  const uint64_t utc_us = (start_ns_ + static_cast<uint64_t>(utc_offset_ns_)) / 1000;
  const std::string start = R"({"collectionTimeBegin":")" + std::to_string(utc_us) +
                            R"(","clockMonotonicRaw":")" + std::to_string(start_ns_) + "\"}";
  WriteFile(folder_ + "/host/start_info", start);
  WriteFile(folder_ + "/device_0/start_info.0", start);
  const auto clocks = [](uint64_t ns, uint64_t count) {
    return "clock_monotonic_raw:" + std::to_string(ns) + "\ncntvct:" + std::to_string(count) + "\n";
  };
  WriteFile(folder_ + "/host/host_start.log", "[Host]\n" + clocks(start_ns_, start_ns_));
  WriteFile(folder_ + "/device_0/host_start.log.0", "[Device0]\n" + clocks(start_ns_, start_ns_));
  WriteFile(folder_ + "/device_0/dev_start.log.0", clocks(start_ns_ / 2, start_ticks_));
}

uint64_t ProfWriter::Ticks(uint64_t ns) const {
  return start_ticks_ + static_cast<uint64_t>(Wide{ns - start_ns_} * device_hz_ / kNsPerSecond);
}

int64_t ProfWriter::Utc(uint64_t ticks) const {
  const auto ns = static_cast<uint64_t>(Wide{ticks - start_ticks_} * kNsPerSecond / device_hz_);
  return static_cast<int64_t>(start_ns_ + ns) + utc_offset_ns_;
}

void ProfWriter::Append(const std::string& name, const void* data, size_t size) {
  Output& out = outputs_[name];
  if (out.file == nullptr || out.bytes + size > slice_bytes_) {
    if (out.file != nullptr) {
      std::fclose(out.file);
      WriteFile(out.path + ".done", "filesize:" + std::to_string(out.bytes) + "\n");
      ++out.slice;
    }
    out.path = folder_ + "/" + name + ".slice_" + std::to_string(out.slice);
    out.file = std::fopen(out.path.c_str(), "w");
    out.bytes = 0;
  }
  if (out.file == nullptr) return;
  std::fwrite(data, 1, size, out.file);
  std::fflush(out.file);
  out.bytes += size;
}

void ProfWriter::AppendText(const std::string& name, std::string_view line) {
  Append(name, line.data(), line.size());
}

template <typename Payload>
void ProfWriter::HostRecord(const std::string& tag, size_t size, uint16_t level, uint32_t type,
                            uint64_t time, const Payload& payload) {
  char bytes[raw::kAdditionalBytes] = {};
  const raw::RecordHead head{
      raw::kHostMagic, level, type, Thread(), static_cast<uint32_t>(sizeof(payload)), time};
  std::memcpy(bytes, &head, sizeof(head));
  std::memcpy(bytes + raw::kPayloadAt, &payload, sizeof(payload));
  Append("host/data/aging." + tag, bytes, size);
}

void ProfWriter::Api(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item) {
  Append("host/data/aging.api_event.data",
         raw::ApiEvent{raw::kHostMagic, level, type, Thread(), 0, begin, end, item});
}

uint64_t ProfWriter::Hash(std::string_view text) {
  uint32_t high = 0;
  uint32_t low = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint32_t>(static_cast<signed char>(c));
    high = high * 29 + byte;
    low = low * 131 + byte;
  }
  const uint64_t id = uint64_t{high} << 32 | low;
  if (hashes_.insert(id).second)
    AppendText("host/data/unaging.additional.hash_dic",
               std::to_string(id) + ":" + std::string(text) + "\n");
  return id;
}

void ProfWriter::Type(int level, uint32_t type, std::string_view name) {
  if (types_.insert({level, type}).second)
    AppendText("host/data/unaging.additional.type_info_dic",
               std::to_string(level) + "_" + std::to_string(type) + ":" + std::string(name) + "\n");
}

// Task ids of 16 bits begin again at 0; both sides record that they do.
uint16_t ProfWriter::NextTask(uint16_t stream, uint64_t time) {
  uint32_t& next = next_task_[stream];
  if (next > wrap_at_) {
    next = 0;
    const uint16_t number = ++flips_[stream];
    raw::TaskTrack track{};
    track.stream = stream;
    track.task = uint32_t{number} << 16;
    track.type = raw::kTaskFlip;
    HostRecord("compact.task_track", raw::kCompactBytes, raw::kLevelRuntime, 802, time - 1, track);
    raw::TsTrack flip{};
    flip.function = raw::kTsFlip;
    flip.time = free_at_[stream] + 1;
    flip.flip.stream = stream;
    flip.flip.number = number;
    Append("device_0/data/ts_track.data.0", flip);
    next = 1;
  }
  return static_cast<uint16_t>(next++);
}

ProfWriter::Run ProfWriter::RunTask(uint16_t stream, uint16_t sqe, uint64_t runtime_type,
                                    uint64_t kernel, uint64_t time, uint64_t not_before,
                                    uint64_t ticks) {
  const uint16_t task = NextTask(stream, time);
  raw::TaskTrack track{};
  track.device = kDevice;
  track.stream = stream;
  track.task = task | uint32_t{flips_[stream]} << 16;
  track.type = runtime_type;
  track.kernel = kernel;
  track.blocks = 20;
  HostRecord("compact.task_track", raw::kCompactBytes, raw::kLevelRuntime, 802, time, track);
  uint64_t& free_at = free_at_[stream];
  Run run{task, std::max(free_at + 10, not_before), 0};
  run.end = run.begin + ticks;
  free_at = run.end;
  for (const bool is_end : {false, true}) {
    raw::StarsLog log{};
    log.head = Head(is_end ? raw::kTaskEnd : raw::kTaskStart, sequence_++, sqe);
    log.magic = raw::kStarsMagic;
    log.stream = stream;
    log.task = task;
    log.time = is_end ? run.end : run.begin;
    Append("device_0/data/stars_soc.data.0", log);
  }
  return run;
}

// A call lasts at least 2 us, so that what it holds has times of its own.
ProfWriter::Call ProfWriter::MakeCall() {
  constexpr uint64_t kShortestNs = 2000;
  Call call{Now(CLOCK_MONOTONIC_RAW), 0};
  do call.end = Now(CLOCK_MONOTONIC_RAW);
  while (call.end < call.begin + kShortestNs);
  return call;
}

void ProfWriter::Truth(const char* kind, std::string_view name, std::string_view detail,
                       uint16_t stream, const Run& run, const Call& call) {
  const char* path = std::getenv("STANDIN_TRUTH");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s\t%.*s\t%.*s\t%u\t%u\t%lld\t%lld\t%lld\n", kind,
               static_cast<int>(name.size()), name.data(), static_cast<int>(detail.size()),
               detail.data(), stream, run.task, static_cast<long long>(Utc(run.begin)),
               static_cast<long long>(Utc(run.end)),
               static_cast<long long>(call.begin) + static_cast<long long>(utc_offset_ns_));
  std::fclose(file);
}

void ProfWriter::Kernel(std::string_view name, std::string_view type, uint16_t stream,
                        uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  const Call call = MakeCall();
  const uint64_t item = Hash(name);
  Api(raw::kLevelNode, kLaunch, call.begin, call.end, item);
  const Run run = RunTask(stream, kAicoreSqe, raw::kTaskKernelAicore, item, call.begin + 1000,
                          Ticks(call.end), ticks);
  raw::NodeBasicInfo info{};
  info.name = item;
  info.type = Hash(type);
  info.blocks = 20;
  HostRecord("compact.node_basic_info", raw::kCompactBytes, raw::kLevelNode, 0, call.end, info);
  raw::FftsPmu counters{};
  counters.head = Head(raw::kContextPmu, sequence_, 0);
  counters.stream = stream;
  counters.task = run.task;
  counters.cycles = ticks * 37;
  counters.begin = run.begin;
  counters.end = run.end;
  Append("device_0/data/ffts_profile.data.0", counters);
  Truth("kernel", name, type, stream, run, call);
}

void ProfWriter::Collective(std::string_view name, std::string_view group, uint16_t stream,
                            uint64_t bytes, uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  const Call call = MakeCall();
  Api(raw::kLevelNode, kLaunch, call.begin, call.end, Hash(name));
  raw::HcclOpInfo op{};
  op.data_type = 4;
  op.algorithm = Hash("RING");
  op.count = bytes / 4;
  op.group = Hash(group);
  HostRecord("compact.hccl_op_info", raw::kCompactBytes, raw::kLevelNode, 10, call.end, op);
  raw::NodeBasicInfo info{};
  info.name = info.type = Hash(name);
  info.task_type = 9;
  HostRecord("compact.node_basic_info", raw::kCompactBytes, raw::kLevelNode, 0, call.end, info);
  Run whole{};
  uint64_t at = call.begin + 100;
  for (const bool is_transfer : {false, true}) {
    const uint64_t item = Hash(is_transfer ? "Memcpy" : "Notify_Wait");
    Api(raw::kLevelCommunication, kMaster, at, at + 800, item);
    const Run run = RunTask(stream, is_transfer ? kSdmaSqe : kNotifyWaitSqe,
                            is_transfer ? raw::kTaskMemcpyAsync : raw::kTaskNotifyWait, 0, at + 400,
                            Ticks(call.end), ticks);
    raw::HcclInfo task{};
    task.item = item;
    task.group = op.group;
    task.remote_rank = 1;
    task.rank_size = 2;
    task.context = raw::kNone32;
    task.notify = raw::kNone64;
    task.size = is_transfer ? bytes : 0;
    task.data_type = 4;
    task.link = 1;
    task.rdma = raw::kNone32;
    HostRecord("additional.hccl_info", raw::kAdditionalBytes, raw::kLevelCommunication, 0x10000,
               at + 800, task);
    if (!is_transfer) whole = run;
    whole.end = run.end;
    at += 900;
  }
  Truth("collective", name, group, stream, whole, call);
}

void ProfWriter::Finish() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  is_open_ = false;
  for (auto& [name, out] : outputs_) {
    if (out.file != nullptr) std::fclose(out.file);
    WriteFile(out.path + ".done", "filesize:" + std::to_string(out.bytes) + "\n");
  }
  const uint64_t end_ns = Now(CLOCK_MONOTONIC_RAW);
  const uint64_t utc_us = (end_ns + static_cast<uint64_t>(utc_offset_ns_)) / 1000 + 1;
  const std::string end = R"({"collectionTimeEnd":")" + std::to_string(utc_us) +
                          R"(","clockMonotonicRaw":")" + std::to_string(end_ns) + "\"}";
  WriteFile(folder_ + "/host/end_info", end);
  WriteFile(folder_ + "/device_0/end_info.0", end);
}

}  // namespace standin
