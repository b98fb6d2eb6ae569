#include "export/prof/prof_counters.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace steplens::exporting {
namespace {

using store::kNone;

class ProfCounterWriter {
 public:
  ProfCounterWriter(const ProfFacts& facts, TraceEvents& events,
                    const std::function<void(size_t track)>& use_track)
      : facts_(facts),
        store_(facts.store),
        events_(events),
        out_(events.text()),
        use_track_(use_track),
        texts_(facts.store, JsonText) {}

  void Write() {
    const store::CounterTable& counters = store_.counters;
    for (size_t i = 0; i < counters.size(); ++i) {
      const auto track = static_cast<size_t>(counters.track[i]);
      if (track >= store_.tracks.size()) continue;
      const std::string_view process = facts_.timeline.tracks[track].process;
      if (process == "PCIe" || process == "NIC" || process == "RoCE" || process == "Netdev Stats")
        continue;  // several values an event, below; the last are not in the trace
      BeginCounter(store_.Text(store_.tracks.name[track]), track, counters.ts_ns[i]);
      out_ += process == "Acc PMU" ? std::string_view("\"value\"")
                                   : std::string_view(texts_[store_.tracks.label[track]]);
      out_ += ": ";
      out_.JsonNumber(counters.value[i]);
      out_ += "}}";
    }
    WriteCpuMean();
    WriteJoined("PCIe");
    WritePorts("prof_nic", "NIC");
    WritePorts("prof_roce", "RoCE");
  }

 private:
  void BeginCounter(std::string_view name, size_t track, int64_t ts_ns) {
    use_track_(track);
    events_.Begin();
    out_ += "\"name\": " + JsonText(name) + ", \"pid\": ";
    events_.Pid(track);
    out_ += ", \"tid\": 0, ";
    events_.Ts(ts_ns);
    out_ += ", \"ph\": \"C\", \"args\": {";
  }

  // The first counter of a process and device, which says where its events belong.
  size_t TrackOf(std::string_view process, int64_t device) const {
    for (size_t i = 0; i < store_.tracks.size(); ++i) {
      const TrackFacts& track = facts_.timeline.tracks[i];
      if (track.process == process && (device == kNone || track.device == device)) return i;
    }
    return store_.tracks.size();
  }

  void WriteCpuMean() {
    std::map<int64_t, double> sums;
    for (const SampleSeries& series : SeriesOf(facts_, "CPU Usage")) {
      for (const auto& [ts_ns, value] : series.samples) sums[ts_ns] += value;
    }
    if (facts_.cpu_count <= 0) return;
    for (const auto& [ts_ns, sum] : sums) {
      BeginCounter("CPU Avg", TrackOf("CPU Usage", kNone), ts_ns);
      out_ += "\"Usage(%)\": ";
      out_.Number(sum / static_cast<double>(facts_.cpu_count));
      out_ += "}}";
    }
  }

  // Series of one name that differ in their labels, e.g. Rx and Tx, are one event.
  void WriteJoined(std::string_view process) {
    std::map<std::tuple<int64_t, std::string_view, int64_t>, std::array<double, 2>> events;
    for (const SampleSeries& series : SeriesOf(facts_, process)) {
      for (const auto& [ts_ns, value] : series.samples)
        events[{series.device, series.name, ts_ns}][series.label == "Tx" ? 1 : 0] = value;
    }
    for (const auto& [key, values] : events) {
      BeginCounter(std::get<1>(key), TrackOf(process, std::get<0>(key)), std::get<2>(key));
      out_ += "\"Rx\": ";
      out_.Number(values[0]);
      out_ += ", \"Tx\": ";
      out_.Number(values[1]);
      out_ += "}}";
    }
  }

  void WritePorts(std::string_view sheet_name, std::string_view process) {
    constexpr double kMb = 1 << 20;
    const store::DynamicTable* sheet = FindSheet(store_, sheet_name);
    if (sheet == nullptr) return;
    const auto percent = [](double part, double whole) {
      return whole > 0 ? RoundToThree(part / whole * 100) : 0;
    };
    for (size_t row = 0; row < sheet->size(); ++row) {
      const auto at = [&](size_t column) { return sheet->columns[column].numbers[row]; };
      for (const bool is_rx : {true, false}) {
        const std::string side = is_rx ? "Rx" : "Tx";
        const size_t first = is_rx ? 3 : 9;  // rate of packets, of bytes, packets, bytes, errors,
                                             // dropped
        BeginCounter("Port " + std::to_string(static_cast<int64_t>(at(15))) + "/" + side,
                     TrackOf(process, static_cast<int64_t>(at(0))),
                     facts_.begin_ns + static_cast<int64_t>(at(1)));
        const auto arg = [&](std::string_view name, double value, bool is_first = false) {
          out_ += is_first ? "\"" : ", \"";
          out_ += side;
          out_ += name;
          out_ += "\": ";
          out_.Number(value);
        };
        arg(" Bandwidth Efficiency", percent(at(first + 1), at(2) * kMb), true);
        arg(" Packets", at(first));
        arg(" Error Rate", percent(at(first + 4), at(first + 2)));
        arg(" Dropped Rate", percent(at(first + 5), at(first + 2)));
        out_ += "}}";
      }
    }
  }

  const ProfFacts& facts_;
  const store::TraceStore& store_;
  TraceEvents& events_;
  TextBuffer& out_;
  const std::function<void(size_t track)>& use_track_;
  RenderedTexts<RenderText> texts_;
};

}  // namespace

void WriteProfCounters(const ProfFacts& facts, TraceEvents& events,
                       const std::function<void(size_t track)>& use_track) {
  ProfCounterWriter(facts, events, use_track).Write();
}

}  // namespace steplens::exporting
