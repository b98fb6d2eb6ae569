#include <fmt/format.h>

#include <array>

#include "export/db/analysis_tables.h"
#include "export/db/db_context.h"
#include "export/directory.h"
#include "export/export.h"

namespace steplens::exporting {
namespace {

using store::TraceStore;

Status WriteProfilerDb(const TraceStore& store, const ExportOptions& options,
                       const std::string& path) {
  SL_ASSIGN_OR_RETURN(SqliteWriter db, SqliteWriter::Create(path));
  const Timeline timeline(store);
  DbContext ctx(store, timeline, options, db);
  WriteHostTables(ctx);  // first: it makes connections the others refer to
  WriteDeviceTables(ctx);
  WriteMemoryTables(ctx);
  WriteCounterTables(ctx);
  WriteMetaTables(ctx);
  ctx.enums.Write(db, timeline.is_hccl_era);
  {
    TableWriter strings = db.Table("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT");
    ctx.strings.exporter.Write(strings);
    ctx.strings.framework.Write(strings);
    ctx.strings.memory.Write(strings);
  }
  return db.Commit();
}

}  // namespace

Status WriteDb(const TraceStore& store, const ExportOptions& options, const std::string& dir,
               ThreadPool& pool) {
  SL_RETURN_IF_ERROR(MakeDirectory(dir));
  const bool is_mindspore = store::IsMindSpore(store.info.source);
  const std::string rank =
      store.info.rank == store::kNone ? "" : fmt::format("_{}", store.info.rank);
  const std::string profiler =
      fmt::format("{}/ascend_{}_profiler{}.db", dir, is_mindspore ? "mindspore" : "pytorch", rank);
  const std::string analysis =
      fmt::format("{}/{}.db", dir, is_mindspore ? "communication_analyzer" : "analysis");
  // The pool builds its index at the first look-up, which must not be one of several at once.
  static_cast<void>(store.strings.Find({}));
  std::array<Status, 2> results;
  pool.ParallelFor(results.size(), [&](size_t i) {
    results[i] = i == 0 ? WriteAnalysisDb(store, options, analysis)
                        : WriteProfilerDb(store, options, profiler);
  });
  for (Status& result : results) SL_RETURN_IF_ERROR(std::move(result));
  return {};
}

}  // namespace steplens::exporting
