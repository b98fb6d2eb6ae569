// Reads any bytes as the files of a raw PROF_* folder: [family, length low, length high,
// bytes...]*. Every family of records can be met (tests/lint/fuzz_seeds_test.py sees to it);
// control files are sound unless the input has them, too.

#include "readers/prof/prof.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kControl[][2] = {
    {"host/info.json",
     R"({"platform_version":"5","pid":"7","drvVersion":467732,"memoryTotal":1000,)"
     R"("CPU":[{"Frequency":"100"}],"netCard":[{"netCardName":"eth0","speed":1000}]})"},
    {"device_0/info.json.0",
     R"({"platform_version":"5","drvVersion":467732,"CPU":[{"Frequency":"100"}],)"
     R"("DeviceInfo":[{"hwts_frequency":"49.999001","aic_frequency":"1850","ai_core_num":20,)"
     R"("aiv_num":40}]})"},
    {"device_0/sample.json",
     R"({"ai_core_metrics":"Memory","ai_core_profiling_events":"0x15,0x16,0x31,0x32",)"
     R"("aiv_metrics":"PipeUtilization","aiv_profiling_events":"0x8,0xa",)"
     R"("qosEvents":"A,B","npuEvents":"SMMU:0x2,0x8a,0x8c","llc_profiling":"read"})"},
    {"device_0/start_info.0", R"({"collectionTimeBegin":"1","clockMonotonicRaw":"1"})"},
    {"device_0/dev_start.log.0", "clock_monotonic_raw: 1\ncntvct: 1\n"},
};

constexpr std::string_view kFamilies[] = {
    "host/data/aging.api_event.data.slice_0",
    "host/data/aging.compact.task_track.slice_0",
    "host/data/aging.compact.task_track_v2.slice_0",
    "host/data/unaging.compact.node_basic_info.slice_0",
    "host/data/aging.compact.hccl_op_info.slice_0",
    "host/data/aging.additional.graph_id_map.slice_0",
    "host/data/aging.compact.capture_stream_info.slice_0",
    "host/data/aging.compact.expand_stream_spec.slice_0",
    "host/data/aging.additional.tensor_info.slice_0",
    "host/data/aging.additional.context_id_info.slice_0",
    "host/data/aging.additional.hccl_info.slice_0",
    "host/data/aging.additional.mc2_comm_info.slice_0",
    "host/data/aging.additional.task_memory_info.slice_0",
    "host/data/aging.additional.capture_op_info.slice_0",
    "host/data/aging.additional.fusion_op_info.slice_0",
    "device_0/data/l2_cache.data.0.slice_0",
    "host/data/aging.additional.msproftx.slice_0",
    "host/data/aging.additional.hash_dic.slice_0",
    "host/data/aging.additional.type_info_dic.slice_0",
    "host/data/host_cpu.data.slice_0",
    "host/data/host_mem.data.slice_0",
    "host/data/host_network.data.slice_0",
    "host/data/host_disk.data.slice_0",
    "host/data/host_syscall.data.slice_0",
    "host/data/host_pthreadcall.data.slice_0",
    "device_0/data/stars_soc.data.0.slice_0",
    "device_0/data/stars_soc.data.0.slice_1",
    "device_0/data/stars_soc_profile.data.0.slice_0",
    "device_0/data/ffts_profile.data.0.slice_0",
    "device_0/data/ts_track.data.0.slice_3",
    "device_0/data/hwts.data.0.slice_0",
    "device_0/data/aicore.data.0.slice_0",
    "device_0/data/lpmFreqConv.data.0.slice_0",
    "device_0/data/aicpu.data.0.slice_0",
    "device_0/data/hbm.data.0.slice_0",
    "device_0/data/llc.data.0.slice_0",
    "device_0/data/ddr.data.0.slice_0",
    "device_0/data/npu_mem.app.0.slice_0",
    "device_0/data/npu_module_mem.data.0.slice_0",
    "device_0/data/pcie.data.0.slice_0",
    "device_0/data/qos.data.0.slice_0",
    "device_0/data/hccs.data.0.slice_0",
    "device_0/data/nic.data.0.slice_0",
    "device_0/data/netdev_stats.data.0.slice_0",
    "device_0/info.json.0",
    "device_0/sample.json",
    "host/start_info",
    "host/host_start.log",
    "host/data/aging.compact.node_attr_info.slice_0",
    "host/data/aging.compact.memcpy_info.slice_0",
    "host/data/aging.compact.capture_stream_info_v2.slice_0",
    "device_0/data/socpmu.data.0.slice_0",
    "host/data/aging.additional.static_op_mem.slice_0",
    "host/data/unaging.variable.capture_op_info.slice_0",
    "device_0/data/aiVectorCore.data.0.slice_0",
    "device_0/data/npu_mem.data.0.slice_0",
    "device_0/data/roce.data.0.slice_0",
    "device_0/data/dvpp.data.0.slice_0",
    "device_0/data/DATA_PREPROCESS.AICPU.0.slice_0",
};

// Columns have equal length, and rows refer to rows that exist.
void CheckStore(const steplens::store::TraceStore& store) {
  store.ForEachTable([](const auto& table) {
    table.ForEachColumn([&](auto, auto, const auto& column) {
      if (column.size() != table.size()) std::abort();
    });
  });
  for (const auto& column : store.kernel_metrics) {
    if (column.size() != store.kernels.size()) std::abort();
  }
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (static_cast<size_t>(store.slices.track[i]) >= store.tracks.size()) std::abort();
    if (store.slices.dur_ns[i] < 0) std::abort();
  }
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fs::path root = "/tmp/PROF_fuzz." + std::to_string(::getpid());
  fs::create_directories(root / "host/data");
  fs::create_directories(root / "device_0/data");
  for (const auto& [name, text] : kControl) WriteFile(root / name, text);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (rest.size() >= 3) {
    const std::string_view family = kFamilies[static_cast<uint8_t>(rest[0]) % std::size(kFamilies)];
    const size_t claimed =
        static_cast<uint8_t>(rest[1]) | static_cast<size_t>(static_cast<uint8_t>(rest[2])) << 8;
    rest.remove_prefix(3);
    const std::string_view bytes = rest.substr(0, claimed);
    rest.remove_prefix(bytes.size());
    WriteFile(root / family, bytes);
  }
  steplens::ThreadPool pool(1);
  steplens::readers::ReadOptions options;
  options.pool = &pool;
  steplens::store::TraceStore store;
  (void)steplens::readers::ReadProf(root.string(), options, store).ok();
  CheckStore(store);
  fs::remove_all(root);
  return 0;
}
