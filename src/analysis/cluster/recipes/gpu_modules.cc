#include "analysis/cluster/recipes/gpu_modules.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"
#include "base/number.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

// Words in the names of layers, as the reference knows them.
bool IsLayerName(std::string_view name) {
  for (const std::string_view word :
       {"Qwen", "Attention", "Linear", "RMSNorm", "Embedding", "Sampler", "Logits"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

bool IsOperatorName(std::string_view name) { return name.find("::") != name.npos; }

// The ranges around a moment of a thread.
class Ranges {
 public:
  explicit Ranges(const TraceStore& store)
      : store_(store),
        index_(BuildTrackIndex(store,
                               [&, kinds = SliceKinds(store)](size_t i) {
                                 return kinds[store.slices.category[i]] == SliceKind::kAnnotation;
                               })),
        nesting_(ComputeNesting(store, index_)) {
    has_layers_ = std::any_of(index_.order.begin(), index_.order.end(),
                              [&](SliceId slice) { return IsLayerName(NameOf(slice)); });
  }

  struct Place {
    std::string parent;
    std::string module;
    std::string op;
  };
  // Nothing outside of all modules.
  std::optional<Place> Find(store::TrackId track, int64_t ts_ns) const {
    Place place;
    for (SliceId slice = nesting_.InnermostAt(store_, index_, track, ts_ns); slice != kNoSlice;
         slice = nesting_.parent[static_cast<size_t>(slice)]) {
      const std::string_view name = NameOf(slice);
      if (place.op.empty() && IsOperatorName(name)) place.op = name.substr(0, name.find(','));
      if (!IsModule(name)) continue;
      if (place.module.empty()) {
        place.module = name;
      } else {
        place.parent =
            place.parent.empty() ? std::string(name) : std::string(name) + "/" + place.parent;
      }
    }
    if (place.module.empty()) return std::nullopt;
    if (place.op.empty()) place.op = "None";
    return place;
  }

 private:
  std::string_view NameOf(SliceId slice) const {
    return store_.Text(store_.slices.name[static_cast<size_t>(slice)]);
  }
  bool IsModule(std::string_view name) const {
    return has_layers_ ? IsLayerName(name) : !IsOperatorName(name);
  }

  const TraceStore& store_;  // outlives this, which lives for one call
  TrackIndex index_;
  Nesting nesting_;
  bool has_layers_ = false;
};

// The process of a GPU stream is numbered as its device.
int64_t DeviceOf(const TraceStore& store, store::TrackId stream) {
  const auto t = static_cast<size_t>(stream);
  return ParseInt64(store.Text(store.tracks.pid[t])).value_or(store::kNone);
}

struct KernelTotal {
  int64_t total_ns = 0;
  int64_t count = 0;
};

// (parent, module, op) -> kernel -> its time.
using Totals =
    std::map<std::tuple<std::string, std::string, std::string>, std::map<std::string, KernelTotal>>;

std::vector<ProfileRow> MakeRows(const Totals& totals) {
  std::vector<ProfileRow> rows;
  for (const auto& [place, kernels] : totals) {
    ProfileRow& row = rows.emplace_back();
    std::tie(row.parent, row.module, row.op) = place;
    for (const auto& [name, total] : kernels) {
      row.kernels += (row.kernels.empty() ? "" : ", ") + name;
      row.total_ns = AddSaturating(row.total_ns, total.total_ns);
      row.mean_ns += static_cast<double>(total.total_ns) / static_cast<double>(total.count);
      row.count += total.count;
    }
    row.mean_ns /= static_cast<double>(kernels.size());
  }
  return rows;
}

}  // namespace

std::map<int64_t, std::vector<ProfileRow>> SummarizeGpuModules(const TraceStore& store) {
  const Ranges ranges(store);
  const SliceKinds kinds(store);
  std::map<int64_t, Totals> totals_of_device;
  ForEachApiLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
    const auto d = static_cast<size_t>(launch.device);
    if (kinds[store.slices.category[d]] != SliceKind::kKernel) return;
    const auto place = ranges.Find(launch.host_track, launch.host_ns);
    if (!place) return;
    const int64_t device = DeviceOf(store, store.slices.track[d]);
    KernelTotal& total = totals_of_device[device][{place->parent, place->module, place->op}]
                                         [std::string(store.Text(store.slices.name[d]))];
    total.total_ns = AddSaturating(total.total_ns, store.slices.dur_ns[d]);
    ++total.count;
  });
  std::map<int64_t, std::vector<ProfileRow>> out;
  for (const auto& [device, totals] : totals_of_device) out[device] = MakeRows(totals);
  return out;
}

}  // namespace steplens::analysis::cluster
