#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/any_case.h"
#include "analysis/cluster/summary/robust.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/explain_common.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::SliceId;
using store::TraceStore;

constexpr double kDifferent = 0.05;  // a cause must differ by this share of the usual value
constexpr double kUsual = 1.1;       // up to this ratio to the median a slice is as usual

// A slice and its siblings: durations, and of kernels their rows.
struct Siblings {
  std::vector<Interval> times;
  std::vector<uint32_t> kernels;  // parallel, for kernels only
  double MedianNs() const {
    std::vector<double> values;
    for (const Interval& in : times) values.push_back(static_cast<double>(in.end_ns - in.begin_ns));
    return cluster::Median(std::move(values));
  }
};

Siblings KernelSiblings(const RankView& rank, uint32_t kernel) {
  Siblings out;
  const store::KernelTable& k = rank.store().kernels;
  for (const uint32_t i : rank.kernel_names().Of(k.name[kernel])) {
    if (i == kernel) continue;
    if (k.input_shapes[i] != k.input_shapes[kernel]) continue;
    if (k.begin_ns[i] == store::kNone || k.dur_ns[i] == store::kNone) continue;
    out.times.push_back({k.begin_ns[i], EndNs(k.begin_ns[i], k.dur_ns[i])});
    out.kernels.push_back(i);
  }
  return out;
}

Siblings SliceSiblings(const RankView& rank, size_t slice) {
  Siblings out;
  const store::SliceTable& s = rank.store().slices;
  for (const uint32_t i : rank.slice_names().Of(s.name[slice])) {
    if (i == slice || s.track[i] != s.track[slice]) continue;
    out.times.push_back({s.begin_ns[i], EndNs(s.begin_ns[i], s.dur_ns[i])});
  }
  return out;
}

// The device's frequency over time.
class Frequency {
 public:
  explicit Frequency(const TraceStore& store) {
    const auto is_named = [&](size_t track) {
      return track < store.tracks.size() &&
             store.Text(store.tracks.name[track]).starts_with("AI Core Freq");
    };
    std::vector<bool> is_frequency(store.tracks.size());
    for (size_t t = 0; t < is_frequency.size(); ++t)
      is_frequency[t] = is_named(t) || is_named(static_cast<size_t>(store.tracks.parent[t]));
    if (std::find(is_frequency.begin(), is_frequency.end(), true) == is_frequency.end()) return;
    for (size_t i = 0; i < store.counters.size(); ++i) {
      const auto t = static_cast<size_t>(store.counters.track[i]);
      if (t < is_frequency.size() && is_frequency[t])
        samples_.emplace_back(store.counters.ts_ns[i], store.counters.value[i]);
    }
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  // The last value at or before the time; NaN without one.
  double At(int64_t ts_ns) const {
    const auto after = std::upper_bound(
        samples_.begin(), samples_.end(), ts_ns,
        [](int64_t wanted_ns, const auto& sample) { return wanted_ns < sample.first; });
    return after == samples_.begin() ? std::nan("") : (after - 1)->second;
  }

 private:
  std::vector<std::pair<int64_t, double>> samples_;
};

bool Differs(double own, double usual) {
  return std::isfinite(own) && std::isfinite(usual) &&
         std::fabs(own - usual) > kDifferent * std::max(std::fabs(usual), 1e-9);
}

// Adds what is different about a slice; `excess_ns` is what it took longer.
class Causes {
 public:
  Causes(const RankView& rank, Interval own, const Siblings& siblings, int64_t excess_ns,
         std::vector<Evidence>& items)
      : rank_(rank),
        store_(rank.store()),
        own_(own),
        siblings_(siblings),
        excess_ns_(excess_ns),
        items_(items) {}

  void AddFrequency() {
    const Frequency frequency(store_);
    std::vector<double> usual;
    for (const Interval& in : siblings_.times) {
      const double mhz = frequency.At(in.begin_ns);
      if (std::isfinite(mhz)) usual.push_back(mhz);
    }
    const double own_mhz = frequency.At(own_.begin_ns);
    if (usual.empty()) return;
    const double usual_mhz = cluster::Median(std::move(usual));
    if (!Differs(own_mhz, usual_mhz) || own_mhz > usual_mhz) return;
    Add("slice.frequency",
        {{"own", fmt::format("{:.0f}", own_mhz)}, {"usual", fmt::format("{:.0f}", usual_mhz)}});
  }

  void AddContention() {
    const Cover& cover = rank_.communication();
    const auto share = [&](Interval in) {
      const int64_t length_ns = in.end_ns - in.begin_ns;
      return length_ns > 0 ? static_cast<double>(cover.Within(in)) / static_cast<double>(length_ns)
                           : 0.0;
    };
    std::vector<double> usual;
    for (const Interval& in : siblings_.times) usual.push_back(share(in));
    const double own = share(own_);
    const double usually = cluster::Median(std::move(usual));
    if (own < 0.5 || own - usually < 0.25) return;
    Add("slice.contention", {{"own", fmt::format("{:.0f}", 100 * own)},
                             {"usual", fmt::format("{:.0f}", 100 * usually)}});
  }

  void AddKernelFacts(uint32_t kernel) {
    const store::KernelTable& k = store_.kernels;
    std::vector<double> blocks;
    for (const uint32_t sibling : siblings_.kernels) {
      if (k.block_dim[sibling] != store::kNone) {
        blocks.push_back(static_cast<double>(k.block_dim[sibling].value()));
      }
    }
    if (k.block_dim[kernel] != store::kNone && !blocks.empty()) {
      const double usual = cluster::Median(std::move(blocks));
      const auto own = static_cast<double>(k.block_dim[kernel].value());
      if (own < usual && Differs(own, usual)) {
        Add("slice.cores",
            {{"own", fmt::format("{:.0f}", own)}, {"usual", fmt::format("{:.0f}", usual)}});
      }
    }
    for (const store::DynamicColumn& column : store_.kernel_metrics) AddMetric(column, kernel);
  }

 private:
  // Cache misses that are higher than usual.
  void AddMetric(const store::DynamicColumn& column, uint32_t kernel) {
    if (column.is_text() || column.name.find("miss_rate") == column.name.npos) return;
    std::vector<double> usual;
    for (const uint32_t sibling : siblings_.kernels) {
      if (std::isfinite(column.numbers[sibling])) usual.push_back(column.numbers[sibling]);
    }
    if (usual.empty()) return;
    const double own = column.numbers[kernel];
    const double usually = cluster::Median(std::move(usual));
    if (!Differs(own, usually) || own - usually < 0.01) return;
    Add("slice.cache", {{"metric", column.name},
                        {"own", fmt::format("{:.3f}", own)},
                        {"usual", fmt::format("{:.3f}", usually)}});
  }

  void Add(std::string key, std::vector<MessageArg> args) {
    items_.push_back(MakeEvidence(Message{std::move(key), std::move(args)}, excess_ns_,
                                  own_.end_ns - own_.begin_ns));
  }

  const RankView& rank_;
  const TraceStore& store_;
  Interval own_;
  const Siblings& siblings_;
  int64_t excess_ns_;
  std::vector<Evidence>& items_;
};

}  // namespace

Result<Explanation> ExplainSlice(const store::Job& job, uint32_t rank_index, SliceId slice) {
  if (rank_index >= job.ranks.size()) return Error{ErrorCode::kNotFound, "there is no such slice"};
  return ExplainSlice(job, rank_index, slice, RankView(job.ranks[rank_index]));
}

Result<Explanation> ExplainSlice(const store::Job& job, uint32_t rank_index, SliceId slice,
                                 const RankView& rank, const ArgsReader& read_args) {
  const auto row = static_cast<size_t>(slice);
  if (rank_index >= job.ranks.size() || row >= rank.store().slices.size()) {
    return Error{ErrorCode::kNotFound, "there is no such slice"};
  }
  if (auto wait = ExplainSynchronisation(job, rank_index, slice, rank, read_args))
    return *std::move(wait);
  const TraceStore& store = rank.store();
  if (CommOpOf(store, slice)) return ExplainWait(job, rank_index, slice);
  const Interval own{store.slices.begin_ns[row],
                     EndNs(store.slices.begin_ns[row], store.slices.dur_ns[row])};
  const int64_t dur_ns = store.slices.dur_ns[row];
  const uint32_t kernel = rank.kernel_slices().KernelOf(slice);
  const Siblings siblings =
      kernel == store::kNoId ? SliceSiblings(rank, row) : KernelSiblings(rank, kernel);
  Explanation out;
  const std::string name(store.Text(store.slices.name[row]));
  out.title = Message{"slice.title", {{"name", name}, {"time", TimeText(dur_ns)}}};
  if (siblings.times.empty()) {
    out.verdict = Message{"slice.alone"};
    out.items.push_back(MakeEvidence(out.verdict, dur_ns, dur_ns));
    return out;
  }
  const double median_ns = siblings.MedianNs();
  const double ratio = median_ns > 0 ? static_cast<double>(dur_ns) / median_ns : 1;
  const auto excess_ns =
      std::max<int64_t>(0, dur_ns - static_cast<int64_t>(std::llround(median_ns)));
  Evidence compared = MakeEvidence(Message{"slice.compared",
                                           {{"ratio", fmt::format("{:.2f}", ratio)},
                                            {"count", std::to_string(siblings.times.size())},
                                            {"median", TimeText(static_cast<int64_t>(median_ns))}}},
                                   excess_ns, dur_ns);
  compared.slice = SliceRef{rank_index, slice};
  out.items.push_back(std::move(compared));
  if (ratio <= kUsual) {
    out.verdict = Message{"slice.usual"};
    return out;
  }
  const std::vector<TrackKind>& kinds = rank.tracks();
  const auto track = static_cast<size_t>(store.slices.track[row]);
  if (track < kinds.size() && kinds[track] == TrackKind::kDevice) {
    Causes causes(rank, own, siblings, excess_ns, out.items);
    causes.AddFrequency();
    causes.AddContention();
    if (kernel != store::kNoId) causes.AddKernelFacts(kernel);
  }
  out.verdict = out.items.size() > 1 ? out.items[1].wording : Message{"slice.unknown"};
  return out;
}

}  // namespace steplens::analysis
