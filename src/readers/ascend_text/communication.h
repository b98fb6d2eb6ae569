#pragma once

#include "base/status.h"
#include "readers/ascend_text/text_input.h"
#include "store/trace_store.h"

namespace steplens::readers {

// communication.json, {"step50": {"collective": {"<operation>@<group>": {...}}}}, or msprof's form
// without steps and kinds, {"<operation>@<group>": {...}}. 'Total Op Info' is an operation without
// a group.
Status ReadCommunication(const TextInput& input, store::TraceStore& out);

// communication_matrix.json, whose operations hold {"<source rank>-<destination rank>": {...}}.
Status ReadCommunicationMatrix(const TextInput& input, store::TraceStore& out);

}  // namespace steplens::readers
