#include "open/open.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "analysis/complete/complete.h"
#include "analysis/cpu_device/complete.h"
#include "base/absolute_path.h"
#include "base/cancel.h"
#include "base/file_version.h"
#include "base/progress.h"
#include "base/readability.h"
#include "readers/read_rank.h"

namespace steplens::opening {
namespace {

using readers::ReadOptions;
using store::IssueKind;
using store::TraceStore;

// The number is the job's affair, not the files': a cached rank may have had another one.
void Number(const Capture& capture, TraceStore& rank) {
  rank.info.rank = capture.rank;
  rank.issues.Forget(IssueKind::kRankUnknown);
  rank.issues.Forget(IssueKind::kDuplicateRank);
  const std::string& path = capture.source.path;
  if (capture.number_from == NumberFrom::kFree) {
    rank.issues.Add(IssueKind::kRankUnknown, path);
  } else if (capture.number_from == NumberFrom::kRepeated) {
    rank.issues.Add(IssueKind::kDuplicateRank,
                    fmt::format("{}: rank {}", path, capture.source.rank));
  }
}

// `cache` may be null.
Result<TraceStore> ReadAndComplete(const Capture& capture, const ReadOptions& options,
                                   store::StoreCache* cache, SaveRank* save_later = nullptr) {
  const readers::RankSource& source = capture.source;
  const bool use_cache = cache != nullptr && cache->has_directory();
  const store::CacheKey key = use_cache ? KeyOf(source) : store::CacheKey{};
  if (use_cache) {
    Result<TraceStore> cached = cache->Read(key, *options.pool);
    if (cached.ok()) {
      readers::DescribeFiles(source, *cached);
      Number(capture, *cached);
      return cached;
    }
  }
  for (const readers::SourceFile& file : source.files) NoteInput(file.path);
  SL_ASSIGN_OR_RETURN(readers::RankRead read, readers::ReadRank(source, options));
  TraceStore& out = read.store;
  analysis::CompleteCapture(out);
  Number(capture, out);
  if (!use_cache || !read.is_whole) return std::move(out);
  SaveRank save = [cache, key](const TraceStore& rank) {
    // A cache that cannot be written costs time at the next open, nothing else.
    [[maybe_unused]] const Status written = cache->Write(key, rank);
  };
  save_later != nullptr ? void(*save_later = std::move(save)) : save(out);
  return std::move(out);
}

uint64_t TotalBytes(const Captures& captures) {
  uint64_t total = 0;
  for (const Capture& capture : captures.ranks) {
    for (const readers::SourceFile& file : capture.source.files) total += file.size_bytes;
  }
  return total;
}

Error NoRankReadable(const Error& first, size_t ranks) {
  if (ranks == 1) return first;
  return {first.code,
          fmt::format("none of {} ranks could be read; first: {}", ranks, first.message)};
}

}  // namespace

store::CacheKey KeyOf(const readers::RankSource& source) {
  std::vector<store::VersionedPath> inputs;
  std::string_view folder;  // of the file before; most are in one
  std::string absolute;     // the same, with a slash at its end
  for (const readers::SourceFile& file : source.files) {
    const size_t name_at = file.path.rfind('/') + 1;  // 0 if there is no slash
    const std::string_view its_folder(file.path.data(), name_at);
    if (inputs.empty() || its_folder != folder) {
      folder = its_folder;
      absolute = AbsolutePath(folder.empty() ? "." : std::string(folder));
    }
    inputs.push_back({absolute + file.path.substr(name_at), FileVersion(file.path)});
  }
  return store::MakeCacheKey(inputs);
}

Result<Captures> FindCaptures(const std::vector<std::string>& paths, const RankNumbers& given) {
  SL_ASSIGN_OR_RETURN(readers::Detected detected, readers::DetectRanks(paths));
  Captures captures = NumberCaptures(std::move(detected.ranks), given);
  captures.ignored.insert(captures.ignored.begin(),
                          std::make_move_iterator(detected.ignored.begin()),
                          std::make_move_iterator(detected.ignored.end()));
  return captures;
}

Result<TraceStore> OpenRank(const Capture& capture, ThreadPool& pool, const OpenOptions& options) {
  ReadOptions read_options;
  read_options.pool = &pool;
  read_options.chunk_bytes = options.chunk_bytes;
  read_options.wanted = options.wanted;
  // The cache holds whole ranks; a part is read faster than it is written there.
  return ReadAndComplete(capture, read_options, options.wanted.IsAll() ? options.cache : nullptr,
                         options.save_later);
}

Result<TraceStore> OpenRaw(const readers::RankSource& source, ThreadPool& pool, RawUse use) {
  ReadOptions options;
  options.pool = &pool;
  options.wanted.tensors = use == RawUse::kMemoryTimeline;
  options.wanted.args = use != RawUse::kResults;
  for (const readers::SourceFile& file : source.files) NoteInput(file.path);
  SL_ASSIGN_OR_RETURN(readers::RankRead read, readers::ReadRank(source, options));
  use == RawUse::kResults ? analysis::CompleteForExport(read.store)
                          : analysis::CompleteRawCapture(read.store);
  return std::move(read.store);
}

Result<store::Job> OpenJob(const std::vector<std::string>& paths, const OpenOptions& options) {
  SL_ASSIGN_OR_RETURN(Captures captures, FindCaptures(paths));
  if (options.only_rank) {
    std::erase_if(captures.ranks,
                  [&](const Capture& capture) { return capture.rank != *options.only_rank; });
    if (captures.ranks.empty())
      return Error{ErrorCode::kNotFound, fmt::format("there is no rank {}", *options.only_rank)};
  }
  ThreadPool pool(options.threads);
  std::optional<Progress> progress;
  if (options.show_progress) progress.emplace("reading", TotalBytes(captures));
  ReadOptions read_options;
  read_options.pool = &pool;
  read_options.progress = progress ? &*progress : nullptr;
  read_options.chunk_bytes = options.chunk_bytes;
  store::StoreCache cache(options.use_cache ? store::CacheDirectory() : "");

  std::vector<std::optional<Result<TraceStore>>> results(captures.ranks.size());
  pool.ParallelFor(results.size(), [&](size_t i) {
    results[i] = ReadAndComplete(captures.ranks[i], read_options, &cache);
  });
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};

  store::Job job;
  job.ignored = std::move(captures.ignored);
  job.notes = std::move(captures.notes);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]->ok()) {
      job.ranks.push_back(std::move(**results[i]));
    } else {
      job.ignored.push_back(
          {captures.ranks[i].source.path, 0, false, results[i]->error().message, true});
    }
  }
  if (job.ranks.empty()) return NoRankReadable(results.front()->error(), results.size());
  return job;
}

}  // namespace steplens::opening
