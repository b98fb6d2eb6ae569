#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace steplens::collect {

// Samples the machine from /proc and /sys. Series and units: docs/formats/framework.md. A source
// that cannot be read gives no samples. Not for the training thread: reading takes some hundred
// microseconds.
class HostSampler {
 public:
  using Take = std::function<void(std::string_view series, double value)>;

  // `sources`: sl_host_source bits. `root` stands for "/" in tests.
  explicit HostSampler(uint32_t sources, std::string root = "");

  // Calls take(series, value) for each series; `now_ns` is monotonic. Rates and CPU use are those
  // since the call before, so the first call gives only what needs no difference.
  void Sample(int64_t now_ns, const Take& take);

 private:
  struct CpuTimes {
    uint64_t busy = 0;
    uint64_t total = 0;
  };

  void SampleCpu(const Take& take);
  void SampleMemory(const Take& take);
  void SampleDisk(const Take& take);
  void SampleNetwork(const Take& take);
  // The growth of a counter per second since the last sample; negative if there was none.
  double Rate(const std::string& name, uint64_t value);
  double LinkBytesPerSecond(std::string_view interface) const;
  std::string Read(const char* path) const;

  const uint32_t sources_;
  const std::string root_;
  int64_t last_ns_ = 0;
  double elapsed_s_ = 0;  // 0 in the first sample
  std::map<std::string, CpuTimes, std::less<>> cpus_;
  std::map<std::string, uint64_t, std::less<>> counters_;
};

}  // namespace steplens::collect
