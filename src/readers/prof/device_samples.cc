#include "readers/prof/device_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "format/prof/device_records.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/counter_writer.h"
#include "readers/prof/enum_names.h"
#include "readers/prof/record_files.h"
#include "readers/prof/text_samples.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using format::Bytes;

constexpr double kMb = 1 << 20;
constexpr double kKb = 1 << 10;

template <typename Layout>
std::vector<Layout> ReadSamples(const SampleInput& input, std::string_view family) {
  return ReadRows<Layout>(input.side.Find(family), sizeof(Layout), Cut::kAnywhere, input.options,
                          input.out.issues,
                          [](Bytes record, const Slice&, std::vector<Layout>& rows) {
                            rows.push_back(As<Layout>(record));
                            return true;
                          });
}

CounterWriter Counters(const SampleInput& input, const ExporterProcess& process) {
  return {process, input.side.device, input.clock.begin_ns, input.tracks, input.out};
}

bool IsVersion2(const Control& control) { return control.version == "2.0"; }

// A sample of a bandwidth counter, whatever its layout.
struct BandwidthRow {
  int64_t ts_ns;
  uint64_t count;
  uint32_t event;
  uint32_t id;
};

std::vector<BandwidthRow> ReadBandwidth(const SampleInput& input, std::string_view family) {
  std::vector<BandwidthRow> rows;
  if (!IsVersion2(input.control)) {
    for (const auto& sample : ReadSamples<raw::BandwidthSample>(input, family)) {
      rows.push_back(
          {input.clock.SinceStartUtc(sample.time_us), sample.count, sample.event, sample.id});
    }
  } else if (family == "hbm") {
    for (const auto& sample : ReadSamples<raw::HbmSampleV2>(input, family)) {
      rows.push_back({static_cast<int64_t>(sample.time_ns), sample.count, sample.event, sample.id});
    }
  } else {
    for (const auto& sample : ReadSamples<raw::LlcSampleV2>(input, family)) {
      rows.push_back({static_cast<int64_t>(sample.time_ns), sample.count, sample.event, sample.id});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BandwidthRow& a, const BandwidthRow& b) { return a.ts_ns < b.ts_ns; });
  return rows;
}

void WriteHbm(const SampleInput& input) {
  constexpr double kBytesPerCount = 256.0 / 8;
  CounterWriter counters = Counters(input, kHbm);
  std::map<std::pair<uint32_t, uint32_t>, RateOf> rates;
  for (const BandwidthRow& row : ReadBandwidth(input, "hbm")) {
    RateOf& rate = rates[{row.event == 0 ? 0 : 1, row.id}];
    const double mb = rate.Advance(row.ts_ns)
                          ? static_cast<double>(row.count) * kBytesPerCount / rate.elapsed_s() / kMb
                          : 0;
    const std::string_view kind = row.event == 0 ? "Read" : "Write";
    counters.Add(fmt::format("HBM {}/{}", row.id, kind), fmt::format("{}(MB/s)", kind), row.ts_ns,
                 mb);
  }
}

void WriteDdr(const SampleInput& input) {
  const bool is_wide = input.control.chip >= kChip910A && input.control.chip <= kChip310P;
  const double bytes_per_count = (is_wide ? 256.0 : 128.0) / 8;
  CounterWriter counters = Counters(input, kDdr);
  std::map<uint32_t, int64_t> last_ns;
  for (const auto& sample : ReadSamples<raw::DdrSample>(input, "ddr")) {
    if (sample.master != ~uint32_t{0}) continue;  // a part of the flow that another row has whole
    const int64_t ts_ns = input.clock.SinceStartUtc(sample.time_us);
    const uint32_t event = sample.event == 0 ? 0 : 1;
    const int64_t start_ns = input.clock.SinceStartUtc(0);
    const auto [place, is_new] = last_ns.try_emplace(event, start_ns);
    const double seconds = static_cast<double>(SubtractSaturating(ts_ns, place->second)) / 1e9;
    place->second = ts_ns;
    const double mb =
        seconds > 0 ? static_cast<double>(sample.count) * bytes_per_count / seconds / kMb : 0;
    const std::string_view kind = event == 0 ? "Read" : "Write";
    counters.Add(kind, fmt::format("{}(MB/s)", kind), ts_ns, mb);
  }
}

// Places of the events that hit rate and throughput are made of.
constexpr std::array<uint32_t, 8> kLlcRead = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36};
constexpr std::array<uint32_t, 8> kLlcWrite = {0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37};

void WriteLlc(const SampleInput& input) {
  const bool is_write = input.control.llc_mode == "write";
  const auto& events = is_write ? kLlcWrite : kLlcRead;
  const std::string_view mode = is_write ? "Write" : "Read";
  std::map<std::pair<uint32_t, int64_t>, std::array<double, 8>> samples;  // by id and time
  for (const BandwidthRow& row : ReadBandwidth(input, "llc")) {
    const auto place = std::find(events.begin(), events.end(), row.event);
    auto& counts = samples[{row.id, row.ts_ns}];
    if (place != events.end())
      counts[static_cast<size_t>(place - events.begin())] += static_cast<double>(row.count);
  }
  CounterWriter counters = Counters(input, kLlc);
  std::map<uint32_t, RateOf> rates;
  for (const auto& [key, counts] : samples) {
    const auto [id, ts_ns] = key;
    RateOf& rate = rates[id];
    // The factor of 64 stands twice in the reference; results agree with it.
    const double mb =
        rate.Advance(ts_ns) ? (counts[0] + counts[1]) * 64 * 64 / rate.elapsed_s() / kMb : 0;
    const double requests = counts[4] + counts[6];
    const double hits =
        requests > 0 ? (counts[2] + counts[3] + counts[5] + counts[7]) / requests : 0;
    counters.Add(fmt::format("LLC {} {}/Throughput", id, mode), "Throughput(MB/s)", ts_ns, mb);
    counters.Add(fmt::format("LLC {} {}/Hit Rate", id, mode), "Hit Rate(%)", ts_ns, hits / 100);
  }
}

void WritePcie(const SampleInput& input) {
  CounterWriter counters = Counters(input, kPcie);
  struct Series {
    std::string_view name;
    std::string_view label;
    size_t value;
  };
  constexpr size_t kLatency = 3;
  constexpr Series kSeries[] = {{"PCIe_cpl", "Rx", 6},
                                {"PCIe_cpl", "Tx", 2},
                                {"PCIe_nonpost", "Rx", 5},
                                {"PCIe_nonpost", "Tx", 1},
                                {"PCIe_nonpost_latency", "Tx", kLatency},
                                {"PCIe_post", "Rx", 4},
                                {"PCIe_post", "Tx", 0}};
  // All of it, for the exporter's database: names of its columns, times since the capture began.
  SheetBuilder all("prof_pcie", {"device",
                                 "time",
                                 "txPostMin",
                                 "txPostMax",
                                 "txPostAvg",
                                 "txNonpostMin",
                                 "txNonpostMax",
                                 "txNonpostAvg",
                                 "txCplMin",
                                 "txCplMax",
                                 "txCplAvg",
                                 "txNonpostLatencyMin",
                                 "txNonpostLatencyMax",
                                 "txNonpostLatencyAvg",
                                 "rxPostMin",
                                 "rxPostMax",
                                 "rxPostAvg",
                                 "rxNonpostMin",
                                 "rxNonpostMax",
                                 "rxNonpostAvg",
                                 "rxCplMin",
                                 "rxCplMax",
                                 "rxCplAvg"});
  for (const auto& sample : ReadSamples<raw::PcieSample>(input, "pcie")) {
    if (sample.values[0][1] < sample.values[0][0]) continue;  // maximum below minimum
    const int64_t ts_ns = input.clock.DeviceMonotonicUtc(sample.time_ns);
    if (ts_ns >= input.clock.begin_ns) {
      all.Number(static_cast<double>(input.side.device))
          .Number(static_cast<double>(ts_ns - input.clock.begin_ns));
      for (size_t i = 0; i < kLengthOf<decltype(sample.values)>; ++i) {
        for (size_t k = 0; k < 3; ++k) {
          const uint32_t value = sample.values[i][k];
          all.Number(i == kLatency ? value : value * 1e6);
        }
      }
    }
    for (const Series& series : kSeries) {
      const double average = sample.values[series.value][2];
      // Bandwidths are bytes per us, the latency is ns.
      const double value = series.value == kLatency ? average / 1000 : average * 1e6 / kMb;
      counters.Add(series.name, series.label, ts_ns, value);
    }
  }
  all.Finish(input.out);
}

void WriteQos(const SampleInput& input) {
  CounterWriter counters = Counters(input, kQos);
  for (const auto& sample : ReadSamples<raw::QosSample>(input, "qos")) {
    const int64_t ts_ns = input.clock.DeviceUtc(sample.time);
    for (size_t i = 0;
         i < input.control.qos_events.size() && i < kLengthOf<decltype(sample.bandwidth)>; ++i) {
      const uint32_t mb = sample.bandwidth[i];
      counters.Add(fmt::format("QoS {}", input.control.qos_events[i]), "value", ts_ns, mb);
    }
  }
}

// The same from STARS' own samples; the upper bits of the head are the die.
void WriteStarsQos(const SampleInput& input, const std::vector<raw::StarsSample>& samples) {
  CounterWriter counters = Counters(input, kQos);
  for (const raw::StarsSample& sample : samples) {
    if (sample.magic != raw::kStarsMagic || raw::FunctionOf(sample.head) != raw::kQosSample)
      continue;
    const Bytes record = format::AsBytes({reinterpret_cast<const char*>(&sample), sizeof(sample)});
    const int64_t ts_ns = input.clock.DeviceUtc(sample.time);
    const uint32_t die = raw::SqeTypeOf(sample.head);
    for (size_t i = 0; i < input.control.qos_events.size() && i < raw::kQosPerSample; ++i) {
      const auto mb = As<uint32_t>(record, raw::kQosAt + i * sizeof(uint32_t));
      counters.Add(fmt::format("QoS {}", input.control.qos_events[i]),
                   die == 0 ? "value" : fmt::format("die {}", die), ts_ns, mb);
    }
  }
}

// Traffic of the chip's links: PA (0) and PCIe (1).
void WriteChipLinks(const SampleInput& input, const std::vector<raw::StarsSample>& samples) {
  constexpr ExporterProcess kChipTrans{"Stars Chip Trans", 26, true};
  CounterWriter counters = Counters(input, kChipTrans);
  for (const raw::StarsSample& sample : samples) {
    if (sample.magic != raw::kStarsMagic || raw::FunctionOf(sample.head) != raw::kChipTransSample)
      continue;
    const int64_t ts_ns = input.clock.DeviceUtc(sample.time);
    const bool is_pcie = (sample.unit & 0x3F) == 1;
    const std::string_view names[] = {is_pcie ? "PCIE Write" : "PA Link Rx",
                                      is_pcie ? "PCIE Read" : "PA Link Tx"};
    for (size_t i = 0; i < std::size(names); ++i) {
      const uint64_t value = sample.values.wide[i];
      counters.Add(names[i], "value", ts_ns, static_cast<double>(value));
    }
  }
}

void WriteStarsSamples(const SampleInput& input) {
  std::vector<raw::StarsSample> samples = ReadSamples<raw::StarsSample>(input, "stars_soc_profile");
  {
    CounterWriter acc = Counters(input, kAccPmu);
    CounterWriter soc = Counters(input, kStarsSocInfo);
    for (const raw::StarsSample& sample : samples) {
      if (sample.magic != raw::kStarsMagic) continue;
      const int64_t ts_ns = input.clock.DeviceUtc(sample.time);
      const uint16_t function = raw::FunctionOf(sample.head);
      if (function == raw::kAccPmuSample) {
        const std::string unit = fmt::to_string(uint32_t{sample.unit});
        const std::pair<std::string_view, size_t> kSeries[] = {
            {"read_bandwidth", 1}, {"write_bandwidth", 0}, {"read_ost", 3}, {"write_ost", 2}};
        for (const auto& [name, place] : kSeries) {
          const uint64_t value = sample.values.wide[place];
          acc.Add(name, unit, ts_ns, static_cast<double>(value));
        }
      } else if (function == raw::kSocLevelSample) {
        // Named as results have them, which is the other way round than in the hardware.
        const uint32_t levels = sample.values.narrow[0] & 0xFFFF;
        soc.Add("L2 Buffer Bw Level", "L2 Buffer Bw Level", ts_ns, levels & 7);
        soc.Add("Mata Bw Level", "Mata Bw Level", ts_ns, (levels >> 3) & 0xFF);
      }
    }
  }
  WriteChipLinks(input, samples);
  WriteStarsQos(input, samples);
  CounterWriter sio = Counters(input, kSio);
  constexpr std::string_view kNames[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                         "req_tx", "rsp_tx", "snp_tx", "dat_tx"};
  std::map<uint32_t, RateOf> rates;
  for (const raw::StarsSample& sample : samples) {
    if (sample.magic != raw::kStarsMagic || raw::FunctionOf(sample.head) != raw::kSioSample)
      continue;
    const int64_t ts_ns = input.clock.DeviceUtc(sample.time);
    const uint32_t die = sample.unit;
    RateOf& rate = rates[die];
    if (!rate.Advance(ts_ns)) continue;
    for (size_t i = 0; i < std::size(kNames); ++i) {
      const uint32_t count = sample.values.narrow[i];
      sio.Add(kNames[i], fmt::format("die {}", die), ts_ns, count / rate.elapsed_s() / kMb);
    }
  }
}

// The frequency at the start and the end of the capture, and its changes.
void WriteFrequencies(const SampleInput& input, const std::vector<FrequencyPoint>& points) {
  if (points.empty()) return;
  CounterWriter counters = Counters(input, kAiCoreFreq);
  const auto add = [&](int64_t ts_ns, uint32_t mhz) {
    counters.Add("AI Core Freq", "MHz", ts_ns, mhz);
  };
  uint32_t before_mhz = static_cast<uint32_t>(input.control.aic_mhz);
  bool has_begun = false;
  for (const FrequencyPoint& point : points) {
    const int64_t ts_ns = input.clock.DeviceUtc(point.time);
    if (ts_ns > input.clock.begin_ns && !has_begun) {
      add(input.clock.begin_ns, before_mhz);
      has_begun = true;
    }
    if (ts_ns > input.clock.begin_ns) add(ts_ns, point.mhz);
    before_mhz = point.mhz;
  }
  if (!has_begun) add(input.clock.begin_ns, before_mhz);
  if (input.clock.end_ns > input.clock.begin_ns) add(input.clock.end_ns, before_mhz);
}

struct NpuMemoryRow {
  int64_t ts_ns;
  uint64_t ddr;
  uint64_t hbm;
  bool is_app;
};

std::vector<NpuMemoryRow> ReadNpuMemory(const SampleInput& input) {
  std::vector<NpuMemoryRow> rows;
  for (const std::string_view family : {"npu_mem", "npu_mem.app"}) {
    for (const auto& sample : ReadSamples<raw::NpuMemory>(input, family)) {
      const uint64_t us = IsVersion2(input.control) ? uint64_t{sample.unused} : sample.time_us;
      rows.push_back({input.clock.SinceStartUtc(us), sample.ddr, sample.hbm, sample.event == 0});
    }
  }
  return rows;
}

}  // namespace

void WriteDeviceSamples(const SampleInput& input, const DeviceRecords& records) {
  WriteFrequencies(input, records.frequencies);
  WriteStarsSamples(input);
  WriteQos(input);
  {
    CounterWriter counters = Counters(input, kNpuMem);
    for (const NpuMemoryRow& row : ReadNpuMemory(input)) {
      const std::string_view kind = row.is_app ? "APP" : "Device";
      const double ddr_kb = static_cast<double>(row.ddr) / kKb;
      const double hbm_kb = static_cast<double>(row.hbm) / kKb;
      counters.Add(fmt::format("{}/DDR", kind), "KB", row.ts_ns, ddr_kb);
      counters.Add(fmt::format("{}/HBM", kind), "KB", row.ts_ns, hbm_kb);
      counters.Add(fmt::format("{}/Memory", kind), "KB", row.ts_ns, ddr_kb + hbm_kb);
    }
  }
  WriteHbm(input);
  WriteDdr(input);
  WriteLlc(input);
  WriteTextSamples(input);
  WritePcie(input);
}

void WriteDeviceMemory(const SampleInput& input) {
  const StringId device = input.out.strings.Intern(fmt::format("NPU:{}", input.side.device));
  const StringId app = input.out.strings.Intern("APP");
  for (const NpuMemoryRow& row : ReadNpuMemory(input)) {
    if (!row.is_app || row.ts_ns < input.clock.begin_ns) continue;
    store::MemorySampleTable::Row sample;
    sample.component = app;
    sample.ts_ns = row.ts_ns;
    sample.reserved_bytes = static_cast<int64_t>((row.ddr + row.hbm) & INT64_MAX);
    sample.device = device;
    input.out.memory_samples.Append(sample);
  }
  std::vector<raw::ModuleMemory> modules = ReadSamples<raw::ModuleMemory>(input, "npu_module_mem");
  std::stable_sort(modules.begin(), modules.end(),
                   [](const raw::ModuleMemory& a, const raw::ModuleMemory& b) {
                     return std::pair(a.module, a.time) < std::pair(b.module, b.time);
                   });
  for (const raw::ModuleMemory& sample : modules) {
    store::ModuleMemoryTable::Row row;
    row.ts_ns = input.clock.HostUtc(sample.time);
    if (row.ts_ns < input.clock.begin_ns) continue;
    row.component = input.out.strings.Intern(ModuleName(sample.module));
    const uint64_t bytes = sample.bytes;
    row.reserved_bytes =
        bytes > static_cast<uint64_t>(INT64_MAX) ? -1 : static_cast<int64_t>(bytes);
    row.device = device;
    input.out.module_memory.Append(row);
  }
}

}  // namespace steplens::readers::prof
