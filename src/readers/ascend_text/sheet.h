#pragma once

#include <string>

#include "base/status.h"
#include "readers/ascend_text/text_input.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// A csv file as it is: a new sheet `name` with all its columns. One whose cells are numbers, or not
// known (empty, 'N/A'), becomes a column of numbers, in which single texts are counted as issues
// and not known; a column of at least as many texts as numbers is one of texts.
Status ReadSheet(const TextInput& input, const std::string& name, const ReadOptions& options,
                 store::TraceStore& out);

}  // namespace steplens::readers
