#pragma once

#include "analysis/selection.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// kNotFound, with what there is, for a rank or a step that the job does not have.
Status CheckSelection(const store::Job& job, const Selection& selection);

}  // namespace steplens::analysis
