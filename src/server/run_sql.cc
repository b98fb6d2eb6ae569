#include "server/run_sql.h"

namespace steplens::server {

Result<QueryThreads::Answer> RunSql(DatasetCache& cache, const store::Job& job,
                                    QueryThreads::Question question) {
  SL_ASSIGN_OR_RETURN(std::unique_ptr<query::Database> database,
                      cache.TakeDatabase(job, question.timeout));
  return cache.queries().Run(std::move(database), std::move(question),
                             [&cache](auto used) { cache.GiveBack(std::move(used)); });
}

}  // namespace steplens::server
