#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/number.h"
#include "export/db/counter_sources.h"
#include "export/db/db_context.h"

namespace steplens::exporting {
namespace {

using store::kNone;
using store::TraceStore;

// What "{0}" and "{1}" stand for.
struct Instance {
  std::optional<int64_t> number;
  std::optional<std::string> text;
};

// Whether `text` has the form of the pattern; fills in what the place holders stand for, and wants
// the same again where they are known. A place holder reaches up to the next character of the
// pattern.
bool Matches(std::string_view pattern, std::string_view text, Instance& instance) {
  while (!pattern.empty()) {
    if (!pattern.starts_with("{0}") && !pattern.starts_with("{1}")) {
      if (text.empty() || text.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      text.remove_prefix(1);
      continue;
    }
    const bool is_number = pattern[1] == '0';
    pattern.remove_prefix(3);
    const size_t end = pattern.empty() ? text.size() : text.find(pattern.front());
    if (end == text.npos) return false;
    const std::string_view held = text.substr(0, end);
    text.remove_prefix(end);
    if (is_number) {
      const auto number = ParseInt64(held);
      if (!number || instance.number.value_or(*number) != *number) return false;
      instance.number = number;
    } else {
      if (instance.text && *instance.text != held) return false;
      instance.text = std::string(held);
    }
  }
  return text.empty();
}

// Kinds that the trace writes with capitals.
std::string TableText(const std::string& text) {
  if (text == "Read" || text == "Write" || text == "Device")
    return static_cast<char>(text[0] - 'A' + 'a') + text.substr(1);
  return text == "APP" ? "app" : text;
}

// The rows of one table, gathered from the samples of its series.
class SourceWriter {
 public:
  SourceWriter(DbContext& ctx, const CounterSource& source) : ctx_(ctx), source_(source) {}

  // Which column a counter track fills; none if it is no series of the table.
  bool Accepts(size_t track) {
    const TraceStore& store = ctx_.store;
    if (ctx_.timeline.tracks[track].process != source_.process) return false;
    std::string_view name = store.Text(store.tracks.name[track]);
    if (name == "write_bandwidth") name = "write_band_width";  // as it is spelt since CANN 8.1
    const std::string_view label = store.Text(store.tracks.label[track]);
    for (size_t column = 0; column < source_.columns.size(); ++column) {
      const CounterColumn& candidate = source_.columns[column];
      Instance instance;
      if (candidate.role != CounterRole::kValue || !Matches(candidate.name, name, instance) ||
          !Matches(candidate.label, label, instance))
        continue;
      tracks_[track] = {column, instance.number.value_or(kNone),
                        TableText(instance.text.value_or("")), ctx_.timeline.tracks[track].device};
      return true;
    }
    return false;
  }

  void Add(size_t track, int64_t ts_ns, double value) {
    const Series& series = tracks_.at(track);
    std::vector<double>& row = rows_[{ts_ns, series.device, series.number, series.text}];
    row.resize(source_.columns.size(), store::NotKnown<double>());
    row[series.column] = value * source_.columns[series.column].factor;
  }

  void Write() {
    std::string columns;
    for (const CounterColumn& column : source_.columns)
      columns += (columns.empty() ? "" : ", ") + column.column;
    TableWriter table = ctx_.db.Table(source_.table, columns);
    for (const auto& [key, values] : rows_) {
      for (size_t i = 0; i < source_.columns.size(); ++i) WriteCell(table, i, key, values[i]);
      table.EndRow();
    }
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t, std::string>;  // time, device, number, text
  struct Series {
    size_t column;
    int64_t number;
    std::string text;
    int64_t device;
  };

  void WriteCell(TableWriter& table, size_t column, const Key& key, double value) {
    switch (source_.columns[column].role) {
      case CounterRole::kTime:
        table.Int(std::get<0>(key));
        return;
      case CounterRole::kDevice:
        table.Int(std::get<1>(key));
        return;
      case CounterRole::kNumber:
        table.Int(std::get<2>(key));
        return;
      case CounterRole::kText:
        table.Int(ctx_.strings.exporter(std::string_view(std::get<3>(key))));
        return;
      case CounterRole::kEmpty:
        table.Null();
        return;
      case CounterRole::kNoNumber:
        table.Int(-1);
        return;
      case CounterRole::kValue:
        // A kind of memory that was not sampled is one the device does not have.
        if (std::isnan(value) && source_.table == "NPU_MEM") value = 0;
        // Whole numbers take less room, and most are.
        if (std::fabs(value) < 1e15 && value == std::round(value)) {
          table.Int(static_cast<int64_t>(value));
        } else {
          table.Real(value);
        }
    }
  }

  DbContext& ctx_;
  const CounterSource& source_;
  std::map<size_t, Series> tracks_;
  std::map<Key, std::vector<double>> rows_;
};

// What the process holds on the device, where only memory_record.csv says it.
void WriteAppMemory(DbContext& ctx) {
  const TraceStore& store = ctx.store;
  for (const TrackFacts& track : ctx.timeline.tracks) {
    if (track.process == "NPU MEM") return;
  }
  TableWriter rows = ctx.db.Table("NPU_MEM",
                                  "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, "
                                  "deviceId INTEGER");
  for (size_t i = 0; i < store.memory_samples.size(); ++i) {
    if (store.Text(store.memory_samples.component[i]) != "APP") continue;
    rows.Int(ctx.strings.exporter(std::string_view("app"))).Int(0);
    rows.Int(store.memory_samples.reserved_bytes[i]).Int(store.memory_samples.ts_ns[i]);
    rows.Int(ctx.DeviceNumber(store.memory_samples.device[i])).EndRow();
  }
}

}  // namespace

void WriteCounterTables(DbContext& ctx) {
  WriteCounterTables(ctx, CounterSources());
  WriteAppMemory(ctx);
}

void WriteCounterTables(DbContext& ctx, const std::vector<CounterSource>& sources) {
  std::vector<SourceWriter> writers;
  for (const CounterSource& source : sources) writers.emplace_back(ctx, source);
  std::vector<SourceWriter*> writer_of(ctx.store.tracks.size(), nullptr);
  for (size_t track = 0; track < writer_of.size(); ++track) {
    if (ctx.store.Text(ctx.store.tracks.kind[track]) != "counter") continue;
    for (SourceWriter& writer : writers) {
      if (writer_of[track] == nullptr && writer.Accepts(track)) writer_of[track] = &writer;
    }
  }
  const store::CounterTable& counters = ctx.store.counters;
  for (size_t i = 0; i < counters.size(); ++i) {
    const auto track = static_cast<size_t>(counters.track[i]);
    if (track < writer_of.size() && writer_of[track] != nullptr)
      writer_of[track]->Add(track, counters.ts_ns[i], counters.value[i]);
  }
  for (SourceWriter& writer : writers) writer.Write();
}

}  // namespace steplens::exporting
