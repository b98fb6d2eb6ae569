#include "analysis/modules/module_ops.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"
#include "analysis/operators/host_ops.h"
#include "base/saturate.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

int64_t EndOf(const TraceStore& store, size_t slice) {
  return AddSaturating(store.slices.begin_ns[slice], store.slices.dur_ns[slice]);
}

// Tells which device slices are kernels, and what they are called.
class KernelNames {
 public:
  explicit KernelNames(const TraceStore& store)
      : store_(store), kinds_(store), is_task_kind_(store, IsTaskKindName) {
    const store::CommOpTable& ops = store.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i)
      types_.emplace_back(ops.track[i], ops.begin_ns[i], ops.op_type[i]);
    std::sort(types_.begin(), types_.end());
  }

  // The empty text if the slice is not a kernel.
  StringId NameOf(TrackKind track, size_t slice) {
    const SliceKind kind = kinds_[store_.slices.category[slice]];
    const StringId name = store_.slices.name[slice];
    if (track == TrackKind::kCommGroup) return TypeOf(slice);
    if (kind == SliceKind::kKernel) return name;
    const bool is_task = track == TrackKind::kDevice && !IsGpuWork(kind);
    return is_task && !is_task_kind_(name) ? name : StringId::kEmpty;
  }

 private:
  StringId TypeOf(size_t slice) const {
    const auto key = std::pair(store_.slices.track[slice], store_.slices.begin_ns[slice]);
    const auto found = std::lower_bound(
        types_.begin(), types_.end(), key, [](const Type& type, const auto& wanted) {
          return std::pair(std::get<0>(type), std::get<1>(type)) < wanted;
        });
    const bool is_known = found != types_.end() && std::get<0>(*found) == key.first &&
                          std::get<1>(*found) == key.second &&
                          std::get<2>(*found) != StringId::kEmpty;
    return is_known ? std::get<2>(*found) : store_.slices.name[slice];
  }

  using Type = std::tuple<store::TrackId, int64_t, StringId>;  // track, start, type of collectives
  const TraceStore& store_;  // outlives this, which lives for one call
  SliceKinds kinds_;
  TextMemo<decltype(&IsTaskKindName)> is_task_kind_;
  std::vector<Type> types_;
};

// Which module is around what.
struct Placement {
  std::vector<uint32_t> parent_of_module;    // kNoId: none
  std::vector<uint32_t> module_of_interval;  // kNoId: none
};

// Modules and intervals are laid on one track, whatever thread they ran on: the backward pass and
// its operators are on a thread of their own.
Placement Place(std::span<const ModuleRange> modules, std::span<const Interval> intervals) {
  TraceStore scratch;
  scratch.tracks.Append({});
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    scratch.slices.Append({.track = store::TrackId{0},
                           .begin_ns = begin_ns,
                           .dur_ns = std::max<int64_t>(SubtractSaturating(end_ns, begin_ns), 0)});
  };
  for (const ModuleRange& module : modules) add(module.begin_ns, module.end_ns);
  for (const Interval& interval : intervals) add(interval.begin_ns, interval.end_ns);
  const Nesting nesting = ComputeNesting(scratch);
  const auto module_around = [&](size_t slice) {
    SliceId around = nesting.parent[slice];
    while (around != kNoSlice && static_cast<size_t>(around) >= modules.size())
      around = nesting.parent[static_cast<size_t>(around)];
    return around == kNoSlice ? kNoId : static_cast<uint32_t>(around);
  };
  Placement out;
  for (size_t i = 0; i < modules.size(); ++i) out.parent_of_module.push_back(module_around(i));
  for (size_t i = 0; i < intervals.size(); ++i)
    out.module_of_interval.push_back(module_around(modules.size() + i));
  return out;
}

// Names of a module and of all around it, outermost first.
std::string ParentPath(std::span<const ModuleRange> modules, const Placement& placement,
                       uint32_t module) {
  std::string path;
  for (uint32_t m = placement.parent_of_module[module]; m != kNoId;
       m = placement.parent_of_module[m]) {
    path = path.empty() ? modules[m].name : modules[m].name + "/" + path;
  }
  return path;
}

bool IsBackward(std::span<const ModuleRange> modules, const Placement& placement, uint32_t module) {
  for (uint32_t m = module; m != kNoId; m = placement.parent_of_module[m]) {
    if (modules[m].is_backward) return true;
  }
  return false;
}

std::string_view PrefixOf(std::span<const ModuleRange> modules, const Placement& placement,
                          uint32_t module) {
  return IsBackward(modules, placement, module) ? "[Backward]" : "";
}

// A forward operator and the backward operator that belongs to it.
struct OpPair {
  Interval forward;
  Interval backward;
};

std::vector<OpPair> CollectPairs(const TraceStore& store) {
  std::vector<OpPair> pairs;
  const auto kind = store.strings.Find("fwdbwd");
  if (!kind) return pairs;
  const HostOpFinder finder(store);
  const auto find = [&](store::TrackId track, int64_t ts_ns) {
    const SliceId slice = finder.Find(track, ts_ns);
    const auto s = static_cast<size_t>(slice);
    return slice == kNoSlice ? Interval{0, -1}
                             : Interval{store.slices.begin_ns[s], EndOf(store, s)};
  };
  const store::FlowTable& flows = store.flows;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows.kind[i] != *kind) continue;
    const OpPair pair{find(flows.from_track[i], flows.from_ns[i]),
                      find(flows.to_track[i], flows.to_ns[i])};
    const bool is_complete = pair.forward.begin_ns <= pair.forward.end_ns &&
                             pair.backward.begin_ns <= pair.backward.end_ns;
    if (is_complete) pairs.push_back(pair);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const OpPair& a, const OpPair& b) {
    return a.backward.begin_ns < b.backward.begin_ns;
  });
  return pairs;
}

// Groups launching operators; see GroupByModule.
class Grouper {
 public:
  Grouper(const TraceStore& store, std::span<const LaunchingOp> ops,
          std::span<const ModuleRange> modules)
      : store_(store), ops_(ops), modules_(modules) {}

  std::vector<ModuleOp> Group() {
    std::vector<Interval> intervals;
    for (const LaunchingOp& op : ops_) intervals.push_back({op.begin_ns, op.end_ns});
    placement_ = Place(modules_, intervals);
    std::map<uint32_t, std::vector<uint32_t>> ops_of_module;
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const uint32_t module = placement_.module_of_interval[i];
      if (module != kNoId) ops_of_module[module].push_back(i);
    }
    for (const auto& [module, ops] : ops_of_module) AddModule(module, ops);
    return Order();
  }

 private:
  // Calls of one module that made the same sequence of operators.
  struct Sequence {
    std::string parent;
    std::string module;
    int64_t first_ns = 0;  // start of the first operator of the first call
    std::map<std::pair<size_t, std::string>, ModuleOp> rows;  // by (place, kernels)
  };

  void AddModule(uint32_t module, const std::vector<uint32_t>& ops) {
    std::vector<StringId> names;
    for (const uint32_t op : ops) names.push_back(ops_[op].name);
    const std::string parent = ParentPath(modules_, placement_, module);
    const std::string name =
        std::string(PrefixOf(modules_, placement_, module)) + modules_[module].name;
    const auto [place, is_new] = sequences_.try_emplace({parent, name, std::move(names)});
    Sequence& sequence = place->second;
    const int64_t begin_ns = ops_[ops.front()].begin_ns;
    sequence.first_ns = is_new ? begin_ns : std::min(sequence.first_ns, begin_ns);
    sequence.parent = parent;
    sequence.module = name;
    for (size_t i = 0; i < ops.size(); ++i) AddOp(ops[i], i, sequence);
  }

  void AddOp(uint32_t op, size_t place, Sequence& sequence) {
    std::string kernels;
    for (const OpKernel& kernel : ops_[op].kernels) {
      if (!kernels.empty()) kernels += ", ";
      kernels += store_.Text(kernel.name);
    }
    ModuleOp& row = sequence.rows[{place, kernels}];
    row.parent = sequence.parent;
    row.module = sequence.module;
    row.op = store_.Text(ops_[op].name);
    row.kernels = std::move(kernels);
    row.total_ns = AddSaturating(row.total_ns, ops_[op].device_ns());
    row.ops.push_back(op);
  }

  std::vector<ModuleOp> Order() {
    std::vector<Sequence*> order;
    for (auto& [key, sequence] : sequences_) order.push_back(&sequence);
    std::stable_sort(order.begin(), order.end(), [](const Sequence* a, const Sequence* b) {
      return a->first_ns < b->first_ns;
    });
    const auto same_module = [](const Sequence* a, const Sequence* b) {
      return a->parent == b->parent && a->module == b->module;
    };
    std::vector<ModuleOp> out;
    for (size_t first = 0; first < order.size();) {
      size_t last = first;
      while (last < order.size() && same_module(order[first], order[last])) ++last;
      for (size_t i = first; i < last; ++i) {
        const std::string suffix = last - first > 1 ? "_" + std::to_string(i - first) : "";
        for (auto& [place, row] : order[i]->rows) {
          row.module += suffix;
          out.push_back(std::move(row));
        }
      }
      first = last;
    }
    return out;
  }

  const TraceStore& store_;
  std::span<const LaunchingOp> ops_;
  std::span<const ModuleRange> modules_;
  Placement placement_;
  std::map<std::tuple<std::string, std::string, std::vector<StringId>>, Sequence> sequences_;
};

}  // namespace

int64_t LaunchingOp::device_ns() const {
  int64_t sum_ns = 0;
  for (const OpKernel& kernel : kernels) sum_ns = AddSaturating(sum_ns, kernel.dur_ns);
  return sum_ns;
}

std::vector<LaunchingOp> CollectLaunchingOps(const TraceStore& store) {
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  const HostOpFinder finder(store);
  KernelNames names(store);
  std::map<SliceId, LaunchingOp> by_slice;
  ForEachOperatorLaunch(store, tracks, [&](const Launch& launch) {
    const auto device = static_cast<size_t>(launch.device);
    const auto track = static_cast<size_t>(store.slices.track[device]);
    const StringId name = names.NameOf(tracks[track], device);
    if (name == StringId::kEmpty) return;
    const SliceId op = finder.Find(launch.owner_track, launch.owner_ns);
    if (op == kNoSlice) return;
    by_slice[op].kernels.push_back(
        {launch.device, name, store.slices.begin_ns[device], store.slices.dur_ns[device]});
  });
  std::vector<LaunchingOp> ops;
  for (auto& [slice, op] : by_slice) {
    const auto s = static_cast<size_t>(slice);
    op.name = store.slices.name[s];
    op.track = store.slices.track[s];
    op.begin_ns = store.slices.begin_ns[s];
    op.end_ns = EndOf(store, s);
    std::stable_sort(op.kernels.begin(), op.kernels.end(),
                     [](const OpKernel& a, const OpKernel& b) { return a.begin_ns < b.begin_ns; });
    ops.push_back(std::move(op));
  }
  std::stable_sort(ops.begin(), ops.end(), [](const LaunchingOp& a, const LaunchingOp& b) {
    return a.begin_ns < b.begin_ns;
  });
  return ops;
}

std::vector<ModuleRange> FindModules(const TraceStore& store, bool only_marked) {
  constexpr int64_t kStartEndRange = 2;
  constexpr std::string_view kModuleCall = "nn.Module: ";
  std::vector<ModuleRange> modules;
  const auto add = [&](size_t slice, std::string_view name) {
    modules.push_back({std::string(name), store.slices.begin_ns[slice], EndOf(store, slice)});
  };
  if (const auto domain = store.strings.Find("Module")) {
    for (size_t i = 0; i < store.markers.size(); ++i) {
      if (store.markers.domain[i] != *domain || store.markers.event_type[i] != kStartEndRange)
        continue;
      const auto slice = static_cast<size_t>(store.markers.slice[i]);
      add(slice, store.Text(store.slices.name[slice]));
    }
  }
  if (!modules.empty() || only_marked) return modules;
  TextMemo is_module(store, [&](std::string_view name) { return name.starts_with(kModuleCall); });
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (!is_module(store.slices.name[i])) continue;
    add(i, store.Text(store.slices.name[i]).substr(kModuleCall.size()));
  }
  return modules;
}

std::vector<ModuleRange> FindBackwardModules(const TraceStore& store,
                                             std::span<const ModuleRange> modules) {
  const std::vector<OpPair> pairs = CollectPairs(store);
  std::vector<Interval> forward;
  for (const OpPair& pair : pairs) forward.push_back(pair.forward);
  const Placement placement = Place(modules, forward);

  std::vector<ModuleRange> out;
  std::vector<ModuleRange> around;
  uint32_t last = kNoId;  // the module whose backward pass is out.back()
  for (size_t i = 0; i < pairs.size(); ++i) {
    const uint32_t module = placement.module_of_interval[i];
    if (module == kNoId) continue;
    const Interval& backward = pairs[i].backward;
    if (module != last) {
      out.push_back({modules[module].name, backward.begin_ns, backward.end_ns, true});
      around.push_back({ParentPath(modules, placement, module), 0, 0, true});
    }
    out.back().end_ns = std::max(out.back().end_ns, backward.end_ns);
    last = module;
  }
  for (size_t i = 0; i < around.size(); ++i) {
    around[i].begin_ns = SubtractSaturating(out[i].begin_ns, 1);
    around[i].end_ns = AddSaturating(out[i].end_ns, 1);
  }
  std::erase_if(around, [](const ModuleRange& range) { return range.name.empty(); });
  out.insert(out.end(), around.begin(), around.end());
  return out;
}

std::vector<ModuleOp> GroupByModule(const TraceStore& store, std::span<const LaunchingOp> ops,
                                    std::span<const ModuleRange> modules) {
  return Grouper(store, ops, modules).Group();
}

ModulePaths FindModulePaths(std::span<const ModuleRange> modules,
                            std::span<const Interval> intervals) {
  const Placement placement = Place(modules, intervals);
  ModulePaths out;
  std::map<std::string, uint32_t> place_of;
  std::vector<uint32_t> of_module;
  for (uint32_t m = 0; m < modules.size(); ++m) {
    const std::string parent = ParentPath(modules, placement, m);
    std::string path = parent.empty() ? "" : parent + "/";
    path.append(PrefixOf(modules, placement, m)).append(modules[m].name);
    const auto next = static_cast<uint32_t>(out.paths.size());
    const auto [place, is_new] = place_of.try_emplace(path, next);
    if (is_new) out.paths.push_back(std::move(path));
    of_module.push_back(place->second);
  }
  for (const uint32_t module : placement.module_of_interval) {
    out.of_interval.push_back(module == kNoId ? kNoId : of_module[module]);
  }
  return out;
}

std::vector<ModuleOp> SummarizeModules(const TraceStore& store, bool only_marked) {
  std::vector<ModuleRange> modules = FindModules(store, only_marked);
  if (modules.empty()) return {};
  const std::vector<ModuleRange> backward = FindBackwardModules(store, modules);
  modules.insert(modules.end(), backward.begin(), backward.end());
  return GroupByModule(store, CollectLaunchingOps(store), modules);
}

}  // namespace steplens::analysis
