#include "readers/prof/core_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "format/prof/device_records.h"
#include "readers/framework/sheet_builder.h"
#include "readers/prof/counter_writer.h"
#include "readers/prof/frequencies.h"
#include "readers/prof/pmu_metrics.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

struct CoreRow {
  uint64_t time = 0;
  uint64_t cycles = 0;
  std::array<uint64_t, kMaxCounters> counters = {};
  uint8_t core = 0;
};

template <typename Layout>
std::vector<CoreRow> ReadCoreRows(const SampleInput& input, std::string_view family) {
  return ReadRows<CoreRow>(
      input.side.Find(family), sizeof(Layout), Cut::kAnywhere, input.options, input.out.issues,
      [](format::Bytes record, const Slice&, std::vector<CoreRow>& rows) {
        const auto sample = As<Layout>(record);
        CoreRow& row = rows.emplace_back();
        row.time = sample.time;
        row.cycles = sample.cycles;
        row.core = sample.core;
        std::memcpy(row.counters.data(), &sample.counters, sizeof(sample.counters));
        return true;
      });
}

// What a core, or all of them, counted over the capture.
struct CoreTotal {
  double cycles = 0;
  std::array<double, kMaxCounters> counters = {};

  void Add(const CoreRow& row) {
    cycles += static_cast<double>(row.cycles);
    for (size_t i = 0; i < counters.size(); ++i)
      counters[i] += static_cast<double>(row.counters[i]);
  }
};

// A core a row, then their mean. Times mean nothing here: samples do not know tasks.
void WriteTotals(const SampleInput& input, CoreKind kind, const std::string& name,
                 const std::map<uint8_t, CoreTotal>& cores) {
  const CoreMetrics metrics(kind, kind == CoreKind::kAic ? input.control.aic : input.control.aiv,
                            input.control, /*has_prefix=*/false);
  std::vector<size_t> shown;
  store::DynamicTable sheet;
  sheet.name = name;
  sheet.columns.emplace_back().name = "Device_id";
  sheet.columns.emplace_back().name = "Core ID";
  for (size_t i = 0; i < metrics.names().size(); ++i) {
    const std::string& metric = metrics.names()[i];
    if (metric.ends_with("time(us)") || metric == "total_cycles") continue;
    shown.push_back(i);
    sheet.columns.emplace_back().name = metric;
  }
  std::vector<double> sums(metrics.names().size(), 0);
  std::vector<double> values(metrics.names().size(), 0);
  const auto add = [&](std::string_view core, const std::vector<double>& row) {
    sheet.columns[0].numbers.Append(static_cast<double>(input.side.device));
    sheet.columns[1].texts.Append(input.out.strings.Intern(core));
    for (size_t i = 0; i < shown.size(); ++i) sheet.columns[2 + i].numbers.Append(row[shown[i]]);
  };
  for (const auto& [core, total] : cores) {
    CounterValues counted;
    counted.cycles = total.cycles;
    counted.counters = total.counters;
    metrics.Evaluate(counted, values.data());
    for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
    add(fmt::to_string(uint32_t{core}), values);
  }
  for (double& sum : sums) sum /= static_cast<double>(cores.size());
  add("Average", sums);
  input.out.sheets.push_back(std::move(sheet));
}

}  // namespace

void WriteCoreSamples(const SampleInput& input, const std::vector<FrequencyPoint>& frequencies) {
  const Frequencies mhz_at(input.control.aic_mhz, frequencies);
  CounterWriter counters(kAiCoreUtilization, input.side.device, input.clock.begin_ns, input.tracks,
                         input.out);
  SheetBuilder all("prof_core_samples",
                   {"device", "time", "totalCycle", "usage", "freq", "coreId", "coreType"});
  for (const CoreKind kind : {CoreKind::kAic, CoreKind::kAiv}) {
    const bool is_aic = kind == CoreKind::kAic;
    const std::string_view family = is_aic ? "aicore" : "aiVectorCore";
    std::vector<CoreRow> rows = Is950(input.control.chip)
                                    ? ReadCoreRows<raw::CoreSample950>(input, family)
                                    : ReadCoreRows<raw::CoreSample>(input, family);
    if (rows.empty()) continue;
    std::stable_sort(rows.begin(), rows.end(), [](const CoreRow& a, const CoreRow& b) {
      return std::tie(a.core, a.time) < std::tie(b.core, b.time);
    });
    std::map<uint8_t, CoreTotal> cores;
    RateOf since;
    for (size_t i = 0; i < rows.size(); ++i) {
      const CoreRow& row = rows[i];
      if (i == 0 || rows[i - 1].core != row.core) since = {};
      cores[row.core].Add(row);
      const int64_t ts_ns = input.clock.DeviceUtc(row.time);
      const double mhz = mhz_at.At(row.time);
      const bool has_length = since.Advance(ts_ns);
      const double usage = has_length && mhz > 0 ? static_cast<double>(row.cycles) / (mhz * 1e6) /
                                                       since.elapsed_s() * 100
                                                 : 0;
      const std::string name = fmt::format("{} {}", is_aic ? "Core" : "Vector Core", row.core);
      if (has_length) counters.Add(name, "Usage(%)", ts_ns, usage);
      if (ts_ns < input.clock.begin_ns) continue;
      all.Number(static_cast<double>(input.side.device))
          .Number(static_cast<double>(ts_ns - input.clock.begin_ns))
          .Number(static_cast<double>(row.cycles))
          .Number(usage)
          .Number(mhz)
          .Number(row.core)
          .Number(is_aic ? 0 : 1);
    }
    WriteTotals(input, kind, is_aic ? "ai_core_utilization" : "ai_vector_core_utilization", cores);
  }
  all.Finish(input.out);
}

}  // namespace steplens::readers::prof
