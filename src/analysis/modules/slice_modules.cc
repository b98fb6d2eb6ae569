#include "analysis/modules/slice_modules.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/classify/classify.h"
#include "analysis/launches/launches.h"
#include "analysis/modules/module_ops.h"
#include "base/saturate.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::TraceStore;

constexpr size_t kMaxPaths = 255;

// The first `depth` names of a path.
std::string_view CutPath(std::string_view path, size_t depth) {
  size_t end = 0;
  for (size_t names = 0; names < depth && end != path.npos; ++names) {
    end = path.find('/', names == 0 ? 0 : end + 1);
  }
  return path.substr(0, end);
}

// Numbers the paths, cut to the depth at which they are few enough.
std::map<std::string, uint8_t, std::less<>> NumberPaths(const std::vector<std::string>& paths,
                                                        size_t& depth) {
  depth = 1;
  for (const std::string& path : paths) {
    depth = std::max(depth, 1 + static_cast<size_t>(std::count(path.begin(), path.end(), '/')));
  }
  std::map<std::string, uint8_t, std::less<>> numbers;
  for (;; --depth) {
    numbers.clear();
    for (const std::string& path : paths) numbers.try_emplace(std::string(CutPath(path, depth)), 0);
    if (numbers.size() <= kMaxPaths || depth == 1) break;
  }
  while (numbers.size() > kMaxPaths) numbers.erase(std::prev(numbers.end()));
  uint8_t next = 0;
  for (auto& [path, number] : numbers) number = ++next;
  return numbers;
}

// Slices and the times at which to look for their module.
struct SlicesToPlace {
  std::vector<uint32_t> slices;
  std::vector<Interval> times;
};

// Device slices when they were launched, and all slices of the threads that launch.
SlicesToPlace CollectSlicesToPlace(const TraceStore& store) {
  SlicesToPlace out;
  std::vector<bool> launches(store.tracks.size(), false);
  ForEachOperatorLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
    launches[static_cast<size_t>(launch.owner_track)] = true;
    out.slices.push_back(static_cast<uint32_t>(launch.device));
    out.times.push_back({launch.owner_ns, launch.owner_ns});
  });
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= launches.size() || !launches[track]) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    out.slices.push_back(i);
    out.times.push_back({begin_ns, AddSaturating(begin_ns, store.slices.dur_ns[i])});
  }
  return out;
}

}  // namespace

SliceModules FindSliceModules(const TraceStore& store) {
  SliceModules out;
  out.of_slice.assign(store.slices.size(), 0);
  std::vector<ModuleRange> modules = FindModules(store, false);
  if (modules.empty()) return out;
  const std::vector<ModuleRange> backward = FindBackwardModules(store, modules);
  modules.insert(modules.end(), backward.begin(), backward.end());
  const SlicesToPlace wanted = CollectSlicesToPlace(store);
  const ModulePaths found = FindModulePaths(modules, wanted.times);
  size_t depth = 1;
  const auto numbers = NumberPaths(found.paths, depth);
  for (size_t i = 0; i < wanted.slices.size(); ++i) {
    if (found.of_interval[i] == kNoId) continue;
    const auto number = numbers.find(CutPath(found.paths[found.of_interval[i]], depth));
    if (number != numbers.end()) out.of_slice[wanted.slices[i]] = number->second;
  }
  for (const auto& [path, number] : numbers) out.paths.push_back(path);
  return out;
}

}  // namespace steplens::analysis
