#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/time_math.h"
#include "export/prof/prof_csv.h"

namespace steplens::exporting {
namespace {

using store::kNone;

constexpr double kHostNsPerUs = 1000;
constexpr double kBytesPerKb = 1024;

// Count, sum, extremes and variance of durations in us.
struct CallTimes {
  int64_t count = 0;
  int64_t total_ns = 0;
  double least_us = std::numeric_limits<double>::infinity();
  double most_us = 0;
  double mean_us = 0;
  double squares = 0;  // of the distances from the mean

  void Add(int64_t ns) {
    const double us = static_cast<double>(ns) / kHostNsPerUs;
    ++count;
    total_ns = analysis::AddNs(total_ns, ns);
    least_us = std::min(least_us, us);
    most_us = std::max(most_us, us);
    const double distance = us - mean_us;
    mean_us += distance / static_cast<double>(count);
    squares += distance * (us - mean_us);
  }
};

// The layers of CANN from below, as the trace and the statistics call them.
constexpr std::pair<std::string_view, std::string_view> kLayers[] = {
    {"Runtime", "runtime"},
    {"Communication", "communication"},
    {"Node", "node"},
    {"Model", "model"},
    {"AscendCL", "acl"}};

constexpr std::string_view kMarkKinds[] = {"marker", "push/pop", "start/end", "marker_ex"};

// The value that 98 of 100 do not exceed.
double HighValue(std::vector<double> values) {
  std::erase_if(values, [](double value) { return value <= 0; });
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = std::ceil(0.98 * static_cast<double>(values.size() - 1));
  return values[static_cast<size_t>(place)];
}
constexpr double kRecommendedUse = 0.8;

// Greatest value and recommended size, in units of `unit`.
struct Usage {
  double peak = 0;
  double recommended = 0;
};
Usage UsageOf(const std::vector<double>& values, double unit) {
  Usage usage;
  for (const double value : values) usage.peak = std::max(usage.peak, value * unit);
  usage.recommended = HighValue(values) * unit / kRecommendedUse;
  return usage;
}

Status WriteOneRow(const ProfTarget& target, const std::string& type,
                   std::vector<std::string> header, std::initializer_list<double> values) {
  ProfCsv csv(target, type, std::move(header), 1);
  SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
  file->Text("host");
  for (const double value : values) file->ShortNumber(value, kNotKnown);
  file->EndRow();
  return csv.Finish();
}

std::vector<double> ColumnOf(const store::TraceStore& store, std::string_view sheet,
                             size_t column) {
  const store::DynamicTable* table = FindSheet(store, sheet);
  std::vector<double> values;
  if (table == nullptr || column >= table->columns.size()) return values;
  for (size_t i = 0; i < table->size(); ++i) values.push_back(table->columns[column].numbers[i]);
  return values;
}

Status WriteCpu(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<SampleSeries> series = SeriesOf(facts, "CPU Usage");
  if (series.empty()) return {};
  double used = 0;
  for (const SampleSeries& cpu : series) {
    const bool is_used = std::any_of(cpu.samples.begin(), cpu.samples.end(),
                                     [](const auto& sample) { return sample.second > 0; });
    if (is_used) ++used;
  }
  return WriteOneRow(
      target, "host_cpu_usage",
      {"Device_id", "Total Cpu Numbers", "Occupied Cpu Numbers", "Recommend Cpu Numbers"},
      {static_cast<double>(facts.cpu_count), static_cast<double>(series.size()), used});
}

Status WriteMemory(const ProfFacts& facts, const ProfTarget& target) {
  std::vector<double> percents;
  for (const SampleSeries& series : SeriesOf(facts, "Memory Usage")) {
    for (const auto& [ts_ns, percent] : series.samples)
      percents.push_back(std::round(percent * 1e6) / 1e6);
  }
  if (percents.empty()) return {};
  const Usage usage = UsageOf(percents, facts.memory_kb / 100);
  return WriteOneRow(
      target, "host_mem_usage",
      {"Device_id", "Total Memory(KB)", "Peak Used Memory(KB)", "Recommend Memory(KB)"},
      {facts.memory_kb, usage.peak, usage.recommended});
}

Status WriteNetwork(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<double> speeds = ColumnOf(facts.store, "prof_host_network", 1);
  if (speeds.empty()) return {};
  const Usage usage = UsageOf(speeds, 1 / kBytesPerKb);
  return WriteOneRow(
      target, "host_network_usage",
      {"Device_id", "Netcard Speed(KB/s)", "Peak Used Speed(KB/s)", "Recommend Speed(KB/s)"},
      {facts.card_speed_mbps * 1e6 / 8 / kBytesPerKb, usage.peak, usage.recommended});
}

Status WriteDisk(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<double> reads = ColumnOf(facts.store, "prof_host_disk", 1);
  if (reads.empty()) return {};
  const Usage read = UsageOf(reads, 1 / kBytesPerKb);
  const Usage write = UsageOf(ColumnOf(facts.store, "prof_host_disk", 2), 1 / kBytesPerKb);
  return WriteOneRow(target, "host_disk_usage",
                     {"Device_id", "Peak Disk Read(KB/s)", "Recommend Disk Read(KB/s)",
                      "Peak Disk Write(KB/s)", "Recommend Disk Write(KB/s)"},
                     {read.peak, read.recommended, write.peak, write.recommended});
}

Status WriteRuntimeCalls(const ProfFacts& facts, const ProfTarget& target) {
  const store::SliceTable& slices = facts.store.slices;
  std::map<std::pair<int64_t, std::string_view>, CallTimes> calls;
  double all_ns = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    const TrackFacts& track = facts.timeline.of(slices.track[i]);
    if (track.process != "OS Runtime API") continue;
    calls[{track.tid, facts.store.Text(slices.name[i])}].Add(slices.dur_ns[i]);
    all_ns += static_cast<double>(slices.dur_ns[i]);
  }
  std::vector<std::pair<std::pair<int64_t, std::string_view>, CallTimes>> rows(calls.begin(),
                                                                               calls.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  ProfCsv csv(target, "os_runtime_statistic",
              {"Device_id", "Process ID", "Thread ID", "Name", "Time(%)", "Time(us)", "Count",
               "Avg(us)", "Max(us)", "Min(us)"},
              rows.size());
  for (const auto& [key, times] : rows) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const auto total_ns = static_cast<double>(times.total_ns);
    file->Text("host");
    file->Int(facts.pid);
    file->Int(key.first);
    file->Text(key.second);
    file->ShortNumber(all_ns > 0 ? total_ns / all_ns : 0);
    file->ShortNumber(total_ns / kHostNsPerUs);
    file->Int(times.count);
    file->ShortNumber(total_ns / kHostNsPerUs / static_cast<double>(times.count));
    file->ShortNumber(times.most_us);
    file->ShortNumber(times.least_us);
    file->EndRow();
  }
  return csv.Finish();
}

}  // namespace

Status WriteProfApiStatistic(const ProfFacts& facts, const ProfTarget& target) {
  const store::SliceTable& slices = facts.store.slices;
  std::unordered_map<StringId, CallTimes> by_name;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (facts.timeline.of(slices.track[i]).kind == analysis::TrackKind::kCann)
      by_name[slices.name[i]].Add(slices.dur_ns[i]);
  }
  std::map<std::pair<std::string_view, size_t>, const CallTimes*> rows;  // name, then layer
  for (const auto& [id, times] : by_name) {
    const std::string_view text = facts.store.Text(id);
    const size_t at = text.find('@');
    for (size_t layer = 0; layer < std::size(kLayers); ++layer) {
      if (at != text.npos && text.substr(0, at) == kLayers[layer].first)
        rows[{text.substr(at + 1), layer}] = &times;
    }
  }
  ProfCsv csv(target, "api_statistic",
              {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)",
               "Max(us)", "Variance"},
              rows.size());
  for (const auto& [key, times] : rows) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const auto count = static_cast<double>(times->count);
    file->Text("host");
    file->Text(kLayers[key.second].second);
    file->Text(key.first);
    file->ShortNumber(static_cast<double>(times->total_ns) / kHostNsPerUs);
    file->Int(times->count);
    file->ShortNumber(RoundToThree(static_cast<double>(times->total_ns) / kHostNsPerUs / count));
    file->ShortNumber(times->least_us);
    file->ShortNumber(times->most_us);
    file->ShortNumber(RoundToThree(times->squares / count));
    file->EndRow();
  }
  return csv.Finish();
}

Status WriteHostFiles(const ProfFacts& facts, const ProfTarget& target) {
  SL_RETURN_IF_ERROR(WriteCpu(facts, target));
  SL_RETURN_IF_ERROR(WriteMemory(facts, target));
  SL_RETURN_IF_ERROR(WriteNetwork(facts, target));
  SL_RETURN_IF_ERROR(WriteDisk(facts, target));
  return WriteRuntimeCalls(facts, target);
}

Status WriteMarksCsv(const ProfFacts& facts, const ProfTarget& target) {
  const store::MarkerTable& marks = facts.store.markers;
  const store::SliceTable& slices = facts.store.slices;
  const store::DeviceTaskTable& tasks = facts.store.device_tasks;
  std::unordered_map<int64_t, uint32_t> on_device;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    if (facts.IsMark(i)) on_device.try_emplace(tasks.correlation[i], i);
  }
  std::vector<uint32_t> order(marks.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto begin_ns = [&](uint32_t i) {
    return slices.begin_ns[static_cast<size_t>(marks.slice[i])];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return begin_ns(a) < begin_ns(b); });
  ProfCsv csv(target, "msprof_tx",
              {"Device_id", "pid", "tid", "category", "event_type", "payload_type", "payload_value",
               "Start_time(us)", "End_time(us)", "message_type", "message", "domain",
               "Device Start_time(us)", "Device End_time(us)"},
              order.size());
  for (const uint32_t i : order) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const auto slice = static_cast<size_t>(marks.slice[i]);
    const bool is_plain = marks.correlation[i] == kPlainMarkConnection;
    const auto device = on_device.find(marks.correlation[i]);
    const bool has_device = !is_plain && device != on_device.end();
    const auto kind = static_cast<size_t>(marks.event_type[i]);
    has_device ? file->Int(tasks.device[device->second]) : file->Text("host");
    file->Int(facts.pid);
    file->Int(facts.timeline.of(slices.track[slice]).tid);
    file->Int(is_plain ? marks.category[i] : kNone, kNotKnown);
    file->Text(kind < std::size(kMarkKinds) ? kMarkKinds[kind] : kNotKnown);
    file->Int(is_plain ? marks.payload_type[i] : kNone, kNotKnown);
    file->Int(is_plain ? marks.payload[i] : kNone, kNotKnown);
    file->Us(slices.begin_ns[slice]);
    file->Us(analysis::EndNs(slices.begin_ns[slice], slices.dur_ns[slice]));
    file->Int(is_plain ? marks.message_type[i] : kNone, kNotKnown);
    file->Text(facts.store.Text(slices.name[slice]));
    const std::string_view domain = facts.store.Text(marks.domain[i]);
    file->Text(is_plain || domain.empty() ? kNotKnown : domain);
    file->Us(has_device ? tasks.begin_ns[device->second] : kNone, kNotKnown);
    file->Us(has_device
                 ? analysis::EndNs(tasks.begin_ns[device->second], tasks.dur_ns[device->second])
                 : kNone,
             kNotKnown);
    file->EndRow();
  }
  return csv.Finish();
}

}  // namespace steplens::exporting
