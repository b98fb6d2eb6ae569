#include "readers/framework/small_files.h"

#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/number.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::TrackId;

// A message of mstx may be of the kinds 0 marker and 2 start/end; we record no others.
constexpr int64_t kMarker = 0;
constexpr int64_t kStartEnd = 2;

struct NamedRecord {
  std::string_view first;   // field 1
  std::string_view second;  // field 2
};

// Decodes a framed record with up to two texts. False, and counted, if it is damaged.
template <typename T>
bool DecodeNamed(RecordReader& reader, T& record, NamedRecord& names) {
  const bool is_whole =
      Decode(reader.value(), &record) &&
      ForEachField(reader.value(), T::kFixedBytes, [&](uint16_t tag, std::string_view text) {
        if (tag == 1) names.first = text;
        if (tag == 2) names.second = text;
      });
  if (!is_whole) reader.Reject("a record is too short, or its fields are damaged");
  return is_whole;
}

}  // namespace

Status ReadGarbage(RecordReader& reader, FrameworkContext& ctx) {
  const StringId gc = ctx.out.strings.Intern("GC");
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFixed(format::GcPause::kFixedBytes));
    if (!has_record) return {};
    format::GcPause pause;
    if (!Decode(reader.value(), &pause)) continue;
    store::SliceTable::Row row;
    row.track = ctx.tracks.HostThread(
        kPythonGc, FrameworkContext::GlobalTid(pause.process_id, pause.process_id));
    row.name = row.category = gc;
    ctx.AppendSlice(row, ctx.Ns(pause.start), ctx.Ns(pause.end));
  }
}

Status ReadMarks(RecordReader& reader, FrameworkContext& ctx) {
  constexpr std::string_view kStep = "ProfilerStep#";
  const bool has_steps = ctx.out.steps.size() > 0;
  const StringId default_domain = ctx.out.strings.Intern("default");
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    format::Mark mark;
    NamedRecord names;
    if (!DecodeNamed(reader, mark, names)) continue;
    store::SliceTable::Row row;
    row.track = ctx.tracks.HostThread(
        kMarkers, FrameworkContext::GlobalTid(mark.process_id, mark.start_thread));
    row.name = ctx.Text(names.first);
    const int64_t begin_ns = ctx.Ns(mark.start);
    const store::SliceId slice = ctx.AppendSlice(row, begin_ns, ctx.Ns(mark.end));
    ctx.out.markers.Append({slice, mark.kind == format::kMarkInstant ? kMarker : kStartEnd,
                            names.second.empty() ? default_domain : ctx.Text(names.second), kNone});
    if (has_steps || mark.kind == format::kMarkInstant || !names.first.starts_with(kStep)) continue;
    if (const auto step = ParseInt64(names.first.substr(kStep.size()))) {
      const int64_t dur_ns = ctx.out.slices.dur_ns[static_cast<size_t>(slice)];
      ctx.out.steps.Append({*step, begin_ns, AddSaturating(begin_ns, dur_ns)});
    }
  }
}

namespace {

// Makes the tracks of counter series.
class SeriesTracks {
 public:
  explicit SeriesTracks(FrameworkContext& ctx) : ctx_(ctx) {
    ctx_.tracks.SetProcess(static_cast<int64_t>(ctx_.process_id), false);
  }

  // The series as the other formats name it: what is measured, and the unit.
  TrackId Make(const std::string& text) {
    const std::string_view series = text;
    const size_t slash = series.find('/');
    const std::string_view process = slash == series.npos ? "Counters" : series.substr(0, slash);
    std::string_view name = slash == series.npos ? series : series.substr(slash + 1);
    std::string_view unit = "value";
    const size_t blank = name.rfind(' ');
    const bool names_unit = blank != name.npos && (name.ends_with("B/s") || name.ends_with("KB"));
    if (names_unit) {
      unit = name.substr(blank + 1);
      name = name.substr(0, blank);
    }
    std::string shown(name);
    if (process == kCpuUsage.name) shown = "CPU " + shown;
    if (name == "used" || name == "busy" || name == "usage") shown = process;
    if (!names_unit && IsHostProcess(process)) unit = "Usage(%)";
    return ctx_.tracks.AddCounter(Process(process), kNone, shown, unit);
  }

 private:
  static constexpr std::array kHost{kCpuUsage, kMemoryUsage, kDiskUsage, kNetworkUsage};

  static bool IsHostProcess(std::string_view name) {
    for (const ExporterProcess& known : kHost) {
      if (known.name == name) return true;
    }
    return false;
  }

  ExporterProcess Process(std::string_view name) {
    for (const ExporterProcess& known : kHost) {
      if (known.name == name) return known;
    }
    for (const std::string& known : ctx_.process_names) {
      if (known == name) return {known, kUserIndex, false};
    }
    return {ctx_.process_names.emplace_back(name), kUserIndex, false};
  }

  static constexpr int64_t kUserIndex = 4;  // not used by any exporter
  FrameworkContext& ctx_;
};

}  // namespace

Status ReadCounters(RecordReader& reader, FrameworkContext& ctx) {
  SeriesTracks tracks(ctx);
  std::unordered_map<uint64_t, TrackId> series;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    if (reader.type() == format::kCounterSeriesRecord) {
      format::Keyed keyed;
      NamedRecord names;
      if (!DecodeNamed(reader, keyed, names)) continue;
      series[keyed.key] = tracks.Make(std::string(ctx.out.Text(ctx.Text(names.first))));
      continue;
    }
    format::CounterSample sample;
    const bool is_whole = reader.type() == format::kCounterSampleRecord &&
                          Decode(reader.value(), &sample) && std::isfinite(sample.value);
    const auto track = series.find(sample.series);
    if (!is_whole || track == series.end()) {
      reader.Reject("a sample of a counter is damaged, or its series is not known");
      continue;
    }
    ctx.out.counters.Append({track->second, ctx.Ns(sample.time), sample.value});
  }
}

Status ReadThreadNames(RecordReader& reader, FrameworkContext& ctx) {
  std::unordered_map<int64_t, StringId> names;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) break;
    format::Thread thread;
    NamedRecord fields;
    if (!DecodeNamed(reader, thread, fields)) continue;
    names[static_cast<int64_t>(thread.thread_id)] = ctx.Text(fields.first);
  }
  for (size_t i = 0; i < ctx.out.tracks.size(); ++i) {
    if (ctx.out.tracks.parent[i] == store::kNoTrack) continue;
    const auto tid = ParseInt64(ctx.out.Text(ctx.out.tracks.tid[i]));
    const auto name = tid ? names.find(*tid) : names.end();
    if (name != names.end()) ctx.out.tracks.label.Set(i, name->second);
  }
  return {};
}

}  // namespace steplens::readers
