// Who talks to whom: joins the call of a collective, which knows its process group
// (c10d::allreduce_), with the work the backend does for it on a thread of its own, which does not
// (gloo:all_reduce).
//
// A work has the tensors of its call; one without tensors (a barrier) is found by order, since a
// backend's thread serves one group. Calls that no work follows are forgotten after 4,096 newer
// ones. For any thread; collectives are rare, so one lock guards everything.
#ifndef STEPLENS_TORCH_ADAPTER_COLLECTIVES_H_
#define STEPLENS_TORCH_ADAPTER_COLLECTIVES_H_

#include <ATen/core/ivalue.h>
#include <steplens/collect.h>

#include <string_view>
#include <vector>

namespace steplens::torch_adapter {

// Text fields of the work's operator record (docs/formats/framework.md): group name, bytes, element
// count, data type, ranks of the group, kind of collective, peer.
inline constexpr uint16_t kGroupTag = 32, kBytesTag = 33, kCountTag = 34, kTypeTag = 35,
                          kRanksTag = 36, kKindTag = 37, kPeerTag = 38;
struct CollectiveFields {
  sl_field fields[7];
  uint32_t count = 0;
  uint64_t mark = 0;  // the range in the domain "communication"; 0: none

  void Add(uint16_t tag, sl_string text) {
    if (text != 0) fields[count++] = {tag, text};
  }
};

inline bool IsCall(std::string_view name) { return name.starts_with("c10d::"); }
inline bool IsWork(std::string_view name) { return name.starts_with("gloo:"); }

// A collective is called (start of c10d::*). Inputs may be missing: then its group stays unknown.
void NoteCall(std::string_view name, c10::ArrayRef<const c10::IValue> inputs);

// Its work starts on the calling thread (start of gloo:*). Opens the mark if `marks`.
CollectiveFields NoteWork(std::string_view name, c10::ArrayRef<const c10::IValue> inputs,
                          bool marks);

// The work of a call that had not begun when the capture ended: it waited for others of its group.
struct WaitingWork {
  sl_string name = 0;  // "gloo:all_reduce"
  sl_ticks called = 0;
  uint64_t thread = 0;  // that called it
  CollectiveFields fields;
};
// Of calls later than all whose work has begun; the order in a group is that of the calls.
std::vector<WaitingWork> TakeWaitingWorks();

// Forgets the calls of the last capture; groups and their threads stay known.
void ForgetCalls();

// What slt_group and slt_unknown_group_hook do.
void NameGroup(uint64_t address, std::string_view name, std::string_view ranks);
void SetUnknownGroupHook(void (*hook)(uint64_t address));

}  // namespace steplens::torch_adapter

#endif
