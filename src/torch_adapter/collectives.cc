#include "torch_adapter/collectives.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_adapter/text_cache.h"

namespace steplens::torch_adapter {
namespace {

// One collective: its name in c10d::, the name backends give its work, the library call an NPU
// would make, and which input holds the tensors of this rank that are counted. `peer`: the input
// with the other rank, or -1.
struct Kind {
  std::string_view call;
  std::string_view work;
  const char* name;
  const char* hccl;
  int tensors;
  int peer;
};
constexpr Kind kKinds[] = {
    {"allreduce_", "all_reduce", "all_reduce", "HcclAllreduce", 0, -1},
    {"allreduce_coalesced_", "all_reduce", "all_reduce", "HcclAllreduce", 0, -1},
    {"allreduce_", "sparse_all_reduce", "all_reduce", "HcclAllreduce", 0, -1},
    {"broadcast_", "broadcast", "broadcast", "HcclBroadcast", 0, -1},
    {"reduce_", "reduce", "reduce", "HcclReduce", 0, -1},
    {"allgather_", "all_gather", "all_gather", "HcclAllGather", 1, -1},
    {"allgather_coalesced_", "all_gather", "all_gather", "HcclAllGather", 1, -1},
    {"_allgather_base_", "all_gather", "all_gather", "HcclAllGather", 1, -1},
    {"gather_", "gather", "gather", "HcclAllGather", 1, -1},
    {"scatter_", "scatter", "scatter", "HcclScatter", 0, -1},
    {"reduce_scatter_", "reduce_scatter", "reduce_scatter", "HcclReduceScatter", 0, -1},
    {"_reduce_scatter_base_", "reduce_scatter", "reduce_scatter", "HcclReduceScatter", 0, -1},
    {"alltoall_", "all_to_all", "all_to_all", "HcclAlltoAll", 1, -1},
    {"alltoall_base_", "all_to_all", "all_to_all", "HcclAlltoAll", 1, -1},
    {"send", "send", "send", "HcclSend", 0, 2},
    {"recv_", "recv", "recv", "HcclRecv", 0, 2},
    {"recv_any_source_", "recvAnySource", "recv", "HcclRecv", 0, -1},
    {"barrier", "barrier", "barrier", "HcclBarrier", -1, -1},
};

const Kind* FindCall(std::string_view call) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& k) { return k.call == call; });
  return found == std::end(kKinds) ? nullptr : found;
}

const Kind* FindWork(std::string_view work) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& k) { return k.work == work; });
  return found == std::end(kKinds) ? nullptr : found;
}

// What is sent or received by this rank. `type` and `data` are those of the first tensor.
struct Payload {
  int64_t elements = 0;
  int64_t bytes = 0;
  std::optional<c10::ScalarType> type;
  const char* data = nullptr;  // where it lies; never read

  void AddAll(const c10::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (!tensor.defined()) return;
      elements += tensor.numel();
      bytes += tensor.numel() * static_cast<int64_t>(tensor.element_size());
      if (type) return;
      type = tensor.scalar_type();
      if (!tensor.has_storage()) return;
      data = static_cast<const char*>(tensor.storage().data()) +
             tensor.storage_offset() * static_cast<int64_t>(tensor.element_size());
    } else if (value.isList() || value.isTensorList()) {
      for (const c10::IValue& item : value.toListRef()) AddAll(item);
    }
  }
};

const char* TypeName(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Char:
      return "int8";
    case c10::ScalarType::Short:
      return "int16";
    case c10::ScalarType::Int:
      return "int32";
    case c10::ScalarType::Long:
      return "int64";
    case c10::ScalarType::Byte:
    case c10::ScalarType::Bool:
      return "uint8";
    case c10::ScalarType::Half:
      return "fp16";
    case c10::ScalarType::BFloat16:
      return "bfp16";
    case c10::ScalarType::Float:
      return "fp32";
    case c10::ScalarType::Double:
      return "fp64";
    default:
      return "na";
  }
}

// Where the first tensor of a value lies; nullptr if it has none.
const char* FirstPlace(const c10::IValue& value) {
  if (value.isTensor()) {
    Payload payload;
    payload.AddAll(value);
    return payload.data;
  }
  if (!value.isList() && !value.isTensorList()) return nullptr;
  for (const c10::IValue& item : value.toListRef()) {
    if (const char* place = FirstPlace(item)) return place;
  }
  return nullptr;
}

struct Call {
  const Kind* kind;
  uint64_t group;  // address; 0: not known
  uint64_t thread;
  Payload payload;
  int64_t peer;
  sl_ticks called;
  uint64_t number;  // in the order of all calls
  // Of each input: a work has those of one of them, and which one depends on the rank (the root of
  // a scatter works on what it sends, the others on what they receive).
  std::vector<const char*> places;
};
struct Group {
  std::string name;
  std::string ranks;
};

constexpr size_t kMaxPending = 4096;
std::mutex mutex;
uint64_t calls_seen = 0;
// The last call of each group whose work has begun.
std::unordered_map<uint64_t, uint64_t>& LastBegun() {
  static auto* const calls = new std::unordered_map<uint64_t, uint64_t>;
  return *calls;
}
std::deque<Call>& Pending() {
  static auto* const calls = new std::deque<Call>;
  return *calls;
}
std::unordered_map<uint64_t, Group>& Groups() {
  static auto* const groups = new std::unordered_map<uint64_t, Group>;
  return *groups;
}
// The group a backend's thread works for, once that is certain.
std::unordered_map<uint64_t, uint64_t>& GroupOfThread() {
  static auto* const threads = new std::unordered_map<uint64_t, uint64_t>;
  return *threads;
}
std::atomic<void (*)(uint64_t)> unknown_group_hook{nullptr};

// The process group among the inputs of a call: the object that is none of the usual types.
uint64_t GroupAddress(c10::ArrayRef<const c10::IValue> inputs) {
  for (const c10::IValue& value : inputs) {
    if (!value.isObject()) continue;
    const auto object = value.toObject();
    if (object->slots().empty() || !object->getSlot(0).isCapsule()) continue;
    return reinterpret_cast<uint64_t>(object->getSlot(0).toCapsule().get());
  }
  return 0;
}

// How well a call fits the work of `kind` that was seen on `thread`: kSame is certain, because a
// work has the very tensors of its call; kLikely can only be told by the order.
enum class Fit { kNo, kLikely, kSame };

Fit FitOf(const Call& call, const Kind& kind, const Payload& seen, uint64_t thread) {
  if (std::string_view(call.kind->name) != kind.name) return Fit::kNo;
  if (!call.places.empty() && seen.data) {
    const bool is_same =
        std::find(call.places.begin(), call.places.end(), seen.data) != call.places.end();
    return is_same ? Fit::kSame : Fit::kNo;
  }
  const auto& threads = GroupOfThread();
  const auto bound = threads.find(thread);
  if (bound == threads.end() || call.thread == thread) return Fit::kLikely;
  return call.group == bound->second ? Fit::kLikely : Fit::kNo;
}

// Takes the call that the work on `thread` belongs to, the first that fits best, out of the list.
// The lock is held.
std::optional<Call> TakeCall(const Kind& kind, const Payload& seen, uint64_t thread) {
  auto& pending = Pending();
  auto best = pending.end();
  Fit best_fit = Fit::kNo;
  for (auto call = pending.begin(); call != pending.end(); ++call) {
    const Fit fit = FitOf(*call, kind, seen, thread);
    if (fit > best_fit) {
      best = call;
      best_fit = fit;
    }
  }
  if (best == pending.end()) return std::nullopt;
  Call call = std::move(*best);
  pending.erase(best);
  uint64_t& last = LastBegun()[call.group];
  last = std::max(last, call.number);
  if (best_fit == Fit::kSame && call.thread != thread && call.group != 0)
    GroupOfThread()[thread] = call.group;
  return call;
}

// The fields as an NPU's collective call would be marked: names of HCCL, all values as text.
std::string MarkText(const Kind& kind, const Payload& payload, int64_t peer,
                     const std::string& group) {
  std::string out = "{\"streamId\":\"" + std::to_string(sl_thread()) + "\",\"count\":\"" +
                    std::to_string(payload.elements) + "\",\"dataType\":\"" +
                    (payload.type ? TypeName(*payload.type) : "na") + "\",";
  const std::string_view name = kind.name;
  if (peer >= 0 && name == "recv") out += "\"srcRank\":\"" + std::to_string(peer) + "\",";
  if (peer >= 0 && name == "send") out += "\"destRank\":\"" + std::to_string(peer) + "\",";
  return out + "\"groupName\":\"" + group + "\",\"opName\":\"" + kind.hccl + "\"}";
}

// The group of `address`; where the call did not say, the only one there is. The lock is held.
Group GroupOf(uint64_t address) {
  const auto& groups = Groups();
  const auto found = groups.find(address);
  if (found != groups.end()) return found->second;
  return groups.size() == 1 ? groups.begin()->second : Group{};
}

// The group a backend's thread works for; 0: not known. Some calls cannot be seen, such as
// all_to_all_single of older versions of torch. The lock is held.
uint64_t GroupOfWorker(uint64_t thread) {
  const auto found = GroupOfThread().find(thread);
  return found == GroupOfThread().end() ? 0 : found->second;
}

}  // namespace

void NoteCall(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
  const Kind* kind = FindCall(name.substr(std::string_view("c10d::").size()));
  if (!kind) return;
  Call call{kind, GroupAddress(inputs), sl_thread(), {}, -1, sl_now(), 0, {}};
  for (const c10::IValue& value : inputs) {
    if (const char* place = FirstPlace(value)) call.places.push_back(place);
  }
  const auto at = [&](int index) -> const c10::IValue* {
    return index >= 0 && static_cast<size_t>(index) < inputs.size()
               ? &inputs[static_cast<size_t>(index)]
               : nullptr;
  };
  if (const c10::IValue* tensors = at(kind->tensors)) call.payload.AddAll(*tensors);
  if (const c10::IValue* peer = at(kind->peer); peer && peer->isInt()) call.peer = peer->toInt();
  bool unknown = false;
  {
    const std::lock_guard lock(mutex);
    unknown = call.group != 0 && !Groups().contains(call.group);
    auto& pending = Pending();
    call.number = ++calls_seen;
    if (pending.size() >= kMaxPending) pending.pop_front();
    pending.push_back(std::move(call));
  }
  // Outside the lock: the hook may need the interpreter, and tells the group's name through
  // NameGroup.
  if (auto* hook = unknown_group_hook.load(); unknown && hook) hook(GroupAddress(inputs));
}

namespace {

CollectiveFields FieldsOf(const Kind& kind, const Payload& payload, const Group& group,
                          int64_t peer) {
  const auto number = [](int64_t value) { return InternText(std::to_string(value)); };
  CollectiveFields out;
  out.Add(kGroupTag, InternText(group.name));
  out.Add(kBytesTag, number(payload.bytes));
  out.Add(kCountTag, number(payload.elements));
  if (payload.type) out.Add(kTypeTag, InternText(TypeName(*payload.type)));
  out.Add(kRanksTag, InternText(group.ranks));
  out.Add(kKindTag, InternText(kind.name));
  if (peer >= 0) out.Add(kPeerTag, number(peer));
  return out;
}

}  // namespace

CollectiveFields NoteWork(std::string_view name, c10::ArrayRef<const c10::IValue> inputs,
                          bool marks) {
  const Kind* kind = FindWork(name.substr(std::string_view("gloo:").size()));
  if (!kind) return {};
  Payload payload;
  for (const c10::IValue& value : inputs) payload.AddAll(value);
  Group group;
  int64_t peer = -1;
  {
    const std::lock_guard lock(mutex);
    const std::optional<Call> call = TakeCall(*kind, payload, sl_thread());
    if (call && call->payload.type) payload = call->payload;
    if (call) peer = call->peer;
    group = GroupOf(call ? call->group : GroupOfWorker(sl_thread()));
  }
  CollectiveFields out = FieldsOf(*kind, payload, group, peer);
  if (marks) {
    out.mark = sl_mark_start(InternText(MarkText(*kind, payload, peer, group.name)),
                             InternText("communication"));
  }
  return out;
}

std::vector<WaitingWork> TakeWaitingWorks() {
  std::vector<WaitingWork> out;
  const std::lock_guard lock(mutex);
  for (const Call& call : Pending()) {
    const auto last = LastBegun().find(call.group);
    if (last != LastBegun().end() && call.number < last->second) continue;  // nobody saw its work
    const Group group = GroupOf(call.group);
    if (group.ranks.find(',') == std::string::npos) continue;  // alone, or not known
    out.push_back({InternText("gloo:" + std::string(call.kind->work)), call.called, call.thread,
                   FieldsOf(*call.kind, call.payload, group, call.peer)});
  }
  Pending().clear();
  return out;
}

void ForgetCalls() {
  const std::lock_guard lock(mutex);
  Pending().clear();
  LastBegun().clear();
}

void NameGroup(uint64_t address, std::string_view name, std::string_view ranks) {
  const std::lock_guard lock(mutex);
  Groups()[address] = {std::string(name), std::string(ranks)};
}

void SetUnknownGroupHook(void (*hook)(uint64_t address)) { unknown_group_hook = hook; }

}  // namespace steplens::torch_adapter
