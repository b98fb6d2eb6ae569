#include "readers/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>

#include "base/cancel.h"
#include "base/file.h"
#include "base/file_version.h"
#include "base/json.h"
#include "readers/ascend_db/ascend_db.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/chrome/chrome_trace.h"
#include "readers/detect.h"
#include "readers/folder_listing.h"
#include "readers/framework/framework.h"
#include "readers/nsys/nsys.h"
#include "readers/rank_files.h"
#include "readers/slice_args.h"
#include "store/cache.h"
#include "store/merge.h"
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

store::CacheKey KeyOf(const RankSource& source) {
  std::vector<store::VersionedPath> inputs;
  for (const SourceFile& file : source.files) {
    std::error_code error;
    const std::string path = fs::absolute(file.path, error).lexically_normal().string();
    inputs.push_back({path, FileVersion(file.path)});
  }
  return store::MakeCacheKey(inputs);
}

namespace {

void DescribeFrom(const RankSource& source, TraceStore& out) {
  out.info.path = source.path;
  out.info.files.clear();
  out.info.trace_path.clear();
  for (const SourceFile& file : source.files) {
    out.info.files.push_back({file.path, file.size_bytes, true, ""});
    if (file.role == FileRole::kTrace && out.info.trace_path.empty())
      out.info.trace_path = file.path;
  }
  out.info.files.insert(out.info.files.end(), source.ignored.begin(), source.ignored.end());
}

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
  if (!out.info.source.empty()) return;
  const bool is_ascend = HasProcess(out, "Ascend Hardware") || HasProcess(out, "CANN") ||
                         HasProcess(out, "Overlap Analysis");
  out.info.source = !is_ascend ? "kineto" : HasProcess(out, "Python") ? "ascend_pt" : "msprof";
  if (is_ascend) out.info.format = "text";
}

// Kineto: {"distributedInfo": {"rank": 0, ...}}.
void TakeRankFromTrace(TraceStore& out) {
  const auto text = out.FindMeta("distributedInfo");
  if (!text) return;
  const Result<JsonDocument> info = JsonDocument::Parse(*text, "distributedInfo");
  if (!info.ok()) return;
  if (const auto rank = info->root()["rank"].AsInt(); rank && *rank >= 0) out.info.rank = *rank;
}

// Slices of a second trace file of a rank (msprof slices) say which file their args are in.
void NameArgsFile(TraceStore& part, size_t file) {
  for (size_t i = 0; i < part.slices.size(); ++i) {
    const int64_t offset = part.slices.args_offset[i];
    if (offset != kNone) part.slices.args_offset.Set(i, ArgsOffsetInFile(file, offset));
  }
}

struct Part {
  TraceStore store;
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
    return source.files[i].role == role && parts[i].store.kernels.size() > 0;
  };
  bool has_file = false;
  for (size_t i = 0; i < parts.size(); ++i)
    has_file = has_file || has_kernels(FileRole::kTextFile, i);
  if (!has_file) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (has_kernels(FileRole::kTrace, i)) parts[i].store.kernels = {};
  }
}

// Reads the files of a rank side by side and appends them in order. Sets `complete` to whether all
// could be read.
Result<TraceStore> ReadFiles(const RankSource& source, const ReadOptions& options, bool& complete) {
  std::vector<Part> parts(source.files.size());
  // FRAMEWORK's files come first and are read together, with the first of them.
  const auto is_read_already = [&](size_t i) {
    return i > 0 && source.files[i].role == FileRole::kFramework;
  };
  const auto is_trace = [](const SourceFile& file) { return file.role == FileRole::kTrace; };
  const bool in_pieces = std::count_if(source.files.begin(), source.files.end(), is_trace) > 1;
  options.pool->ParallelFor(parts.size(), [&](size_t i) {
    if (is_read_already(i)) return;
    parts[i].store.info.rank = source.rank;
    const auto start = std::chrono::steady_clock::now();
    parts[i].status =
        ReadSource(source.files[i], options, parts[i].store, in_pieces ? &parts[i].loose : nullptr);
    parts[i].has_rows = HasRows(parts[i].store);
    parts[i].read_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  });
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (is_read_already(i)) parts[i].status = parts.front().status;
  }
  if (const Part* damaged = FirstIfAllDamaged(source, parts)) return damaged->status.error();

  KeepKernelsOnce(source, parts);
  TraceStore out = std::move(parts.front().store);
  LooseFlows loose = std::move(parts.front().loose);
  bool first_trace = is_trace(source.files.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    if (is_trace(source.files[i])) {
      if (first_trace) NameArgsFile(parts[i].store, i);
      first_trace = true;
    }
    if (is_read_already(i)) continue;
    AppendLoose(parts[i].loose, store::AppendStore(out, parts[i].store), loose);
    if (out.info.rank == kNone) out.info.rank = parts[i].store.info.rank;
    if (out.info.device == kNone) out.info.device = parts[i].store.info.device;
    parts[i].store = TraceStore();
  }
  CountLoose(PairFlows(loose, out.flows), source.path, out);
  DescribeFrom(source, out);
  complete = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    out.info.files[i].read_ns = parts[i].read_ns;
    if (parts[i].status.ok()) continue;
    complete = false;
    out.info.files[i].used = parts[i].has_rows;
    out.info.files[i].note = parts[i].status.error().message;
    out.issues.Add(IssueKind::kFileUnreadable, parts[i].status.error().message);
  }
  return out;
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

using Complete = std::function<void(TraceStore&)>;

Result<TraceStore> ReadRank(const RankSource& source, const ReadOptions& options, std::string cache,
                            const Complete& complete_rank, SaveRank* save_later = nullptr) {
  const store::CacheKey key = KeyOf(source);
  if (!complete_rank) cache.clear();
  if (!cache.empty()) {
    Result<TraceStore> cached = store::ReadCache(cache, key, *options.pool);
    if (cached.ok()) {
      DescribeFrom(source, *cached);
      return cached;
    }
  }
  bool complete = false;
  SL_ASSIGN_OR_RETURN(TraceStore out, ReadFiles(source, options, complete));
  NameSource(source, out);
  if (out.info.source == "kineto") TakeRankFromTrace(out);
  CountOddStepValues(out);
  if (complete_rank) complete_rank(out);
  if (cache.empty() || !complete) return out;
  SaveRank save = [cache = std::move(cache), key](const TraceStore& rank) {
    // A cache that cannot be written costs time at the next open, nothing else.
    [[maybe_unused]] const Status written = store::WriteCache(cache, key, rank);
  };
  save_later != nullptr ? void(*save_later = std::move(save)) : save(out);
  return out;
}

// Gives every rank a number of its own, then orders by it.
void NumberRanks(std::vector<TraceStore>& ranks) {
  std::set<int64_t> taken;
  std::vector<TraceStore*> waiting;
  for (TraceStore& rank : ranks) {
    if (rank.info.rank == kNone || rank.info.rank < 0) {
      rank.issues.Add(IssueKind::kRankUnknown, rank.info.path);
      waiting.push_back(&rank);
    } else if (!taken.insert(rank.info.rank).second) {
      rank.issues.Add(IssueKind::kDuplicateRank,
                      fmt::format("{}: rank {}", rank.info.path, rank.info.rank));
      waiting.push_back(&rank);
    }
  }
  int64_t next = 0;
  for (TraceStore* rank : waiting) {
    while (!taken.insert(next).second) ++next;
    rank->info.rank = next;
  }
  std::stable_sort(ranks.begin(), ranks.end(), [](const TraceStore& a, const TraceStore& b) {
    return a.info.rank < b.info.rank;
  });
}

uint64_t TotalBytes(const Detected& detected) {
  uint64_t total = 0;
  for (const RankSource& rank : detected.ranks) {
    for (const SourceFile& file : rank.files) total += file.size_bytes;
  }
  return total;
}

Error NoRankReadable(const Error& first, size_t ranks) {
  if (ranks == 1) return first;
  return {first.code,
          fmt::format("none of {} ranks could be read; first: {}", ranks, first.message)};
}

}  // namespace

Result<TraceStore> OpenRank(const RankSource& source, ThreadPool& pool,
                            const OpenOptions& options) {
  ReadOptions read_options;
  read_options.pool = &pool;
  read_options.chunk_bytes = options.chunk_bytes;
  read_options.wanted = options.wanted;
  // The cache holds whole ranks; a part is read faster than it is written there.
  const bool use_cache = options.use_cache && options.wanted.IsAll();
  return ReadRank(source, read_options, use_cache ? store::CacheDirectory() : "", options.complete,
                  options.save_later);
}

Result<store::Job> OpenJob(const std::vector<std::string>& paths, const OpenOptions& options) {
  SL_ASSIGN_OR_RETURN(Detected detected, DetectRanks(paths));
  ThreadPool pool(options.threads);
  std::optional<Progress> progress;
  if (options.show_progress) progress.emplace("reading", TotalBytes(detected));
  ReadOptions read_options;
  read_options.pool = &pool;
  read_options.progress = progress ? &*progress : nullptr;
  read_options.chunk_bytes = options.chunk_bytes;
  const std::string cache = options.use_cache ? store::CacheDirectory() : "";

  std::vector<std::optional<Result<TraceStore>>> results(detected.ranks.size());
  pool.ParallelFor(results.size(), [&](size_t i) {
    results[i] = ReadRank(detected.ranks[i], read_options, cache, options.complete);
  });
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};

  store::Job job;
  job.ignored = std::move(detected.ignored);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]->ok()) {
      job.ranks.push_back(std::move(**results[i]));
    } else {
      job.ignored.push_back({detected.ranks[i].path, 0, false, results[i]->error().message, true});
    }
  }
  if (job.ranks.empty()) return NoRankReadable(results.front()->error(), results.size());
  NumberRanks(job.ranks);
  return job;
}

Result<std::string> ReadSliceArgs(const TraceStore& store, store::SliceId slice) {
  return SliceArgsReader().Read(store, slice);
}

}  // namespace steplens::readers
