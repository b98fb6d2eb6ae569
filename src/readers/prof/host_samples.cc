#include "readers/prof/host_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/number.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/counter_writer.h"
#include "readers/prof/text_lines.h"

namespace steplens::readers::prof {
namespace {

constexpr double kTicksPerSecond = 100;  // of /proc/<pid>/stat
constexpr double kPageKb = 4;
constexpr int kNsDigits = 9;
constexpr int kNsDigitsOfMs = 6;

class HostSampler {
 public:
  HostSampler(const Side& host, const Control& control, const SideClock& clock,
              const ReadOptions& options, TrackBuilder& tracks, store::TraceStore& out)
      : host_(host),
        control_(control),
        clock_(clock),
        options_(options),
        tracks_(tracks),
        out_(out) {}

  void Write() {
    WriteCpu();
    WriteMemory();
    WriteNetwork();
    WriteDisk();
    WritePthreadCalls();
    WriteSystemCalls();
  }

 private:
  template <typename Visit>
  void ForEachLine(std::string_view family, const Visit& visit) {
    ForEachTextLine(host_.Find(family), options_, out_.issues, visit);
  }
  CounterWriter Counters(const ExporterProcess& process) {
    return {process, store::kNone, clock_.begin_ns, tracks_, out_};
  }
  void CountDamage(std::string_view family, std::string_view line) {
    out_.issues.Add(store::IssueKind::kRecordDamaged,
                    fmt::format("{}: '{}' is not understood", family, line.substr(0, 60)));
  }
  static double NumberAt(const std::vector<std::string_view>& words, size_t place) {
    return place < words.size() ? ParseDouble(words[place]).value_or(0) : 0;
  }

  // Blocks of a time, the system's uptime and the state of each thread. What was used between two
  // blocks is shown at the first of them.
  void WriteCpu() {
    struct Thread {
      double ticks;
      int64_t processor;
    };
    struct Block {
      int64_t ts_ns = 0;
      double uptime_s = 0;
      std::map<std::string, Thread> threads;
    };
    constexpr size_t kUserTicks = 11;  // behind the name, which may hold blanks
    constexpr size_t kProcessor = 36;
    CounterWriter counters = Counters(kCpuUsage);
    std::optional<Block> before;
    std::optional<Block> now;
    bool wants_uptime = false;
    const auto finish = [&] {
      if (now && before) {
        const double seconds = now->uptime_s - before->uptime_s;
        std::map<int64_t, double> used;
        for (const auto& [id, thread] : now->threads) {
          const auto last = before->threads.find(id);
          if (last == before->threads.end()) continue;
          used[thread.processor] += std::clamp(thread.ticks - last->second.ticks, 0.0,
                                               std::max(0.0, seconds * kTicksPerSecond));
        }
        for (const auto& [processor, ticks] : used) {
          const double percent = seconds > 0 ? ticks * 100 / (seconds * kTicksPerSecond) : 0;
          if (percent <= 100) {
            counters.Add(fmt::format("CPU {}", processor), "Usage(%)", before->ts_ns, percent);
          }
        }
      }
      if (now) before = std::move(now);
      now.reset();
    };
    ForEachLine("host_cpu", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      if (words[0] == "time") {
        finish();
        const auto ns = words.size() > 1 ? ParseInt64(words[1]) : std::nullopt;
        if (!ns) return CountDamage("host_cpu", line);
        now.emplace();
        now->ts_ns = clock_.Utc(*ns);
        wants_uptime = true;
      } else if (now && wants_uptime) {
        now->uptime_s = NumberAt(words, 0);
        wants_uptime = false;
      } else if (const size_t name_end = line.rfind(')'); now && name_end != line.npos) {
        const std::vector<std::string_view> fields = SplitWords(line.substr(name_end + 1));
        if (fields.size() <= kProcessor) return CountDamage("host_cpu", line);
        now->threads[std::string(words[0])] = {
            NumberAt(fields, kUserTicks) + NumberAt(fields, kUserTicks + 1),
            static_cast<int64_t>(NumberAt(fields, kProcessor))};
      } else {
        CountDamage("host_cpu", line);
      }
    });
    finish();
  }

  void WriteMemory() {
    if (control_.memory_kb <= 0) return;
    CounterWriter counters = Counters(kMemoryUsage);
    std::optional<int64_t> before_ns;
    ForEachLine("host_mem", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      const auto ns = ParseInt64(words[0]);
      if (!ns || words.size() < 3) return CountDamage("host_mem", line);
      const int64_t ts_ns = clock_.Utc(*ns);
      if (before_ns) {
        counters.Add("Memory Usage", "Usage(%)", *before_ns,
                     NumberAt(words, 2) * kPageKb / control_.memory_kb * 100);
      }
      before_ns = ts_ns;
    });
  }

  void WriteNetwork() {
    constexpr double kBytesPerMbit = 1e6 / 8;
    const double card_bytes = control_.card_speed_mbps * kBytesPerMbit;
    if (card_bytes <= 0) return;
    CounterWriter counters = Counters(kNetworkUsage);
    SheetBuilder speeds("prof_host_network", {"time", "speed"});
    struct Block {
      int64_t ts_ns = 0;
      double bytes = 0;
    };
    std::optional<Block> before;
    std::optional<Block> now;
    const auto finish = [&] {
      if (now && before && now->ts_ns > before->ts_ns) {
        const double seconds =
            static_cast<double>(SubtractSaturating(now->ts_ns, before->ts_ns)) / 1e9;
        const double rate = std::max(0.0, now->bytes - before->bytes) / seconds;
        AddTo(speeds, before->ts_ns, {rate});
        counters.Add("Network Usage", "Usage(%)", before->ts_ns, rate / card_bytes * 100);
      }
      if (now) before = now;
      now.reset();
    };
    ForEachLine("host_network", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      if (words[0] == "time") {
        finish();
        const auto ns = words.size() > 1 ? ParseInt64(words[1]) : std::nullopt;
        if (!ns) return CountDamage("host_network", line);
        now = Block{clock_.Utc(*ns), 0};
        return;
      }
      const size_t colon = line.find(':');
      if (!now || colon == line.npos) return;  // a header
      const std::string card(Trim(line.substr(0, colon)));
      const auto known = std::find(control_.card_names.begin(), control_.card_names.end(), card);
      if (known == control_.card_names.end()) return;
      const std::vector<std::string_view> fields = SplitWords(line.substr(colon + 1));
      constexpr size_t kSentBytes = 8;
      now->bytes += NumberAt(fields, 0) + NumberAt(fields, kSentBytes);
    });
    finish();
    speeds.Finish(out_);
  }

  // A row of a sheet that begins with the time since the capture's start; nothing of before it.
  void AddTo(SheetBuilder& sheet, int64_t ts_ns, std::initializer_list<double> values) const {
    if (ts_ns < clock_.begin_ns) return;
    sheet.Number(static_cast<double>(ts_ns - clock_.begin_ns));
    for (const double value : values) sheet.Number(value);
  }

  // One sample begins with a line of totals; samples are equally far apart.
  void WriteDisk() {
    constexpr int64_t kPeriodNs = 20'000'000;
    CounterWriter counters = Counters(kDiskUsage);
    SheetBuilder rates("prof_host_disk", {"time", "readRate", "writeRate"});
    double read_rate = 0;
    double write_rate = 0;
    std::optional<int64_t> ts_ns;
    double percent = 0;
    bool has_rows = false;
    const auto finish = [&] {
      if (!ts_ns || !has_rows) return;
      counters.Add("Disk Usage", "Usage(%)", *ts_ns, percent);
      AddTo(rates, *ts_ns, {read_rate, write_rate});
      read_rate = write_rate = 0;
      ts_ns = AddSaturating(*ts_ns, kPeriodNs);
      percent = 0;
      has_rows = false;
    };
    ForEachLine("host_disk", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      if (words[0] == "start_time") {
        if (const auto ns = words.size() > 1 ? ParseInt64(words[1]) : std::nullopt)
          ts_ns = clock_.Utc(*ns);
      } else if (words[0].find(':') != words[0].npos && words.size() > 11) {
        constexpr size_t kBusyPercent = 10;
        percent += NumberAt(words, kBusyPercent);
        constexpr size_t kRead = 4;  // a number and its unit
        read_rate += NumberAt(words, kRead) * BytesOf(words[kRead + 1]);
        write_rate += NumberAt(words, kRead + 2) * BytesOf(words[kRead + 3]);
        has_rows = true;
      } else {
        finish();
      }
    });
    finish();
    rates.Finish(out_);
  }

  // 1024 of "K/s".
  static double BytesOf(std::string_view unit) {
    constexpr double kKb = 1024;
    if (unit.starts_with('K')) return kKb;
    if (unit.starts_with('M')) return kKb * kKb;
    return unit.starts_with('G') ? kKb * kKb * kKb : 1;
  }

  void AddCall(int64_t thread, std::string_view name, int64_t begin_ns, int64_t dur_ns) {
    store::SliceTable::Row slice;
    slice.track = tracks_.HostThread(
        kOsRuntime, static_cast<int64_t>(static_cast<uint64_t>(control_.pid) << 32 |
                                         static_cast<uint32_t>(thread)));
    slice.begin_ns = begin_ns;
    slice.dur_ns = std::max<int64_t>(0, dur_ns);
    slice.name = out_.strings.Intern(name);
    out_.slices.Append(slice);
  }

  // [pid 4321] 1715932800.123456 python3->pthread_mutex_lock(0x0) = 0 <0.000012>
  void WritePthreadCalls() {
    ForEachLine("host_pthreadcall", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      const size_t arrow = line.find("->");
      const size_t brace = line.find('(', std::min(arrow, line.size()));
      const size_t length = line.rfind('<');
      if (words.size() < 4 || arrow == line.npos || brace == line.npos || length == line.npos)
        return CountDamage("host_pthreadcall", line);
      const auto thread = ParseInt64(words[1].substr(0, words[1].find(']')));
      const auto begin_ns = ParseScaled(words[2], kNsDigits);
      std::string_view seconds = line.substr(length + 1);
      seconds = seconds.substr(0, seconds.find('>'));
      const auto dur_ns = ParseScaled(seconds, kNsDigits);
      if (!thread || !begin_ns || !dur_ns) return CountDamage("host_pthreadcall", line);
      AddCall(*thread, line.substr(arrow + 2, brace - arrow - 2), *begin_ns, *dur_ns);
    });
  }

  // 5000.100 ( 0.0100 ms): python3/4321 futex(uaddr: 0x0) = 0
  // Times are relative to the tracer's start: the first call counts as the capture's beginning.
  void WriteSystemCalls() {
    std::optional<int64_t> first_ns;
    ForEachLine("host_syscall", [&](std::string_view line) {
      const std::vector<std::string_view> words = SplitWords(line);
      if (words.empty()) return;
      const size_t brace = line.find('(');
      const size_t head_end = line.find("):");
      const auto time_ns = ParseScaled(words[0], kNsDigitsOfMs);
      if (!time_ns || brace == line.npos || head_end == line.npos || head_end < brace)
        return CountDamage("host_syscall", line);
      const std::vector<std::string_view> length =
          SplitWords(line.substr(brace + 1, head_end - brace - 1));
      const auto dur_ns =
          length.empty() ? std::nullopt : ParseScaled(length.front(), kNsDigitsOfMs);
      const std::vector<std::string_view> rest = SplitWords(line.substr(head_end + 2));
      if (!dur_ns || rest.size() < 2) return CountDamage("host_syscall", line);
      const auto thread = ParseInt64(rest[0].substr(rest[0].rfind('/') + 1));
      if (!thread) return CountDamage("host_syscall", line);
      if (!first_ns) first_ns = *time_ns;
      AddCall(*thread, rest[1].substr(0, rest[1].find('(')),
              AddSaturating(clock_.begin_ns, SubtractSaturating(*time_ns, *first_ns)), *dur_ns);
    });
  }

  const Side& host_;
  const Control& control_;
  const SideClock& clock_;
  const ReadOptions& options_;
  TrackBuilder& tracks_;
  store::TraceStore& out_;
};

}  // namespace

void WriteHostSamples(const Side& host, const Control& control, const SideClock& clock,
                      const ReadOptions& options, TrackBuilder& tracks, store::TraceStore& out) {
  HostSampler(host, control, clock, options, tracks, out).Write();
}

}  // namespace steplens::readers::prof
