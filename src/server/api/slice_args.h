#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "readers/slice_args.h"
#include "store/trace_store.h"

namespace steplens::server {

// The args of a slice, read again from its trace: the store does not keep them.
struct SliceArgs {
  enum class State : uint8_t {
    kNone,        // the slice has none, or its source has none
    kRead,        // `json` is their object
    kUnreadable,  // the trace changed, or is gone
  };
  State state = State::kNone;
  std::string json{};
};
SliceArgs ReadArgs(readers::SliceArgsReader& reader, const store::TraceStore& store,
                   uint32_t slice);

// The value of one argument as text; empty if the slice does not have it. What the store knows of
// an operator (shapes, types, sequence number) counts where the trace has no args.
std::string ArgText(readers::SliceArgsReader& reader, const store::TraceStore& store,
                    uint32_t slice, std::string_view name);

}  // namespace steplens::server
