#include "export/prof/prof_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/classify/device_work.h"
#include "analysis/time_math.h"
#include "base/number.h"
#include "base/saturate.h"

namespace steplens::exporting {

using store::kNone;

ProfFacts::ProfFacts(const store::TraceStore& of_store) : store(of_store), timeline(of_store) {
  mark_type = store.strings.Find("MsTx").value_or(StringId{store::kNoId});
  kernel_of.assign(store.device_tasks.size(), store::kNoId);
  for (uint32_t row = 0; row < store.kernels.size(); ++row) {
    const int64_t task = store.kernels.device_task[row];
    if (task >= 0 && task < static_cast<int64_t>(kernel_of.size()))
      kernel_of[static_cast<size_t>(task)] = row;
  }
  std::set<int64_t> known(store.device_tasks.device.begin(), store.device_tasks.device.end());
  devices.assign(known.begin(), known.end());
  if (devices.empty() && store.info.device != kNone) devices = {store.info.device};
  pid = Number("prof.pid");
  chip = Number("prof.chip");
  cpu_count = Number("prof.cpu_count");
  begin_ns = Number("startTimeNs");
  end_ns = Number("endTimeNs");
  memory_kb = static_cast<double>(Number("prof.memory_kb"));
  card_speed_mbps = static_cast<double>(Number("prof.card_speed_mbps"));
  process_name = Fact("prof.process_name");
  is_level0 = Fact("prof.level") == "level0";
  constexpr int64_t kLastWithoutStars = 4;
  has_stars = chip > kLastWithoutStars;
  FindOverlap();
}

std::string_view ProfFacts::Fact(std::string_view name) const {
  return store.FindMeta(name).value_or(std::string_view());
}

int64_t ProfFacts::Number(std::string_view name) const {
  return ParseInt64(Fact(name)).value_or(0);
}

StringId ProfFacts::TypeOf(size_t task) const {
  const uint32_t kernel = kernel_of[task];
  const StringId core = kernel == store::kNoId ? StringId::kEmpty : store.kernels.core[kernel];
  return core == StringId::kEmpty ? store.device_tasks.type[task] : core;
}

// Free time reaches from the first to the last work or task; kernels of the host's kind count as
// work only.
void ProfFacts::FindOverlap() {
  const std::set<std::string_view> kNoBorder = {
      "KERNEL_AICORE",  "KERNEL_AIVEC",     "FFTS_PLUS",        "KERNEL_MIX_AIC",
      "KERNEL_MIX_AIV", "PROFILING_ENABLE", "PROFILING_DISABLE"};
  std::map<StringId, bool> is_border;
  std::map<int64_t, analysis::Interval> windows;
  const auto widen = [&](int64_t device, int64_t from_ns, int64_t to_ns) {
    const auto [place, is_new] = windows.try_emplace(device, analysis::Interval{from_ns, to_ns});
    place->second.begin_ns = std::min(place->second.begin_ns, from_ns);
    place->second.end_ns = std::max(place->second.end_ns, to_ns);
  };
  const store::DeviceTaskTable& tasks = store.device_tasks;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto [border, is_new] = is_border.try_emplace(tasks.type[i], false);
    if (is_new) border->second = !kNoBorder.contains(store.Text(tasks.type[i])) && !IsMark(i);
    const store::MaybeInt until_ns = analysis::EndNs(tasks.begin_ns[i], tasks.dur_ns[i]);
    if (border->second && until_ns.is_known()) widen(tasks.device[i], tasks.begin_ns[i], until_ns);
  }
  for (const analysis::DeviceWork& work : analysis::CollectDeviceWork(store)) {
    const int64_t device = work.device == kNone ? timeline.device : work.device;
    for (const auto* list : {&work.compute, &work.communication}) {
      for (const analysis::Interval& interval : *list)
        widen(device, interval.begin_ns, interval.end_ns);
    }
    const auto window = windows.find(device);
    if (window == windows.end()) continue;
    analysis::ForEachPiece(work.compute, work.communication, window->second,
                           [&](analysis::PieceKind kind, const analysis::Interval& piece) {
                             overlap.push_back({device, kind, piece});
                           });
  }
}

double RoundToThree(double value) { return std::round(value * 1000) / 1000; }

std::vector<ProfIteration> FindProfIterations(const ProfFacts& facts) {
  constexpr int64_t kFirstKey = 70000;
  const store::SliceTable& slices = facts.store.slices;
  std::vector<ProfIteration> out;
  for (uint32_t i = 0; i < slices.size(); ++i) {
    const TrackFacts& track = facts.timeline.of(slices.track[i]);
    if (track.tid < kFirstKey || track.process != "Ascend Hardware") continue;
    const std::string_view category = facts.store.Text(slices.category[i]);
    const std::string_view name = facts.store.Text(slices.name[i]);
    const int64_t slice_end_ns = analysis::EndNs(slices.begin_ns[i], slices.dur_ns[i]);
    if (category == "Iteration Time") {
      ProfIteration& iteration = out.emplace_back();
      iteration.device = track.device;
      iteration.model = track.tid - kFirstKey;
      iteration.index = ParseInt64(name.substr(name.rfind(' ') + 1)).value_or(0);
      iteration.track = slices.track[i];
      iteration.begin_ns = slices.begin_ns[i];
      iteration.end_ns = slice_end_ns;
    }
    if (out.empty()) continue;
    ProfIteration& iteration = out.back();
    iteration.slices.push_back(i);
    if (category == "Reduce") iteration.reduces.push_back(i);
    if (category == "FP_BP Time" && iteration.forward_ns == kNone) {
      iteration.forward_ns = slices.begin_ns[i];
      iteration.backward_ns = slice_end_ns;
    }
  }
  std::vector<int64_t> ends;
  for (const ProfIteration& iteration : out) ends.push_back(iteration.end_ns);
  std::sort(ends.begin(), ends.end());
  for (ProfIteration& iteration : out) {
    if (iteration.forward_ns == kNone) continue;
    const auto after = std::lower_bound(ends.begin(), ends.end(), iteration.forward_ns);
    if (after != ends.begin())
      iteration.bound_ns = SubtractSaturating(iteration.forward_ns, *std::prev(after));
  }
  return out;
}

std::vector<SampleSeries> SeriesOf(const ProfFacts& facts, std::string_view process) {
  const store::TraceStore& store = facts.store;
  std::vector<SampleSeries> out;
  std::map<size_t, size_t> series_of;
  for (size_t track = 0; track < store.tracks.size(); ++track) {
    if (store.Text(store.tracks.kind[track]) != "counter" ||
        facts.timeline.tracks[track].process != process)
      continue;
    series_of[track] = out.size();
    out.push_back({store.Text(store.tracks.name[track]),
                   store.Text(store.tracks.label[track]),
                   facts.timeline.tracks[track].device,
                   {}});
  }
  if (out.empty()) return out;
  for (size_t i = 0; i < store.counters.size(); ++i) {
    const auto series = series_of.find(static_cast<size_t>(store.counters.track[i]));
    if (series != series_of.end())
      out[series->second].samples.emplace_back(store.counters.ts_ns[i], store.counters.value[i]);
  }
  return out;
}

const store::DynamicTable* FindSheet(const store::TraceStore& store, std::string_view name) {
  const auto found =
      std::find_if(store.sheets.begin(), store.sheets.end(),
                   [&](const store::DynamicTable& sheet) { return sheet.name == name; });
  return found == store.sheets.end() ? nullptr : &*found;
}

}  // namespace steplens::exporting
