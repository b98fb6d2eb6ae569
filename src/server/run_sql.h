#pragma once

#include "server/dataset_cache.h"
#include "server/query_threads.h"

namespace steplens::server {

// One SELECT over a job that is read, on one of the connections of its cache. It is an error if
// none is free in time; what the query itself comes to is in the answer.
Result<QueryThreads::Answer> RunSql(DatasetCache& cache, const store::Job& job,
                                    QueryThreads::Question question);

}  // namespace steplens::server
