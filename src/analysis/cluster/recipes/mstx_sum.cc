#include <algorithm>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/cluster/recipes/dispatches.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/spread.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

// event_type of the marker table.
constexpr int64_t kStartEndRange = 2;
constexpr int64_t kMark = 3;

// A range, or a pair of marks X_start and X_stop.
struct Entry {
  std::string name;
  int64_t step = 0;
  int64_t begin_ns = 0;
  int64_t framework_ns = 0;  // 0 where no operator of the framework is linked
  int64_t cann_ns = 0;
  int64_t device_ns = 0;  // 0 where it has no device side

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, step, begin_ns, framework_ns, cann_ns, device_ns);
  }
};

struct Part {
  std::vector<Entry> entries;  // by begin
  int64_t unpaired_marks = 0;
  int64_t outside_steps = 0;
  bool has_markers = false;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(entries, unpaired_marks, outside_steps, has_markers);
  }
};

// A record of the marker table with its slice.
struct Marker {
  Interval time;
  store::TrackId track = store::kNoTrack;
  std::string_view name;  // of the store
  int64_t correlation = kNone;
};

std::vector<Marker> CollectMarkers(const store::TraceStore& rank, int64_t event_type,
                                   const StepWindow& window) {
  std::vector<Marker> markers;
  for (size_t i = 0; i < rank.markers.size(); ++i) {
    const auto slice = static_cast<size_t>(rank.markers.slice[i]);
    if (rank.markers.event_type[i] != event_type || slice >= rank.slices.size()) continue;
    const Interval time{rank.slices.begin_ns[slice],
                        EndNs(rank.slices.begin_ns[slice], rank.slices.dur_ns[slice])};
    if (!window.Contains(time.begin_ns) || !IsPlausible(time.begin_ns, time.end_ns)) continue;
    markers.push_back({time, rank.slices.track[slice], rank.Text(rank.slices.name[slice]),
                       rank.markers.correlation[i]});
  }
  // Outer ranges before inner ones.
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) {
    return std::pair(a.time.begin_ns, -a.time.end_ns) < std::pair(b.time.begin_ns, -b.time.end_ns);
  });
  return markers;
}

// The device side of marks and ranges: the first task of their connection.
class DeviceSides {
 public:
  DeviceSides(const store::TraceStore& rank, const std::vector<TrackKind>& tracks) {
    for (const int64_t correlation : rank.markers.correlation) {
      if (correlation != kNone) sides_.try_emplace(correlation);
    }
    for (size_t i = 0; i < rank.slices.size() && !sides_.empty(); ++i) {
      const auto track = static_cast<size_t>(rank.slices.track[i]);
      if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
      const auto side = sides_.find(rank.slices.correlation[i]);
      if (side == sides_.end() || side->second) continue;
      const Interval time{rank.slices.begin_ns[i],
                          EndNs(rank.slices.begin_ns[i], rank.slices.dur_ns[i])};
      if (IsPlausible(time.begin_ns, time.end_ns)) side->second = time;
    }
  }

  std::optional<Interval> Find(int64_t correlation) const {
    const auto side = sides_.find(correlation);
    return side == sides_.end() ? std::nullopt : side->second;
  }

 private:
  std::map<int64_t, std::optional<Interval>> sides_;
};

// From the start of one to the start of the other; 0 if one is missing or comes too early.
int64_t Between(const std::optional<Interval>& from, const std::optional<Interval>& to) {
  return from && to ? std::max<int64_t>(0, to->begin_ns - from->begin_ns) : 0;
}

class MstxSum : public RecipeOf<Part> {
 public:
  explicit MstxSum(const Options& options) : options_(options) {
    marks_.AddColumn("Name", CellType::kText);
    for (const char* name : {"FrameworkDurationNs", "FrameworkDurationRatio(%)", "CannDurationNs",
                             "CannDurationRatio(%)", "DeviceDurationNs", "DeviceDurationRatio(%)"})
      marks_.AddColumn(name, CellType::kDouble);
    marks_.AddColumn("Rank", CellType::kInt);
    marks_.AddColumn("StepId", CellType::kInt);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    const auto add = [&](table::Table table, const char* csv_name) {
      answer.tables.push_back({std::move(table), csv_name});
      answer.tables.back().csv_in_ms = true;
    };
    add(std::move(marks_), "mark_stats.csv");
    add(AllRanks("MSTXAllFrameworkStats", &Spreads::framework), "all_fwk_stats.csv");
    add(AllRanks("MSTXAllCannStats", &Spreads::cann), "all_cann_stats.csv");
    add(AllRanks("MSTXAllDeviceStats", &Spreads::device), "all_device_stats.csv");
    AddNotes(answer);
    answer.suggestion = Message{"suggestion.mstx_sum"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    const std::vector<TrackKind> tracks = ClassifyTracks(rank);
    const DeviceSides devices(rank, tracks);
    Part part;
    part.has_markers = rank.markers.size() > 0;
    PairMarks(CollectMarkers(rank, kMark, window), Dispatches(rank, tracks), devices, part);
    AddRanges(CollectMarkers(rank, kStartEndRange, window), devices, part);
    std::stable_sort(part.entries.begin(), part.entries.end(),
                     [](const Entry& a, const Entry& b) { return a.begin_ns < b.begin_ns; });
    for (Entry& entry : part.entries) FindStep(rank, entry, part);
    NumberRepeats(part.entries);
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    silent_ranks_ += part.has_markers ? 0 : 1;
    unpaired_marks_ += static_cast<size_t>(part.unpaired_marks);
    outside_steps_ += static_cast<size_t>(part.outside_steps);
    int64_t framework_ns = 0;
    int64_t cann_ns = 0;
    int64_t device_ns = 0;
    for (const Entry& entry : part.entries) {
      framework_ns = AddNs(framework_ns, entry.framework_ns);
      cann_ns = AddNs(cann_ns, entry.cann_ns);
      device_ns = AddNs(device_ns, entry.device_ns);
    }
    for (const Entry& entry : part.entries) {
      size_t column = 0;
      marks_.AppendText(column++, entry.name);
      AppendShare(column, entry.framework_ns, framework_ns);
      AppendShare(column, entry.cann_ns, cann_ns);
      AppendShare(column, entry.device_ns, device_ns);
      marks_.AppendInt(column++, facts.rank);
      marks_.AppendInt(column, entry.step);
      Spreads& spreads = spreads_[{entry.step, entry.name}];
      spreads.framework.Add(entry.framework_ns, facts.rank);
      spreads.cann.Add(entry.cann_ns, facts.rank);
      spreads.device.Add(entry.device_ns, facts.rank);
    }
  }

 private:
  struct Spreads {
    Spread framework;
    Spread cann;
    Spread device;
  };

  // X_start opens, X_stop closes the latest open X of the same thread.
  void PairMarks(const std::vector<Marker>& marks, const Dispatches& dispatches,
                 const DeviceSides& devices, Part& part) const {
    std::map<std::pair<store::TrackId, std::string_view>, std::vector<const Marker*>> open;
    for (const Marker& mark : marks) {
      constexpr std::string_view kStart = "_start";
      constexpr std::string_view kStop = "_stop";
      if (mark.name.ends_with(kStart)) {
        open[{mark.track, mark.name.substr(0, mark.name.size() - kStart.size())}].push_back(&mark);
        continue;
      }
      if (!mark.name.ends_with(kStop)) continue;
      const std::string_view name = mark.name.substr(0, mark.name.size() - kStop.size());
      std::vector<const Marker*>& starts = open[{mark.track, name}];
      if (starts.empty()) {
        ++part.unpaired_marks;
        continue;
      }
      const Marker& start = *starts.back();
      starts.pop_back();
      Entry entry;
      entry.name = name;
      entry.begin_ns = start.time.begin_ns;
      entry.cann_ns = mark.time.begin_ns - start.time.begin_ns;
      // The reference looks for the links in the wrong place and finds none.
      if (!options_.compat) {
        entry.framework_ns = Between(dispatches.OperatorOf(start.correlation),
                                     dispatches.OperatorOf(mark.correlation));
        entry.device_ns = Between(devices.Find(start.correlation), devices.Find(mark.correlation));
      }
      part.entries.push_back(std::move(entry));
    }
    for (const auto& [key, starts] : open)
      part.unpaired_marks += static_cast<int64_t>(starts.size());
  }

  // Ranges with a device side; one inside another is named "outer::inner".
  static void AddRanges(const std::vector<Marker>& ranges, const DeviceSides& devices, Part& part) {
    constexpr size_t kMaxDepth = 100;
    std::vector<std::pair<int64_t, std::string>> open;  // end, path
    for (const Marker& range : ranges) {
      if (range.correlation == kNone) continue;
      while (!open.empty() && open.back().first < range.time.end_ns) open.pop_back();
      Entry entry;
      entry.name = range.name;
      if (!open.empty() && open.size() < kMaxDepth)
        entry.name = open.back().second + "::" + entry.name;
      entry.begin_ns = range.time.begin_ns;
      entry.cann_ns = range.time.end_ns - range.time.begin_ns;
      if (const auto device = devices.Find(range.correlation))
        entry.device_ns = device->end_ns - device->begin_ns;
      open.emplace_back(range.time.end_ns, entry.name);
      part.entries.push_back(std::move(entry));
    }
  }

  static void FindStep(const store::TraceStore& rank, Entry& entry, Part& part) {
    for (size_t i = 0; i < rank.steps.size(); ++i) {
      if (entry.begin_ns < rank.steps.begin_ns[i] || entry.begin_ns > rank.steps.end_ns[i])
        continue;
      entry.step = rank.steps.step[i];
      return;
    }
    if (rank.steps.size() > 0) ++part.outside_steps;
  }

  // Names that come again in a step get a number: forward_0, forward_1.
  static void NumberRepeats(std::vector<Entry>& entries) {
    std::map<std::pair<int64_t, std::string>, std::pair<size_t, size_t>> seen;  // total, so far
    for (const Entry& entry : entries) ++seen[{entry.step, entry.name}].first;
    for (Entry& entry : entries) {
      auto& [total, so_far] = seen[{entry.step, entry.name}];
      if (total > 1) entry.name += "_" + std::to_string(so_far++);
    }
  }

  void AppendShare(size_t& column, int64_t ns, int64_t total_ns) {
    marks_.AppendDouble(column++, static_cast<double>(ns));
    marks_.AppendDouble(
        column++,
        total_ns == 0 ? 0 : 100 * (static_cast<double>(ns) / static_cast<double>(total_ns)));
  }

  table::Table AllRanks(const char* name, Spread Spreads::* which) const {
    table::Table table(name);
    table.AddColumn("Name", CellType::kText);
    for (const char* column : {"Count", "MeanNs", "StdNs", "MinNs"})
      table.AddColumn(column, CellType::kDouble, 4);
    table.AddColumn("MinRank", CellType::kInt);
    for (const char* column : {"Q1Ns", "MedianNs", "Q3Ns", "MaxNs"})
      table.AddColumn(column, CellType::kDouble, 4);
    table.AddColumn("MaxRank", CellType::kInt);
    for (const char* column : {"SumNs", "Dispersion(%)"})
      table.AddColumn(column, CellType::kDouble, 3);
    table.AddColumn("StepId", CellType::kInt);
    for (const auto* row : ByDispersion(which))
      AppendStats(table, row->first.second, row->second.*which, row->first.first);
    return table;
  }

  using NamedSpreads = std::pair<const std::pair<int64_t, std::string>, Spreads>;

  // Step by step, the most uneven first.
  std::vector<const NamedSpreads*> ByDispersion(Spread Spreads::* which) const {
    std::vector<std::pair<double, const NamedSpreads*>> order;
    for (const NamedSpreads& row : spreads_)
      order.emplace_back(-Dispersion(row.second.*which), &row);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second->first.first, a.first) < std::pair(b.second->first.first, b.first);
    });
    std::vector<const NamedSpreads*> rows;
    for (const auto& [dispersion, row] : order) rows.push_back(row);
    return rows;
  }

  static double Dispersion(const Spread& spread) {
    if (spread.sum_ns() == 0) return 0;
    const double above_ns = static_cast<double>(spread.max_ns()) - spread.Quantile(0.75);
    return 100 * above_ns / static_cast<double>(spread.sum_ns());
  }

  void AppendStats(table::Table& table, const std::string& name, const Spread& spread,
                   int64_t step) const {
    // Where nothing was measured no rank is first or last.
    const bool is_measured = spread.max_ns() > 0;
    const int64_t nobody = options_.compat ? 0 : table::kNull;
    size_t column = 0;
    table.AppendText(column++, name);
    for (const double value : {static_cast<double>(spread.count()), spread.mean_ns(),
                               spread.sample_std_ns(), static_cast<double>(spread.min_ns())})
      table.AppendDouble(column++, value);
    table.AppendInt(column++, is_measured ? spread.min_rank() : nobody);
    for (const double value : {spread.Quantile(0.25), spread.Quantile(0.5), spread.Quantile(0.75),
                               static_cast<double>(spread.max_ns())})
      table.AppendDouble(column++, value);
    table.AppendInt(column++, is_measured ? spread.max_rank() : nobody);
    table.AppendDouble(column++, static_cast<double>(spread.sum_ns()));
    table.AppendDouble(column++, Dispersion(spread));
    table.AppendInt(column, step);
  }

  void AddNotes(Answer& answer) const {
    answer.Note(silent_ranks_,
                "{ranks} {have} no mstx records (MSTX_EVENTS of the db; record with mstx).");
    answer.Note(unpaired_marks_, "{marks} X_start or X_stop {have} no partner on {their} thread.");
    answer.Note(outside_steps_,
                "marks or ranges {lie} outside all steps and {are} listed as step 0.");
  }

  Options options_;
  table::Table marks_{"MSTXMarkStats"};                         // grows rank by rank
  std::map<std::pair<int64_t, std::string>, Spreads> spreads_;  // by (step, name)
  size_t silent_ranks_ = 0;
  size_t unpaired_marks_ = 0;
  size_t outside_steps_ = 0;
};

}  // namespace

RecipeSpec MstxSumRecipe() {
  RecipeSpec spec;
  spec.name = "mstx_sum";
  spec.folder = "MstxSum";
  spec.summary = "Durations of the user's marks and ranges on host and device";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<MstxSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
