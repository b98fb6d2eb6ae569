#include "collect/host_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "steplens/collect.h"

namespace steplens::collect {
namespace {

// Cuts `text` at the first `separator`; what was in front is returned, `text` becomes the rest.
std::string_view CutFront(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view front = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return front;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t", start), line.size());
    words.push_back(line.substr(start, end - start));
    line.remove_prefix(end);
  }
  return words;
}

uint64_t Number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "sda", "vdb", "nvme0n1": whole disks; not partitions, which would count everything twice, nor
// loop devices.
bool IsDisk(std::string_view name) {
  if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("dm-") ||
      name.starts_with("md") || name.starts_with("zram")) {
    return false;
  }
  const bool ends_in_digit = name.back() >= '0' && name.back() <= '9';
  if (!ends_in_digit) return true;
  if (!name.starts_with("nvme") && !name.starts_with("mmcblk")) return false;
  const size_t last_letter = name.find_last_not_of("0123456789");
  return last_letter == std::string_view::npos || name[last_letter] != 'p';
}

}  // namespace

HostSampler::HostSampler(uint32_t sources, std::string root)
    : sources_(sources), root_(std::move(root)) {}

void HostSampler::Sample(int64_t now_ns, const Take& take) {
  elapsed_s_ = last_ns_ == 0 ? 0 : static_cast<double>(now_ns - last_ns_) / 1e9;
  last_ns_ = now_ns;
  if ((sources_ & SL_HOST_CPU) != 0) SampleCpu(take);
  if ((sources_ & SL_HOST_MEMORY) != 0) SampleMemory(take);
  if ((sources_ & SL_HOST_DISK) != 0) SampleDisk(take);
  if ((sources_ & SL_HOST_NETWORK) != 0) SampleNetwork(take);
}

std::string HostSampler::Read(const char* path) const {
  std::string text;
  const int fd = open((root_ + path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char piece[8192];
  while (text.size() < (4u << 20)) {
    const ssize_t size = read(fd, piece, sizeof(piece));
    if (size <= 0) break;
    text.append(piece, static_cast<size_t>(size));
  }
  close(fd);
  return text;
}

double HostSampler::Rate(const std::string& name, uint64_t value) {
  const auto [found, is_new] = counters_.try_emplace(name, value);
  const uint64_t before = std::exchange(found->second, value);
  if (is_new || elapsed_s_ <= 0 || value < before) return -1;
  return static_cast<double>(value - before) / elapsed_s_;
}

// "cpu0 user nice system idle iowait irq softirq steal guest guest_nice"; guest time is part of
// user time already.
void HostSampler::SampleCpu(const Take& take) {
  const std::string text = Read("/proc/stat");
  std::string_view rest = text;
  while (rest.starts_with("cpu")) {
    const std::vector<std::string_view> words = Words(CutFront(&rest, '\n'));
    if (words.size() < 5) continue;
    CpuTimes now;
    for (size_t i = 1; i < std::min<size_t>(words.size(), 9); ++i) now.total += Number(words[i]);
    const uint64_t idle = Number(words[4]) + (words.size() > 5 ? Number(words[5]) : 0);
    now.busy = now.total - std::min(idle, now.total);
    const std::string_view which = words[0].size() == 3 ? "all" : words[0].substr(3);
    const std::string series = "CPU Usage/" + std::string(which);
    const auto [found, is_new] = cpus_.try_emplace(series, now);
    const CpuTimes before = std::exchange(found->second, now);
    if (is_new || now.total <= before.total) continue;
    const uint64_t busy = now.busy > before.busy ? now.busy - before.busy : 0;
    take(series, 100.0 * static_cast<double>(busy) / static_cast<double>(now.total - before.total));
  }
}

void HostSampler::SampleMemory(const Take& take) {
  const std::string text = Read("/proc/meminfo");
  uint64_t total = 0;
  uint64_t available = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::vector<std::string_view> words = Words(CutFront(&rest, '\n'));
    if (words.size() < 2) continue;
    if (words[0] == "MemTotal:") total = Number(words[1]);
    if (words[0] == "MemAvailable:") available = Number(words[1]);
  }
  if (total != 0) {
    const uint64_t used = total - std::min(available, total);
    take("Memory Usage/used", 100.0 * static_cast<double>(used) / static_cast<double>(total));
  }
  const std::string own = Read("/proc/self/statm");
  const std::vector<std::string_view> words = Words(own);
  if (words.size() < 2) return;
  const auto page_kb = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
  take("Memory Usage/process KB", static_cast<double>(Number(words[1]) * page_kb));
}

// major minor name reads merged sectors_read ms_reading writes merged sectors_written ms_writing
// in_flight ms_busy ...
void HostSampler::SampleDisk(const Take& take) {
  constexpr uint64_t kSectorBytes = 512;
  const std::string text = Read("/proc/diskstats");
  if (text.empty()) return;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  double busiest = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::vector<std::string_view> words = Words(CutFront(&rest, '\n'));
    if (words.size() < 13 || !IsDisk(words[2])) continue;
    read_bytes += Number(words[5]) * kSectorBytes;
    written_bytes += Number(words[9]) * kSectorBytes;
    const double busy_ms_per_s = Rate("busy " + std::string(words[2]), Number(words[12]));
    busiest = std::max(busiest, std::min(busy_ms_per_s / 10.0, 100.0));
  }
  const double read_rate = Rate("disk read", read_bytes);
  const double write_rate = Rate("disk write", written_bytes);
  if (read_rate < 0 || write_rate < 0) return;
  take("Disk Usage/read B/s", read_rate);
  take("Disk Usage/write B/s", write_rate);
  take("Disk Usage/busy", busiest);
}

double HostSampler::LinkBytesPerSecond(std::string_view interface) const {
  const std::string path = "/sys/class/net/" + std::string(interface) + "/speed";
  const std::string text = Read(path.c_str());  // Mbit/s; "-1" or nothing for virtual ones
  return static_cast<double>(Number(text)) * 1e6 / 8;
}

void HostSampler::SampleNetwork(const Take& take) {
  const std::string text = Read("/proc/net/dev");
  if (text.empty()) return;
  uint64_t received = 0;
  uint64_t sent = 0;
  double link_speed = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = CutFront(&rest, '\n');
    if (line.find(':') == std::string_view::npos) continue;  // the two lines of headings
    const std::vector<std::string_view> name = Words(CutFront(&line, ':'));
    const std::vector<std::string_view> words = Words(line);
    if (name.size() != 1 || name[0] == "lo" || words.size() < 9) continue;
    received += Number(words[0]);
    sent += Number(words[8]);
    link_speed += LinkBytesPerSecond(name[0]);
  }
  const double receive_rate = Rate("net receive", received);
  const double send_rate = Rate("net send", sent);
  if (receive_rate < 0 || send_rate < 0) return;
  take("Network Usage/receive B/s", receive_rate);
  take("Network Usage/send B/s", send_rate);
  take("Network Usage/usage",
       link_speed > 0 ? std::min(100.0, 100.0 * (receive_rate + send_rate) / link_speed) : 0);
}

}  // namespace steplens::collect
