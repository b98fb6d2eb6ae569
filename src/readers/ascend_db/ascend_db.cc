#include "readers/ascend_db/ascend_db.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "readers/ascend_db/analysis_db.h"
#include "readers/ascend_db/communication.h"
#include "readers/ascend_db/counters.h"
#include "readers/ascend_db/db_context.h"
#include "readers/ascend_db/device_tasks.h"
#include "readers/ascend_db/flows.h"
#include "readers/ascend_db/host_slices.h"
#include "readers/ascend_db/kernels.h"
#include "readers/ascend_db/memory.h"
#include "readers/ascend_db/meta.h"
#include "readers/ascend_db/sqlite_file.h"
#include "readers/ascend_db/task_slices.h"
#include "readers/nsys/nsys.h"

namespace steplens::readers {
namespace {

constexpr std::string_view kProfilerTables[] = {
    "STRING_IDS", "TASK", "PYTORCH_API", "CANN_API", "META_DATA", "MEMORY_RECORD", "MSTX_EVENTS"};
constexpr std::string_view kAnalysisTables[] = {"StepTraceTime", "CommAnalyzerTime",
                                                "CommAnalyzerBandwidth", "CommAnalyzerMatrix"};
constexpr std::string_view kClusterTables[] = {"ClusterStepTraceTime", "ClusterCommunicationTime",
                                               "ClusterBaseInfo", "ClusterCommunicationMatrix",
                                               "CommunicationGroupMapping"};

bool HasAny(const SqliteFile& file, std::span<const std::string_view> tables) {
  return std::any_of(tables.begin(), tables.end(),
                     [&](std::string_view table) { return file.HasTable(table); });
}

// Opens a file for one of the readers: it must have one of the reader's tables.
Result<SqliteFile> OpenFor(const std::string& path, std::span<const std::string_view> tables,
                           store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(SqliteFile file, SqliteFile::Open(path));
  if (!HasAny(file, tables)) {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("{}: none of the expected tables ({}, ...) is there; found {} tables: {}",
                    file.name(), tables[0], file.tables().size(),
                    fmt::format("{}", fmt::join(file.tables(), ", ")).substr(0, 200))};
  }
  if (!file.unmerged_log().empty()) {
    out.issues.Add(
        store::IssueKind::kDbTableUnreadable,
        fmt::format(
            "{}: rows that are still in {} are not visible; open and close the database with the "
            "program that wrote it to merge them",
            file.name(), file.unmerged_log()));
  }
  return file;
}

// Tells the bar about a database in equal parts, since tables do not say how many bytes they have.
class PartProgress {
 public:
  PartProgress(const ReadOptions& options, uint64_t size_bytes, uint64_t parts)
      : progress_(options.progress), part_bytes_(size_bytes / parts) {}
  void Done() {
    if (progress_ != nullptr) progress_->Add(part_bytes_);
  }

 private:
  Progress* progress_;
  uint64_t part_bytes_;
};

Status ReadTimeline(DbContext& db, PartProgress& progress) {
  SL_ASSIGN_OR_RETURN(const HostSlices host, ReadHostSlices(db));
  progress.Done();
  SL_ASSIGN_OR_RETURN(DeviceTasks tasks, ReadTasks(db));
  SL_ASSIGN_OR_RETURN(Collectives collectives, ReadCommunication(db, tasks));
  SL_ASSIGN_OR_RETURN(const KernelInfos infos, ReadKernelInfos(db));
  std::vector<LaunchTarget> targets = AppendTaskSlices(db, tasks, infos, host);
  targets.insert(targets.end(), collectives.targets.begin(), collectives.targets.end());
  SL_RETURN_IF_ERROR(ReadFlows(db, host, std::move(targets)));
  progress.Done();
  SL_RETURN_IF_ERROR(ReadKernels(db, tasks, infos, collectives.kernels));
  progress.Done();
  return {};
}

}  // namespace

Status ReadProfilerDb(const std::string& path, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(SqliteFile file, OpenFor(path, kProfilerTables, out));
  PartProgress progress(options, file.size_bytes(), 5);
  DbContext db(file, out);
  if (!options.wanted.timeline && !options.wanted.others) return ReadMeta(db);
  SL_RETURN_IF_ERROR(PrepareContext(db));
  SL_RETURN_IF_ERROR(ReadMeta(db));
  if (options.wanted.timeline) SL_RETURN_IF_ERROR(ReadTimeline(db, progress));
  if (options.wanted.others) SL_RETURN_IF_ERROR(ReadMemory(db));
  progress.Done();
  if (options.wanted.timeline) SL_RETURN_IF_ERROR(ReadCounters(db));
  progress.Done();
  return {};
}

Status ReadAnalysisDb(const std::string& path, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(SqliteFile file, OpenFor(path, kAnalysisTables, out));
  PartProgress progress(options, file.size_bytes(), 1);
  DbContext db(file, out);
  SL_RETURN_IF_ERROR(ReadAnalysisTables(db, options.wanted.communication));
  progress.Done();
  return {};
}

std::optional<int64_t> RankInDb(const std::string& path) {
  Result<SqliteFile> file = SqliteFile::Open(path);
  if (!file.ok()) return std::nullopt;
  store::TraceStore out;
  out.info.rank = store::kNone;
  DbContext db(*file, out);
  if (!ReadRankAndDevice(db).ok() || out.info.rank == store::kNone) return std::nullopt;
  return out.info.rank;
}

bool LooksLikeSqlite(const std::string& path) {
  using namespace std::string_view_literals;
  constexpr std::string_view kMagic = "SQLite format 3\0"sv;
  const auto head = ReadFileRange(path, 0, kMagic.size());
  return head.ok() && *head == kMagic;
}

Result<DbKind> ClassifyDb(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const SqliteFile file, SqliteFile::Open(path));
  if (HasAny(file, kClusterTables)) return DbKind::kCluster;
  if (HasAny(file, kProfilerTables)) return DbKind::kProfiler;
  if (HasAny(file, kAnalysisTables)) return DbKind::kAnalysis;
  if (HasAny(file, kNsysTables)) return DbKind::kNsys;
  return DbKind::kOther;
}

}  // namespace steplens::readers
