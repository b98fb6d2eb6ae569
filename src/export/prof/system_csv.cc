#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/number.h"
#include "export/prof/prof_csv.h"

namespace steplens::exporting {
namespace {

using store::kNone;

constexpr double kLinkMb = 1 << 20;

int64_t DeviceOf(std::string_view text) {  // "NPU:0"
  const size_t colon = text.find(':');
  return colon == text.npos ? 0 : ParseInt64(text.substr(colon + 1)).value_or(0);
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double MeanOf(const SampleSeries& series) {
  std::vector<double> values;
  for (const auto& [ts_ns, value] : series.samples) values.push_back(value);
  return MeanOf(values);
}

// "HBM 2/Read" -> 2
int64_t NumberIn(std::string_view name) {
  const size_t blank = name.find(' ');
  if (blank == name.npos) return 0;
  const std::string_view rest = name.substr(blank + 1);
  return ParseInt64(rest.substr(0, rest.find_first_of(" /"))).value_or(0);
}

// Rows of a metric with values, e.g. the mean of all stacks of memory and of each.
struct MeanRow {
  std::string_view first;  // its values
  std::string_view second;
};

// <name of the counter>/<first> and /<second> of each id, with the mean of all ids in front.
Status WriteMeans(const ProfFacts& facts, const ProfTarget& target, std::string_view process,
                  const std::string& type, std::vector<std::string> header, const MeanRow& row,
                  std::string_view mode, double first_factor) {
  std::map<int64_t, std::map<int64_t, std::pair<double, double>>> devices;
  for (const SampleSeries& series : SeriesOf(facts, process)) {
    auto& values = devices[series.device][NumberIn(series.name)];
    if (series.name.ends_with(row.first)) values.first = MeanOf(series) * first_factor;
    if (series.name.ends_with(row.second)) values.second = MeanOf(series);
  }
  ProfCsv csv(target, type, std::move(header), 0);
  for (const auto& [device, ids] : devices) {
    std::vector<double> first;
    std::vector<double> second;
    for (const auto& [id, values] : ids) {
      first.push_back(values.first);
      second.push_back(values.second);
    }
    const auto write = [&](std::string_view name, double a, double b) -> Status {
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      file->Int(device);
      if (!mode.empty()) file->Text(mode);
      file->Text(name);
      file->Number(RoundToThree(a));
      file->Number(RoundToThree(b));
      file->EndRow();
      return {};
    };
    SL_RETURN_IF_ERROR(write("Average", MeanOf(first), MeanOf(second)));
    for (const auto& [id, values] : ids) {
      if (process == "DDR") continue;  // has one
      SL_RETURN_IF_ERROR(write(std::to_string(id), values.first, values.second));
    }
  }
  return csv.Finish();
}

Status WriteCache(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<SampleSeries> series = SeriesOf(facts, "LLC");
  if (series.empty()) return {};
  const bool is_write = series.front().name.find("Write") != std::string_view::npos;
  // The trace has hundredths of the rate.
  return WriteMeans(facts, target, "LLC", "llc_read_write",
                    {"Device_id", "Mode", "Task", "Hit Rate(%)", "Throughput(MB/s)"},
                    {"/Hit Rate", "/Throughput"}, is_write ? "write" : "read", 100);
}

Status WriteHccs(const ProfFacts& facts, const ProfTarget& target) {
  ProfCsv csv(target, "hccs", {"Device_id", "Mode", "Max", "Min", "Average"}, 0);
  std::vector<SampleSeries> all = SeriesOf(facts, "HCCS");
  std::stable_sort(all.begin(), all.end(), [](const SampleSeries& a, const SampleSeries& b) {
    return std::tuple(a.device, a.name != "Tx") < std::tuple(b.device, b.name != "Tx");
  });
  for (const SampleSeries& series : all) {
    if (series.samples.empty()) continue;
    double least = series.samples.front().second;
    double most = least;
    for (const auto& [ts_ns, value] : series.samples) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    file->Int(series.device);
    file->Text(std::string(series.name) + " (MB/s)");
    file->Number(RoundToThree(most));
    file->Number(RoundToThree(least));
    file->Number(RoundToThree(MeanOf(series)));
    file->EndRow();
  }
  return csv.Finish();
}

// Smallest of the minima, largest of the maxima and mean of the averages.
Status WritePcie(const ProfFacts& facts, const ProfTarget& target) {
  const store::DynamicTable* table = FindSheet(facts.store, "prof_pcie");
  if (table == nullptr) return {};
  constexpr std::string_view kModes[] = {
      "Tx_p_avg(MB/s)", "Tx_np_avg(MB/s)", "Tx_cpl_avg(MB/s)", "Tx_latency_avg(us)",
      "Rx_p_avg(MB/s)", "Rx_np_avg(MB/s)", "Rx_cpl_avg(MB/s)"};
  constexpr size_t kLatency = 3;
  ProfCsv csv(target, "pcie", {"Device_id", "Mode", "Min", "Max", "Avg"}, 0);
  for (const int64_t device : facts.devices) {
    for (size_t mode = 0; mode < std::size(kModes); ++mode) {
      const size_t first = 2 + mode * 3;
      double least = std::numeric_limits<double>::infinity();
      double most = 0;
      std::vector<double> averages;
      for (size_t row = 0; row < table->size(); ++row) {
        if (static_cast<int64_t>(table->columns[0].numbers[row]) != device) continue;
        least = std::min(least, table->columns[first].numbers[row]);
        most = std::max(most, table->columns[first + 1].numbers[row]);
        averages.push_back(table->columns[first + 2].numbers[row]);
      }
      if (averages.empty()) continue;
      const double unit = mode == kLatency ? 1000 : kLinkMb;
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      file->Int(device);
      file->Text(kModes[mode]);
      for (const double value : {least, most, MeanOf(averages)})
        file->Number(RoundToThree(value / unit));
      file->EndRow();
    }
  }
  return csv.Finish();
}

// A port over the whole capture.
Status WritePorts(const ProfFacts& facts, const ProfTarget& target, const std::string& family) {
  const store::DynamicTable* table = FindSheet(facts.store, "prof_" + family);
  if (table == nullptr) return {};
  enum Column : size_t {
    kDevice,
    kTime,
    kBandwidth,
    kRxRate,
    kRxBytes,
    kRxPackets,
    kRxErrors = 7,
    kRxDropped,
    kTxRate,
    kTxBytes,
    kTxPackets,
    kTxErrors = 13,
    kTxDropped,
    kPort
  };
  const auto at = [&](size_t row, size_t column) { return table->columns[column].numbers[row]; };
  std::map<std::pair<int64_t, int64_t>, std::vector<size_t>> ports;
  for (size_t row = 0; row < table->size(); ++row) {
    ports[{static_cast<int64_t>(at(row, kDevice)), static_cast<int64_t>(at(row, kPort))}].push_back(
        row);
  }
  ProfCsv csv(target, family,
              {"Device_id", "Timestamp(us)", "Bandwidth(MB/s)", "Rx Bandwidth efficiency(%)",
               "rxPacket/s", "rxError rate(%)", "rxDropped rate(%)", "Tx Bandwidth efficiency(%)",
               "txPacket/s", "txError rate(%)", "txDropped rate(%)", "funcId"},
              ports.size());
  for (const auto& [key, rows] : ports) {
    const auto mean = [&](size_t column) {
      double sum = 0;
      for (const size_t row : rows) sum += at(row, column);
      return sum / static_cast<double>(rows.size());
    };
    const auto percent = [](double part, double whole) {
      return whole > 0 ? RoundToThree(part / whole * 100) : 0;
    };
    const double bandwidth = mean(kBandwidth);
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    file->Int(key.first);
    file->Us(facts.begin_ns + static_cast<int64_t>(at(rows.back(), kTime)));
    file->Number(bandwidth);
    for (const bool is_rx : {true, false}) {
      file->Number(percent(mean(is_rx ? kRxBytes : kTxBytes), bandwidth * kLinkMb));
      file->Number(RoundToThree(mean(is_rx ? kRxRate : kTxRate)));
      const double packets = mean(is_rx ? kRxPackets : kTxPackets);
      file->Number(percent(mean(is_rx ? kRxErrors : kTxErrors), packets));
      file->Number(percent(mean(is_rx ? kRxDropped : kTxDropped), packets));
    }
    file->Int(key.second);
    file->EndRow();
  }
  return csv.Finish();
}

int64_t DownToKb(double bytes_in_kb) {
  constexpr double kMostKb = 1e15;
  return std::fabs(bytes_in_kb) < kMostKb ? static_cast<int64_t>(std::floor(bytes_in_kb)) : kNone;
}

Status WriteDeviceMemory(const ProfFacts& facts, const ProfTarget& target) {
  struct Sample {
    double ddr = 0;
    double hbm = 0;
  };
  std::map<std::tuple<int64_t, std::string_view, int64_t>, Sample> rows;
  for (const SampleSeries& series : SeriesOf(facts, "NPU MEM")) {
    const std::string_view kind = series.name.starts_with("APP") ? "APP" : "Device";
    for (const auto& [ts_ns, kb] : series.samples) {
      if (series.name.ends_with("/DDR")) rows[{series.device, kind, ts_ns}].ddr = kb;
      if (series.name.ends_with("/HBM")) rows[{series.device, kind, ts_ns}].hbm = kb;
    }
  }
  ProfCsv csv(target, "npu_mem",
              {"Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"},
              rows.size());
  for (const auto& [key, sample] : rows) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    file->Int(std::get<0>(key));
    file->Text(std::get<1>(key));
    file->Int(DownToKb(sample.ddr));
    file->Int(DownToKb(sample.hbm));
    file->Int(DownToKb(sample.ddr + sample.hbm));
    file->Us(std::get<2>(key));
    file->EndRow();
  }
  return csv.Finish();
}

Status WriteModules(const ProfFacts& facts, const ProfTarget& target) {
  const store::ModuleMemoryTable& modules = facts.store.module_memory;
  ProfCsv csv(target, "npu_module_mem",
              {"Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"},
              modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const std::string_view device = facts.store.Text(modules.device[i]);
    file->Int(DeviceOf(device));
    file->Text(facts.store.Text(modules.component[i]));
    file->Us(modules.ts_ns[i]);
    file->Int(modules.reserved_bytes[i] < 0 ? int64_t{modules.reserved_bytes[i]}
                                            : modules.reserved_bytes[i].value() / 1024);
    file->Text(device);
    file->EndRow();
  }
  return csv.Finish();
}

Status WriteRecords(const ProfFacts& facts, const ProfTarget& target) {
  const store::MemorySampleTable& samples = facts.store.memory_samples;
  ProfCsv csv(target, "memory_record",
              {"Device_id", "Component", "Timestamp(us)", "Total Allocated(KB)",
               "Total Reserved(KB)", "Device"},
              samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string_view component = facts.store.Text(samples.component[i]);
    if (component != "GE") continue;
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const std::string_view device = facts.store.Text(samples.device[i]);
    file->Int(DeviceOf(device));
    file->Text(component);
    file->Us(samples.ts_ns[i]);
    file->Kb(samples.allocated_bytes[i]);
    file->Kb(samples.reserved_bytes[i]);
    file->Text(device);
    file->EndRow();
  }
  return csv.Finish();
}

Status WriteAllocations(const ProfFacts& facts, const ProfTarget& target) {
  const store::AllocationTable& blocks = facts.store.allocations;
  ProfCsv csv(target, "operator_memory",
              {"Device_id", "Name", "Size(KB)", "Allocation Time(us)", "Duration(us)",
               "Allocation Total Allocated(KB)", "Allocation Total Reserved(KB)",
               "Release Total Allocated(KB)", "Release Total Reserved(KB)", "Device"},
              blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const std::string_view device = facts.store.Text(blocks.device[i]);
    file->Int(DeviceOf(device));
    file->Text(facts.store.Text(blocks.name[i]));
    file->Kb(blocks.size_bytes[i]);
    file->Us(blocks.alloc_ns[i]);
    file->UsNumber(blocks.dur_ns[i]);
    file->Kb(blocks.alloc_total_allocated_bytes[i]);
    file->Kb(blocks.alloc_total_reserved_bytes[i]);
    file->Kb(blocks.release_total_allocated_bytes[i]);
    file->Kb(blocks.release_total_reserved_bytes[i]);
    file->Text(device);
    file->EndRow();
  }
  return csv.Finish();
}

}  // namespace

Status WriteLinkFiles(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<std::string> rates = {"Device_id", "Metric", "Read(MB/s)", "Write(MB/s)"};
  SL_RETURN_IF_ERROR(WriteMeans(facts, target, "HBM", "hbm", rates, {"/Read", "/Write"}, {}, 1));
  SL_RETURN_IF_ERROR(WriteMeans(facts, target, "DDR", "ddr", rates, {"Read", "Write"}, {}, 1));
  SL_RETURN_IF_ERROR(WriteCache(facts, target));
  SL_RETURN_IF_ERROR(WriteHccs(facts, target));
  SL_RETURN_IF_ERROR(WritePcie(facts, target));
  SL_RETURN_IF_ERROR(WritePorts(facts, target, "nic"));
  return WritePorts(facts, target, "roce");
}

Status WriteProfMemory(const ProfFacts& facts, const ProfTarget& target) {
  SL_RETURN_IF_ERROR(WriteDeviceMemory(facts, target));
  SL_RETURN_IF_ERROR(WriteModules(facts, target));
  SL_RETURN_IF_ERROR(WriteRecords(facts, target));
  return WriteAllocations(facts, target);
}

Status WriteStepTraceCsv(const ProfFacts& facts, const ProfTarget& target) {
  const std::vector<ProfIteration> iterations = FindProfIterations(facts);
  size_t widest = 0;
  for (const ProfIteration& iteration : iterations)
    widest = std::max(widest, iteration.reduces.size());
  std::vector<std::string> header = {"Device_id",          "Iteration ID",
                                     "FP Start(us)",       "BP End(us)",
                                     "Iteration End(us)",  "Iteration Time(us)",
                                     "FP to BP Time(us)",  "Iteration Refresh(us)",
                                     "Data Aug Bound(us)", "Model ID"};
  for (size_t i = 0; i < widest; ++i) {
    header.emplace_back("Reduce Start(us)");
    header.emplace_back("Reduce Duration(us)");
  }
  ProfCsv csv(target, "step_trace", header, iterations.size());
  const store::SliceTable& slices = facts.store.slices;
  for (const ProfIteration& iteration : iterations) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const bool has_passes = iteration.forward_ns != kNone;
    file->Int(iteration.device);
    file->Int(iteration.index);
    file->Us(iteration.forward_ns, kNotKnown);
    file->Us(iteration.backward_ns, kNotKnown);
    file->Us(iteration.end_ns);
    file->PlainUs(iteration.end_ns - iteration.begin_ns);
    file->UsNumber(has_passes ? iteration.backward_ns - iteration.forward_ns : kNone, kNotKnown);
    file->UsNumber(has_passes ? iteration.end_ns - iteration.backward_ns : kNone, kNotKnown);
    file->UsNumber(has_passes ? iteration.bound_ns : kNone, kNotKnown);
    file->Int(iteration.model);
    for (size_t i = 0; i < widest; ++i) {
      const bool has_reduce = i < iteration.reduces.size();
      file->Us(has_reduce ? slices.begin_ns[iteration.reduces[i]] : kNone, kNotKnown);
      file->UsNumber(has_reduce ? slices.dur_ns[iteration.reduces[i]] : kNone, kNotKnown);
    }
    file->EndRow();
  }
  return csv.Finish();
}

Status WriteProfSheets(const ProfFacts& facts, const ProfTarget& target) {
  RenderedTexts<RenderText> texts(
      facts.store, [](std::string_view text) { return CsvText(text.empty() ? kNotKnown : text); });
  for (const store::DynamicTable& sheet : facts.store.sheets) {
    if (sheet.name.starts_with("prof_")) continue;
    std::vector<std::string> header;
    for (const store::DynamicColumn& column : sheet.columns) header.push_back(column.name);
    ProfCsv csv(target, sheet.name, header, sheet.size());
    for (size_t row = 0; row < sheet.size(); ++row) {
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      for (const store::DynamicColumn& column : sheet.columns) {
        if (column.is_text()) {
          file->Rendered(texts[column.texts[row]]);
        } else {
          file->ShortNumber(column.numbers[row], kNotKnown);
        }
      }
      file->EndRow();
    }
    SL_RETURN_IF_ERROR(csv.Finish());
  }
  return {};
}

}  // namespace steplens::exporting
