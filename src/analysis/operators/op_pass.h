#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/classify/text_memo.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The pass of training that an operator ran in, as far as the capture says.
enum class OpPass : uint8_t {
  kUnknown,     // autograd had no part in it, or the capture does not say
  kForward,     // autograd recorded it, or an operator around it
  kBackward,    // run by the autograd engine
  kRecomputed,  // a forward operator run again inside a backward one: activation checkpointing
};
std::string_view PassName(OpPass pass);  // "", "forward", "backward", "recomputed"

// Judges operators, outer ones first. Autograd numbers what it records: a forward operator has the
// sequence number of its backward operator. Inside the engine it records nothing, unless something
// is computed again to be differentiated. (Gradients of gradients, create_graph, look the same.)
class PassRules {
 public:
  explicit PassRules(const store::TraceStore& store);  // the store must outlive this

  // `detail` is the operator's row of host_ops; kNoId if it has none.
  OpPass OfOutermost(store::SliceId op, uint32_t detail);
  OpPass OfInner(store::SliceId op, uint32_t detail, store::SliceId parent, OpPass parent_pass);

 private:
  bool IsOfEngine(store::SliceId op, uint32_t detail);
  bool IsRecorded(uint32_t detail) const;
  StringId NameOf(store::SliceId op) const { return store_.slices.name[static_cast<size_t>(op)]; }

  using Memo = TextMemo<bool (*)(std::string_view)>;
  const store::TraceStore& store_;
  Memo is_engine_;
  Memo is_checkpoint_;
};

}  // namespace steplens::analysis
