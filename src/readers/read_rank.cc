#include "readers/read_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/cancel.h"
#include "base/file.h"
#include "readers/ascend_db/ascend_db.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/chrome/chrome_trace.h"
#include "readers/folder_listing.h"
#include "readers/framework/framework.h"
#include "readers/nsys/nsys.h"
#include "readers/prof/prof.h"
#include "readers/prof/prof_files.h"
#include "readers/prof/write_host.h"
#include "readers/rank_files.h"
#include "readers/slice_args.h"
#include "store/merge.h"
#include "store/sound.h"
#include "store/step_values.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;
using store::IssueKind;
using store::kNone;
using store::TraceStore;

// Whether a file holds anything the caller wants.
bool IsWanted(const SourceFile& file, const Wanted& wanted) {
  if (file.role == FileRole::kTrace) return wanted.timeline;
  if (file.role != FileRole::kTextFile) return true;  // the reader chooses tables
  switch (ClassifyTextFile(NameOf(file.path))) {
    case TextFileKind::kKernelDetails:
      return wanted.timeline;
    case TextFileKind::kCommunication:
    case TextFileKind::kCommunicationMatrix:
      return wanted.communication;
    case TextFileKind::kStepTrace:
    case TextFileKind::kProfilerInfo:
    case TextFileKind::kProfilerMetadata:
    case TextFileKind::kDeviceInfo:
      return true;
    default:
      return wanted.others;
  }
}

// `loose` is null if the rank has no other trace to find the partners of flows in.
Status ReadSource(const SourceFile& file, const ReadOptions& options, TraceStore& out,
                  LooseFlows* loose) {
  if (!IsWanted(file, options.wanted)) return {};
  switch (file.role) {
    case FileRole::kFramework:
      return ReadFramework(fs::path(file.path).parent_path().parent_path().string(), options, out);
    case FileRole::kProf:
      return ReadProf(prof::ProfFolderOf(file.path), options, out);
    case FileRole::kTrace:
      return ReadChromeTrace(file.path, options, out, loose);
    case FileRole::kProfilerDb:
      return ReadProfilerDb(file.path, options, out);
    case FileRole::kAnalysisDb:
      return ReadAnalysisDb(file.path, options, out);
    case FileRole::kNsysDb:
      return ReadNsysDb(file.path, options, out);
    case FileRole::kTextFile: {
      const TextFileKind kind = ClassifyTextFile(NameOf(file.path));
      if (kind == TextFileKind::kUnknown) return {};  // used by detection only
      const Status status = ReadTextFile(kind, file.path, options, out);
      if (options.progress != nullptr) options.progress->Add(file.size_bytes);
      return status;
    }
  }
  return {};
}

}  // namespace

void DescribeFiles(const RankSource& source, TraceStore& out) {
  out.info.path = source.path;
  out.info.has_device_folder = source.has_device_folder;
  out.info.files.clear();
  out.info.trace_path.clear();
  for (const SourceFile& file : source.files) {
    out.info.files.push_back({file.path, file.size_bytes, true, ""});
    if (file.role == FileRole::kTrace && out.info.trace_path.empty())
      out.info.trace_path = file.path;
  }
  out.info.files.insert(out.info.files.end(), source.ignored.begin(), source.ignored.end());
}

namespace {

bool HasProcess(const TraceStore& store, std::string_view name) {
  const auto id = store.strings.Find(name);
  if (!id) return false;
  for (size_t i = 0; i < store.tracks.size(); ++i) {
    if (store.tracks.name[i] == *id && store.tracks.parent[i] == store::kNoTrack) return true;
  }
  return false;
}

// A lone trace tells by its processes where it comes from.
void NameSource(const RankSource& source, TraceStore& out) {
  out.info.source = source.source;
  out.info.format = source.format;
  out.info.level = source.level;
  if (out.info.source != store::Source::kUnknown) return;
  const bool is_ascend = HasProcess(out, "Ascend Hardware") || HasProcess(out, "CANN") ||
                         HasProcess(out, "Overlap Analysis");
  out.info.source = !is_ascend                  ? store::Source::kKineto
                    : HasProcess(out, "Python") ? store::Source::kAscendPt
                                                : store::Source::kMsprof;
  if (is_ascend) out.info.format = store::Format::kText;
}

// Slices of a second trace file of a rank (msprof slices) say which file their args are in.
void NameArgsFile(TraceStore& part, size_t file) {
  for (size_t i = 0; i < part.slices.size(); ++i) {
    const int64_t offset = part.slices.args_offset[i];
    if (offset != kNone) part.slices.args_offset.Set(i, ArgsOffsetInFile(file, offset));
  }
}

// Files that are read together with another one have no store.
struct Part {
  std::unique_ptr<TraceStore> store;
  Status status;
  bool has_rows = false;  // read before the file failed, if it did
  int64_t read_ns = 0;
  LooseFlows loose;  // to be joined with those of the other parts
};

bool HasRows(const TraceStore& store) {
  size_t rows = 0;
  store.ForEachTable([&](const auto& table) { rows += table.size(); });
  return rows > 0;
}

// The first file with data, if none of those with data could be read; else null. Files that say who
// the rank is are no data.
const Part* FirstIfAllDamaged(const RankSource& source, const std::vector<Part>& parts) {
  const Part* first = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!HoldsData(source.files[i])) continue;
    if (parts[i].status.ok() || parts[i].has_rows) return nullptr;
    if (first == nullptr) first = &parts[i];
  }
  return first;
}

// Text made of a GPU trace has its kernels in kernel_details.csv, too, and that file counts.
void KeepKernelsOnce(const RankSource& source, std::vector<Part>& parts) {
  const auto has_kernels = [&](FileRole role, size_t i) {
    return source.files[i].role == role && parts[i].store != nullptr &&
           parts[i].store->kernels.size() > 0;
  };
  bool has_file = false;
  for (size_t i = 0; i < parts.size(); ++i)
    has_file = has_file || has_kernels(FileRole::kTextFile, i);
  if (!has_file) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (has_kernels(FileRole::kTrace, i)) parts[i].store->kernels = {};
  }
}

// Every PROF_* folder numbers its connections from 1 on. Adds `by` to those of a part; those of
// marks are ids of their own and stay. Returns the largest one then, at least `by`.
int64_t MoveConnections(TraceStore& part, int64_t by) {
  int64_t largest = by;
  for (auto* connections : {&part.slices.correlation, &part.kernels.correlation,
                            &part.comm_ops.correlation, &part.device_tasks.correlation}) {
    for (size_t i = 0; i < connections->size(); ++i) {
      const int64_t connection = (*connections)[i];
      if (connection == kNone || connection >= prof::kPlainMark) continue;
      largest = std::max(largest, connection + by);
      if (by != 0) connections->Set(i, connection + by);
    }
  }
  return largest;
}

// Raw device data in the capture of a framework, which may have several PROF_* folders, and whose
// own allocations are told from those of the graph engine by having an address.
void PrepareProfs(const RankSource& source, std::vector<Part>& parts) {
  if (source.source == store::Source::kMsprof) return;
  int64_t connections = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (source.files[i].role != FileRole::kProf || parts[i].store == nullptr) continue;
    connections = MoveConnections(*parts[i].store, connections);
    store::AllocationTable& blocks = parts[i].store->allocations;
    blocks.address = {};
    blocks.address.AppendUnknown(blocks.size());
  }
}

// Reads the files side by side and appends them in order.
Result<RankRead> ReadFiles(const RankSource& source, const ReadOptions& options) {
  std::vector<Part> parts(source.files.size());
  // FRAMEWORK's files come first and are read together, with the first of them; so are those of a
  // PROF_* folder.
  const auto is_read_already = [&](size_t i) {
    if (i == 0 || source.files[i].role != source.files[i - 1].role) return false;
    if (source.files[i].role == FileRole::kFramework) return true;
    return source.files[i].role == FileRole::kProf &&
           prof::ProfFolderOf(source.files[i].path) == prof::ProfFolderOf(source.files[i - 1].path);
  };
  const auto is_trace = [](const SourceFile& file) { return file.role == FileRole::kTrace; };
  const bool in_pieces = std::count_if(source.files.begin(), source.files.end(), is_trace) > 1;
  options.pool->ParallelFor(parts.size(), [&](size_t i) {
    if (is_read_already(i)) return;
    parts[i].store = std::make_unique<TraceStore>();
    parts[i].store->info.rank = source.rank;
    const auto start = std::chrono::steady_clock::now();
    parts[i].status = ReadSource(source.files[i], options, *parts[i].store,
                                 in_pieces ? &parts[i].loose : nullptr);
    parts[i].has_rows = HasRows(*parts[i].store);
    parts[i].read_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  });
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!is_read_already(i)) continue;
    parts[i].status = parts[i - 1].status;
    parts[i].has_rows = parts[i - 1].has_rows;
  }
  if (const Part* damaged = FirstIfAllDamaged(source, parts)) return damaged->status.error();

  KeepKernelsOnce(source, parts);
  PrepareProfs(source, parts);
  RankRead rank{std::move(*parts.front().store)};
  TraceStore& out = rank.store;
  LooseFlows loose = std::move(parts.front().loose);
  bool first_trace = is_trace(source.files.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    if (is_trace(source.files[i])) {
      if (first_trace) NameArgsFile(*parts[i].store, i);
      first_trace = true;
    }
    if (is_read_already(i)) continue;
    AppendLoose(parts[i].loose, store::AppendStore(out, *parts[i].store), loose);
    if (out.info.device == kNone) out.info.device = parts[i].store->info.device;
    parts[i].store.reset();
  }
  CountLoose(PairFlows(loose, out.flows), source.path, out);
  DescribeFiles(source, out);
  for (size_t i = 0; i < parts.size(); ++i) {
    out.info.files[i].read_ns = parts[i].read_ns;
    if (parts[i].status.ok()) continue;
    rank.is_whole = false;
    out.info.files[i].used = parts[i].has_rows;
    out.info.files[i].note = parts[i].status.error().message;
    out.issues.Add(IssueKind::kFileUnreadable, parts[i].status.error().message);
  }
  return rank;
}

void CountOddStepValues(TraceStore& out) {
  store::ForEachStepValue(out.step_traces, [&](std::string_view name, size_t row, double value_us) {
    if (!store::IsOddStepValue(value_us)) return;
    out.issues.Add(IssueKind::kStepValueInvalid,
                   fmt::format("step_trace_time row {}: {} is {:.15g} us, which no part of a step "
                               "can last",
                               row + 1, name, value_us));
  });
}

}  // namespace

Result<RankRead> ReadRank(const RankSource& source, const ReadOptions& options) {
  SL_ASSIGN_OR_RETURN(RankRead rank, ReadFiles(source, options));
  NameSource(source, rank.store);
  rank.store.info.rank = source.rank;
  CountOddStepValues(rank.store);
  assert(store::FindUnsound(rank.store, *options.pool).empty());
  return rank;
}

}  // namespace steplens::readers
