#include "analysis/advice/host_events.h"

#include <algorithm>

#include "analysis/any_case.h"
#include "analysis/classify/text_memo.h"

namespace steplens::analysis {
namespace {

// The lists that slices of a name belong to, as bits.
enum HostEventBits : uint8_t {
  kMemoryCall = 1,
  kCompilation = 2,
  kNodeLaunch = 4,
  kStreamSync = 8,
  kDataLoad = 16,
  kSyncBatchNorm = 32,
  kAclCall = 64,
  kJudged = 128,
};

uint8_t JudgeHostEvent(std::string_view name) {
  uint8_t bits = kJudged;
  constexpr std::string_view kAcl = "AscendCL@";
  if (name.starts_with(kAcl)) {
    bits |= kAclCall;
    const std::string_view api = name.substr(kAcl.size());
    if (api == "aclMallocMemInner" || api == "aclrtFreePhysical" || api == "aclrtFree")
      bits |= kMemoryCall;
    if (api.starts_with("aclrtSynchronizeStream")) bits |= kStreamSync;
  }
  if (name.ends_with("aclopCompileAndExecute")) bits |= kCompilation;
  if (name.starts_with("Node@launch")) bits |= kNodeLaunch;
  if (ContainsInAnyCase(name, "dataloader")) bits |= kDataLoad;
  if (EqualsInAnyCase(name, "syncbatchnorm")) bits |= kSyncBatchNorm;
  return bits;
}

}  // namespace

HostEvents CollectHostEvents(const store::TraceStore& store) {
  HostEvents out;
  std::vector<uint8_t> known(store.strings.size(), 0);
  TextMemo is_collection(store,
                         [](std::string_view category) { return EqualsInAnyCase(category, "gc"); });
  const store::SliceTable& slices = store.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    uint8_t& bits = known[static_cast<size_t>(slices.name[i])];
    if (bits == 0) bits = JudgeHostEvent(store.Text(slices.name[i]));
    if (is_collection(slices.category[i])) out.collections.push_back(i);
    if (bits == kJudged) continue;
    if ((bits & kMemoryCall) != 0) out.memory_calls.push_back(i);
    if ((bits & kCompilation) != 0) out.compilations.push_back(i);
    if ((bits & kNodeLaunch) != 0) out.launches.push_back(i);
    if ((bits & kStreamSync) != 0) out.syncs.push_back(i);
    if ((bits & kDataLoad) != 0) out.data_loads.push_back(i);
    if ((bits & kSyncBatchNorm) != 0) out.sync_bns.push_back(i);
    if ((bits & kAclCall) != 0) out.acl_calls.push_back(i);
  }
  for (std::vector<size_t>* list :
       {&out.memory_calls, &out.compilations, &out.launches, &out.syncs, &out.data_loads,
        &out.sync_bns, &out.collections, &out.acl_calls}) {
    std::stable_sort(list->begin(), list->end(),
                     [&](size_t a, size_t b) { return slices.begin_ns[a] < slices.begin_ns[b]; });
  }
  return out;
}

}  // namespace steplens::analysis
