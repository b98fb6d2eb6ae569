#pragma once

#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// Whether pages that few captures have data for would show something of a rank. Cheap: by the names
// that the pages look for, before anything is computed.
//
// Forward and backward passes: arrows between them, or marks that name them.
bool HasPasses(const store::TraceStore& store);
// Pipeline parallelism: a group of stages in the metadata, or sends and receives between two ranks.
bool HasPipeline(const store::TraceStore& store);
// Tasks of a reinforcement learning loop, by the names of the frameworks we know.
bool HasRlTasks(const store::TraceStore& store);

}  // namespace steplens::analysis::viewer
