#include "readers/prof/text_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/number.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/counter_writer.h"
#include "readers/prof/text_lines.h"

namespace steplens::readers::prof {
namespace {

constexpr double kBytesPerMb = 1 << 20;

// The numbers of a line behind its time; nothing if one of them is none.
std::optional<std::vector<double>> NumbersOf(const std::vector<std::string_view>& words,
                                             size_t least) {
  if (words.size() < least + 1) return std::nullopt;
  std::vector<double> numbers;
  for (size_t i = 1; i < words.size(); ++i) {
    const auto number = ParseDouble(words[i]);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

void CountLine(const SampleInput& input, std::string_view family, std::string_view line) {
  input.out.issues.Add(store::IssueKind::kRecordDamaged,
                       fmt::format("{}: '{}' is no row of the table", family, line.substr(0, 60)));
}

// visit(time of day, numbers) for the rows of a table; headers have letters in their first word.
template <typename Visit>
void ForEachRow(const SampleInput& input, std::string_view family, size_t least, bool is_host_time,
                const Visit& visit) {
  ForEachTextLine(
      input.side.Find(family), input.options, input.out.issues, [&](std::string_view line) {
        const std::vector<std::string_view> words = SplitWords(line);
        if (words.empty() || words[0].find_first_of("abcdefghijklmnopqrstuvwxyz") != words[0].npos)
          return;
        const auto time = ParseDeviceTime(words[0]);
        const auto numbers = NumbersOf(words, least);
        if (!time || !numbers) return CountLine(input, family, line);
        visit(is_host_time ? input.clock.Utc(static_cast<int64_t>(*time))
                           : input.clock.DeviceMonotonicUtc(*time),
              *numbers);
      });
}

CounterWriter CountersOf(const SampleInput& input, const ExporterProcess& process) {
  return {process, input.side.device, input.clock.begin_ns, input.tracks, input.out};
}

// Amounts that only grow: their growth per second.
void WriteHccs(const SampleInput& input) {
  CounterWriter counters = CountersOf(input, kHccs);
  RateOf rate;
  double last_tx = 0;
  double last_rx = 0;
  ForEachRow(input, "hccs", 2, false, [&](int64_t ts_ns, const std::vector<double>& row) {
    if (rate.Advance(ts_ns)) {
      counters.Add("Rx", "Rx(MB/s)", ts_ns, (row[1] - last_rx) / rate.elapsed_s() / kBytesPerMb);
      counters.Add("Tx", "Tx(MB/s)", ts_ns, (row[0] - last_tx) / rate.elapsed_s() / kBytesPerMb);
    }
    last_tx = row[0];
    last_rx = row[1];
  });
}

void WritePorts(const SampleInput& input, std::string_view family, const ExporterProcess& process) {
  // bandwidth, rxPacket/s, rxByte/s, rxPackets, rxBytes, rxErrors, rxDropped, the same of tx, port
  constexpr size_t kColumns = 13;
  CounterWriter counters = CountersOf(input, process);
  SheetBuilder all("prof_" + std::string(family),
                   {"device", "time", "bandwidth", "rxPacketRate", "rxByteRate", "rxPackets",
                    "rxBytes", "rxErrors", "rxDropped", "txPacketRate", "txByteRate", "txPackets",
                    "txBytes", "txErrors", "txDropped", "funcId"});
  ForEachRow(input, family, kColumns, false, [&](int64_t ts_ns, const std::vector<double>& row) {
    const double port = row.size() > kColumns ? row[kColumns] : 0;
    if (ts_ns >= input.clock.begin_ns) {
      all.Number(static_cast<double>(input.side.device))
          .Number(static_cast<double>(ts_ns - input.clock.begin_ns));
      for (size_t i = 0; i < kColumns; ++i) all.Number(row[i]);
      all.Number(port);
    }
    const auto add = [&](std::string_view side, size_t first) {
      const std::string name = fmt::format("Port {:.0f}/{}", port, side);
      counters.Add(name, fmt::format("{} Packets", side), ts_ns, row[first]);
      counters.Add(name, fmt::format("{}(MB/s)", side), ts_ns, row[first + 1] / kBytesPerMb);
      counters.Add(name, fmt::format("{} Errors", side), ts_ns, row[first + 4]);
      counters.Add(name, fmt::format("{} Dropped", side), ts_ns, row[first + 5]);
    };
    add("Rx", 1);
    add("Tx", 7);
  });
  all.Finish(input.out);
}

void WriteNetworkStatistics(const SampleInput& input) {
  struct Series {
    std::string_view name;
    std::string_view label;
    size_t column;
    bool has_rate = false;
    std::string_view rate_name = {};
  };
  constexpr Series kSeries[] = {{"macTxPfcPkt", "packets", 0},
                                {"macRxPfcPkt", "packets", 1},
                                {"macTxByte", "bytes", 2, true, "macTxBandwidth"},
                                {"macRxByte", "bytes", 3, true, "macRxBandwidth"},
                                {"macTxBadByte", "bytes", 4},
                                {"macRxBadByte", "bytes", 5},
                                {"roceTxPkt", "packets", 6},
                                {"roceRxPkt", "packets", 7},
                                {"roceTxErrPkt", "packets", 8},
                                {"roceRxErrPkt", "packets", 9},
                                {"roceTxCnpPkt", "packets", 10},
                                {"roceRxCnpPkt", "packets", 11},
                                {"roceNewPktRty", "packets", 12},
                                {"nicTxByte", "bytes", 13, true, "nicTxBandwidth"},
                                {"nicRxByte", "bytes", 14, true, "nicRxBandwidth"}};
  CounterWriter counters = CountersOf(input, kNetdevStats);
  RateOf rate;
  std::vector<double> last;
  ForEachRow(input, "netdev_stats", std::size(kSeries), true,
             [&](int64_t ts_ns, const std::vector<double>& row) {
               if (rate.Advance(ts_ns)) {
                 for (const Series& series : kSeries) {
                   const double grown = std::max(0.0, row[series.column] - last[series.column]);
                   counters.Add(series.name, series.label, ts_ns, grown);
                   if (series.has_rate) {
                     counters.Add(series.rate_name, "MB/s", ts_ns,
                                  grown / rate.elapsed_s() / kBytesPerMb);
                   }
                 }
               }
               last = row;
             });
}

// Engines for pictures and videos: the greatest of the values since the start of each.
void WritePictureEngines(const SampleInput& input) {
  // time, [dvpp id], engine type, engine id, all time, all frames, all use, ...
  constexpr size_t kLeastWords = 11;  // without the id
  struct Use {
    double time_us = 0;
    double frames = 0;
    double percent = 0;
  };
  std::map<std::tuple<double, double, double>, Use> engines;
  ForEachTextLine(
      input.side.Find("dvpp"), input.options, input.out.issues, [&](std::string_view line) {
        std::vector<std::string_view> words = SplitWords(line);
        if (words.empty() || words[0].find_first_of("abcdefghijklmnopqrstuvwxyz") != words[0].npos)
          return;
        const bool has_id = words.size() > kLeastWords;
        for (std::string_view& word : words) {
          if (word.ends_with('%')) word.remove_suffix(1);
        }
        const auto numbers = NumbersOf(words, kLeastWords - 1);
        if (!numbers) return CountLine(input, "dvpp", line);
        const size_t at = has_id ? 1 : 0;
        Use& use = engines[{has_id ? numbers->front() : 0, (*numbers)[at], (*numbers)[at + 1]}];
        use.time_us = std::max(use.time_us, (*numbers)[at + 2]);
        use.frames = std::max(use.frames, (*numbers)[at + 3]);
        use.percent = std::max(use.percent, (*numbers)[at + 4]);
      });
  SheetBuilder sheet("dvpp", {"Device_id", "Dvpp Id", "Engine Type", "Engine ID", "All Time(us)",
                              "All Frame", "All Utilization(%)"});
  for (const auto& [engine, use] : engines) {
    sheet.Number(static_cast<double>(input.side.device))
        .Number(std::get<0>(engine))
        .Number(std::get<1>(engine))
        .Number(std::get<2>(engine))
        .Number(use.time_us)
        .Number(use.frames)
        .Number(use.percent);
  }
  sheet.Finish(input.out);
}

}  // namespace

void WriteTextSamples(const SampleInput& input) {
  WriteHccs(input);
  WritePorts(input, "nic", kNic);
  WritePorts(input, "roce", kRoce);
  WriteNetworkStatistics(input);
  WritePictureEngines(input);
}

}  // namespace steplens::readers::prof
