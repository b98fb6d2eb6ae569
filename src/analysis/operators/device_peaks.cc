#include "analysis/operators/device_peaks.h"

#include <array>

#include "base/json.h"

namespace steplens::analysis {
namespace {

constexpr double kNo = DevicePeaks::kNone;
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr int64_t kGib = int64_t{1} << 30;

// A device by a word of its name and a part of the rest; TFLOP/s and GB/s of its data sheet.
struct KnownDevice {
  std::string_view word;
  std::string_view part;
  int64_t most_memory_gib;  // 0: any
  double fp16, fp8, tf32, fp32, fp64, gbps;
};

// The first that fits counts. A GPU of two dies (MI250X) is two devices, each half of it.
constexpr std::array kDevices = {
    KnownDevice{"B200", "", 0, 2250, 4500, 1125, 75, kNo, 8000},
    KnownDevice{"H200", "", 0, 989.4, 1978.9, 494.7, 66.9, 66.9, 4800},
    KnownDevice{"H20", "", 0, 148, 296, 74, 44, 1, 4000},
    KnownDevice{"H100", "PCIe", 0, 756.4, 1513, 378, 51.2, 51.2, 2039},
    KnownDevice{"H100", "", 0, 989.4, 1978.9, 494.7, 66.9, 66.9, 3352},
    KnownDevice{"H800", "", 0, 989.4, 1978.9, 494.7, 66.9, 1, 3352},
    KnownDevice{"A100", "", 50, 312, 624, 156, 19.5, 19.5, 1555},
    KnownDevice{"A100", "PCIe", 0, 312, 624, 156, 19.5, 19.5, 1935},
    KnownDevice{"A100", "", 0, 312, 624, 156, 19.5, 19.5, 2039},
    KnownDevice{"A800", "", 50, 312, 624, 156, 19.5, 19.5, 1555},
    KnownDevice{"A800", "", 0, 312, 624, 156, 19.5, 19.5, 2039},
    KnownDevice{"A30", "", 0, 165, 330, 82, 10.3, 10.3, 933},
    KnownDevice{"A40", "", 0, 149.7, 299.3, 74.8, 37.4, kNo, 696},
    KnownDevice{"L40S", "", 0, 362, 733, 183, 91.6, kNo, 864},
    KnownDevice{"L4", "", 0, 121, 242, 60, 30.3, kNo, 300},
    KnownDevice{"V100", "PCI", 0, 112, kNo, kNo, 14, 7, 900},
    KnownDevice{"V100", "", 0, 125, kNo, kNo, 15.7, 7.8, 900},
    KnownDevice{"Tesla T4", "", 0, 65, 130, kNo, 8.1, kNo, 320},
    KnownDevice{"MI325X", "", 0, 1307.4, 2614.9, 653.7, 163.4, 163.4, 6000},
    KnownDevice{"MI300X", "", 0, 1307.4, 2614.9, 653.7, 163.4, 163.4, 5325},
    KnownDevice{"MI250X", "", 0, 191.5, 191.5, kNo, 47.9, 47.9, 1638},
    KnownDevice{"MI250", "", 0, 181, 181, kNo, 45.3, 45.3, 1638},
    KnownDevice{"MI210", "", 0, 181, 181, kNo, 45.3, 45.3, 1638},
};

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// An A4000 is no A40, a GH200 no H200.
bool HasWord(std::string_view name, std::string_view word) {
  const size_t at = name.find(word);
  if (at == std::string_view::npos) return false;
  const size_t end = at + word.size();
  return (at == 0 || !IsAlphanumeric(name[at - 1])) &&
         (end == name.size() || !IsAlphanumeric(name[end]));
}

bool Fits(const KnownDevice& device, std::string_view name, int64_t memory_bytes) {
  return HasWord(name, device.word) && name.find(device.part) != std::string_view::npos &&
         (device.most_memory_gib == 0 || memory_bytes <= device.most_memory_gib * kGib);
}

// The device that the rank's first kernel names: a process uses one.
int64_t DeviceOfRank(const store::TraceStore& store) {
  for (const int64_t device : store.kernels.device) {
    if (device != store::kNone) return device;
  }
  return store::kNone;
}

}  // namespace

double DevicePeaks::FlopsPerSecond(std::string_view type, bool is_matrix, double achieved) const {
  if (type == "double") return fp64;
  if (!is_matrix) return fp32;
  if (type == "c10::Half" || type == "c10::BFloat16") return fp16;
  if (type.starts_with("c10::Float8") || type == "signed char") return fp8;
  if (type == "float") return achieved > fp32 && tf32 > fp32 ? tf32 : fp32;
  return kNone;
}

std::optional<DevicePeaks> PeaksOfDevice(std::string_view name, int64_t memory_bytes) {
  for (const KnownDevice& device : kDevices) {
    if (!Fits(device, name, memory_bytes)) continue;
    return DevicePeaks{.fp16 = device.fp16 * kTera,
                       .fp8 = device.fp8 * kTera,
                       .tf32 = device.tf32 * kTera,
                       .fp32 = device.fp32 * kTera,
                       .fp64 = device.fp64 * kTera,
                       .bytes_per_s = device.gbps * kGiga};
  }
  return std::nullopt;
}

std::optional<DevicePeaks> FindDevicePeaks(const store::TraceStore& store) {
  const auto text = store.FindMeta("deviceProperties");
  if (!text) return std::nullopt;
  const Result<JsonDocument> devices = JsonDocument::Parse(*text, "deviceProperties");
  if (!devices.ok()) return std::nullopt;
  const int64_t wanted = DeviceOfRank(store);
  std::optional<DevicePeaks> peaks;
  devices->root().ForEachElement([&](JsonValue device) {
    if (peaks || (wanted != store::kNone && device["id"].AsInt() != wanted)) return;
    const auto name = device["name"].AsString();
    if (name) peaks = PeaksOfDevice(*name, device["totalGlobalMem"].AsInt().value_or(0));
  });
  return peaks;
}

}  // namespace steplens::analysis
