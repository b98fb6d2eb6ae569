#include "analysis/cpu_device/application_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

constexpr double kBytesPerKb = 1024;

const store::DynamicColumn* FindColumn(const store::DynamicTable& sheet, std::string_view name) {
  const auto found = std::find_if(sheet.columns.begin(), sheet.columns.end(),
                                  [&](const auto& column) { return column.name == name; });
  return found == sheet.columns.end() ? nullptr : &*found;
}

std::optional<double> Number(const TraceStore& store, const store::DynamicColumn& column,
                             size_t row) {
  if (column.is_text()) return ParseDouble(store.Text(column.texts[row]));
  return std::isnan(column.numbers[row]) ? std::nullopt : std::optional(column.numbers[row]);
}

int64_t TimeNs(const TraceStore& store, const store::DynamicColumn& column, size_t row) {
  if (column.is_text()) return ParseUsToNs(store.Text(column.texts[row])).value_or(kNone);
  return static_cast<int64_t>(std::llround(column.numbers[row] * 1e3));
}

void Append(TraceStore& store, int64_t ts_ns, double kb, int64_t device) {
  store::MemorySampleTable::Row sample;
  sample.component = store.strings.Intern("APP");
  sample.ts_ns = ts_ns;
  sample.reserved_bytes = std::llround(kb * kBytesPerKb);
  sample.device = store.strings.Intern(fmt::format("NPU:{}", device));
  store.memory_samples.Append(sample);
}

// Device_id, event (App or Device), ddr(KB), hbm(KB), memory(KB), timestamp(us)
void AddFromExporter(TraceStore& store, const store::DynamicTable& sheet) {
  const auto* const event = FindColumn(sheet, "event");
  const auto* const memory_kb = FindColumn(sheet, "memory(KB)");
  const auto* const time = FindColumn(sheet, "timestamp(us)");
  const auto* const device = FindColumn(sheet, "Device_id");
  if (event == nullptr || !event->is_text() || memory_kb == nullptr || time == nullptr) return;
  for (size_t row = 0; row < sheet.size(); ++row) {
    const std::string_view kind = store.Text(event->texts[row]);
    if (kind != "App" && kind != "APP" && kind != "app") continue;
    const auto kb = Number(store, *memory_kb, row);
    const int64_t ts_ns = TimeNs(store, *time, row);
    if (!kb || ts_ns == kNone) continue;
    const double number = device == nullptr ? 0 : Number(store, *device, row).value_or(0);
    Append(store, ts_ns, *kb, static_cast<int64_t>(number));
  }
}

// The series "process" of the recorder's process "Memory Usage", in KB.
void AddFromProcess(TraceStore& store) {
  const store::TrackTable& tracks = store.tracks;
  std::vector<bool> is_process(tracks.size());
  for (size_t t = 0; t < tracks.size(); ++t) {
    const auto parent = static_cast<size_t>(tracks.parent[t]);
    is_process[t] = parent < tracks.size() && store.Text(tracks.name[parent]) == "Memory Usage" &&
                    store.Text(tracks.name[t]).starts_with("process");
  }
  const int64_t device = store.info.device == kNone ? 0 : store.info.device;
  for (size_t i = 0; i < store.counters.size(); ++i) {
    const auto track = static_cast<size_t>(store.counters.track[i]);
    if (track < is_process.size() && is_process[track])
      Append(store, store.counters.ts_ns[i], store.counters.value[i], device);
  }
}

}  // namespace

void AddApplicationMemory(TraceStore& store, bool is_host_the_device) {
  const auto sheet = std::find_if(store.sheets.begin(), store.sheets.end(),
                                  [](const auto& one) { return one.name == "npu_mem"; });
  if (store.memory_samples.size() > 0) {
    if (sheet != store.sheets.end()) {
      AddFromExporter(store, *sheet);
    } else if (is_host_the_device) {
      AddFromProcess(store);
    }
  }
  if (sheet != store.sheets.end()) store.sheets.erase(sheet);
}

}  // namespace steplens::analysis
