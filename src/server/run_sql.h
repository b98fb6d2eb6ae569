#pragma once

#include "server/query_threads.h"
#include "server/workspace.h"

namespace steplens::server {

// One SELECT over a data set that is ready, on one of its connections. It is an error if none is
// free in time; what the query itself comes to is in the answer.
Result<QueryThreads::Answer> RunSql(OpenDataset& open, const store::Job& job,
                                    QueryThreads::Question question);

}  // namespace steplens::server
