#include "readers/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/json.h"
#include "format/framework.h"
#include "readers/ascend_db/ascend_db.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/file_names.h"
#include "readers/framework/framework.h"
#include "readers/sniff.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOutputName = "ASCEND_PROFILER_OUTPUT";
constexpr std::string_view kMsprofOutputName = "mindstudio_profiler_output";
constexpr std::string_view kClusterOutputName = "cluster_analysis_output";

// The files and folders directly below a folder, sorted by name so that results never depend on the
// file system.
struct Listing {
  std::vector<std::string> files;
  std::vector<std::string> folders;
  bool HasFolder(std::string_view name) const {
    return std::find(folders.begin(), folders.end(), name) != folders.end();
  }
};

std::string Join(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / fs::path(name)).string();
}

std::string NameOf(const std::string& path) {
  fs::path trimmed(path);
  if (!trimmed.has_filename()) trimmed = trimmed.parent_path();
  return trimmed.filename().string();
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

Result<Listing> List(const std::string& folder) {
  Listing out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    (it->is_directory(ignored) ? out.folders : out.files).push_back(it->path().filename().string());
  }
  if (error)
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot list the folder: {}", folder, error.message())};
  std::sort(out.files.begin(), out.files.end());
  std::sort(out.folders.begin(), out.folders.end());
  return out;
}

bool IsTraceName(std::string_view name) {
  return name == "trace_view.json" || (name.starts_with("msprof_") && name.ends_with(".json"));
}

// Reading order inside a rank: the trace first, since it is the largest and the others are appended
// to it.
void SortFiles(RankSource& rank) {
  std::stable_sort(rank.files.begin(), rank.files.end(),
                   [](const SourceFile& a, const SourceFile& b) { return a.role < b.role; });
}

class Detector {
 public:
  // `wants_raw`: only raw captures, whether they have been analysed or not.
  Detector(Detected& out, bool wants_raw) : out_(out), wants_raw_(wants_raw) {}

  Status AddPath(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      return Error{ErrorCode::kNotFound, fmt::format("{}: no such file or folder", path)};
    }
    if (error)
      return Error{ErrorCode::kIo, fmt::format("{}: cannot look at it: {}", path, error.message())};
    if (fs::is_directory(status)) return Walk(path, /*is_root=*/true);
    return AddFile(path, /*is_root=*/true);
  }

 private:
  Status Walk(const std::string& folder, bool is_root) {
    std::error_code error;
    if (!visited_.insert(fs::canonical(folder, error).string()).second)
      return {};  // a link back up
    Result<Listing> listing = List(folder);
    if (!listing.ok()) {
      if (is_root) return std::move(listing).error();
      Ignore(folder, listing.error().message);
      return {};
    }
    const std::string name = NameOf(folder);
    if (name == kClusterOutputName && !is_root) {
      Ignore(folder, "results of the cluster command");
      return {};
    }
    if (wants_raw_) return WalkRaw(folder, *listing);
    if (listing->HasFolder(kOutputName) && !IsUnfinished(folder, *listing))
      return AddAscendRank(folder, Join(folder, kOutputName), *listing);
    if (listing->HasFolder(format::kFrameworkFolder)) return AddRawRank(folder, *listing);
    if (listing->HasFolder(kMsprofOutputName)) return AddMsprofRank(folder, *listing);
    if (name == kOutputName || name == kMsprofOutputName || HasResults(*listing)) {
      return AddOutputFolder(folder, *listing);
    }
    if (name == "timeline" && HasTrace(*listing)) return AddOutputFolder(folder, *listing);
    for (const std::string& file : listing->files)
      SL_RETURN_IF_ERROR(AddFile(Join(folder, file), false));
    for (const std::string& sub : listing->folders)
      SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    return {};
  }

  // Raw data beside a result folder that holds no result: an analysis that never ended.
  static bool IsUnfinished(const std::string& folder, const Listing& listing) {
    if (!listing.HasFolder(format::kFrameworkFolder)) return false;
    const Result<Listing> results = List(Join(folder, kOutputName));
    return results.ok() && !HasTrace(*results) &&
           std::none_of(results->files.begin(), results->files.end(), [](const std::string& name) {
             return name.ends_with(".csv") || name.ends_with(".db");
           });
  }

  // Raw captures only, and nothing inside them.
  Status WalkRaw(const std::string& folder, const Listing& listing) {
    const auto is_prof = [](const std::string& name) { return name.starts_with("PROF_"); };
    const auto is_info = [](const std::string& name) {
      return ClassifyTextFile(name) == TextFileKind::kProfilerInfo;
    };
    const bool has_device_data =
        std::any_of(listing.folders.begin(), listing.folders.end(), is_prof) &&
        std::any_of(listing.files.begin(), listing.files.end(), is_info);
    if (listing.HasFolder(format::kFrameworkFolder) || has_device_data) {
      return AddRawRank(folder, listing);
    }
    for (const std::string& sub : listing.folders) {
      if (sub != kOutputName && !sub.starts_with('.'))
        SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    return {};
  }

  static bool HasTrace(const Listing& listing) {
    return std::any_of(listing.files.begin(), listing.files.end(), IsTraceName);
  }
  // Result files of a rank without the usual folder around them.
  static bool HasResults(const Listing& listing) {
    return std::any_of(listing.files.begin(), listing.files.end(), [](const std::string& name) {
      if (name == "trace_view.json" || MiddleOf(name, "ascend_pytorch_profiler", ".db") ||
          MiddleOf(name, "ascend_mindspore_profiler", ".db")) {
        return true;
      }
      const TextFileKind kind = ClassifyTextFile(name);
      return kind == TextFileKind::kKernelDetails || kind == TextFileKind::kStepTrace ||
             kind == TextFileKind::kOperatorDetails;
    });
  }

  // torch_npu and MindSpore: <rank folder>/ASCEND_PROFILER_OUTPUT, with info files beside it.
  Status AddAscendRank(const std::string& folder, const std::string& output,
                       const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = NameOf(folder).ends_with("_ascend_ms") ? "ascend_ms" : "ascend_pt";
    TakeInfoFiles(folder, beside, rank);
    const Result<Listing> files = List(output);
    if (!files.ok()) {
      Ignore(output, files.error().message);
    } else {
      TakeOutputFiles(output, *files, rank);
    }
    for (const std::string& sub : beside.folders) {
      if (sub == kOutputName) continue;
      if (sub.starts_with("PROF_")) {
        const Result<Listing> raw = List(Join(folder, sub));
        if (raw.ok()) TakeDeviceInfo(Join(folder, sub), *raw, rank);
      }
      if (sub.ends_with("_ascend_pt") || sub.ends_with("_ascend_ms")) {
        SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
      } else {
        rank.ignored.push_back(
            {Join(folder, sub), 0, false, "raw data and logs; the results are read instead"});
      }
    }
    return AddRank(std::move(rank));
  }

  // <rank folder>/FRAMEWORK, and the device's part where msprof has exported it.
  Status AddRawRank(const std::string& folder, const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = NameOf(folder).ends_with("_ascend_ms") ? "ascend_ms" : "ascend_pt";
    rank.format = "raw";
    TakeInfoFiles(folder, beside, rank);
    TakeFrameworkFiles(Join(folder, format::kFrameworkFolder), rank);
    for (const std::string& sub : beside.folders) {
      if (sub.starts_with("PROF_")) TakeExportedProf(Join(folder, sub), rank);
      if (sub.ends_with("_ascend_pt") || sub.ends_with("_ascend_ms"))
        SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    const bool has_data =
        std::any_of(rank.files.begin(), rank.files.end(),
                    [](const SourceFile& file) { return file.role != FileRole::kTextFile; });
    if (!has_data) {
      Ignore(folder, rank.ignored.empty() ? "FRAMEWORK is empty: nothing was recorded"
                                          : rank.ignored.front().note);
      return {};
    }
    SortFiles(rank);
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  static void TakeFrameworkFiles(const std::string& folder, RankSource& rank) {
    const Result<Listing> listing = List(folder);
    if (!listing.ok()) return;
    std::set<FrameworkFile> kinds;
    for (const std::string& name : listing->files) {
      const std::string path = Join(folder, name);
      const FrameworkFile kind = ClassifyFrameworkFile(name);
      if (kind == FrameworkFile::kUnknown) {
        rank.ignored.push_back({path, SizeOf(path), false, "not a raw file that steplens reads"});
      } else if (!kinds.insert(kind).second) {
        rank.ignored.push_back({path, SizeOf(path), false, "a second file of its kind"});
      } else {
        rank.files.push_back({FileRole::kFramework, path, SizeOf(path)});
      }
    }
  }

  void TakeExportedProf(const std::string& folder, RankSource& rank) {
    const Result<Listing> beside = List(folder);
    if (!beside.ok()) return Ignore(folder, beside.error().message);
    TakeDeviceInfo(folder, *beside, rank);
    if (!beside->HasFolder(kMsprofOutputName)) {
      rank.ignored.push_back({folder, 0, false, std::string(kDeviceDataNotExported)});
      return;
    }
    for (const std::string_view sub : {kMsprofOutputName, std::string_view("analyze")}) {
      if (!beside->HasFolder(sub)) continue;
      const Result<Listing> files = List(Join(folder, sub));
      if (files.ok()) TakeOutputFiles(Join(folder, sub), *files, rank);
    }
  }

  // msprof: PROF_*/mindstudio_profiler_output, analyze/, msprof_*.db.
  Status AddMsprofRank(const std::string& folder, const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = "msprof";
    TakeDeviceInfo(folder, beside, rank);
    for (const std::string_view sub : {kMsprofOutputName, std::string_view("analyze")}) {
      if (!beside.HasFolder(sub)) continue;
      const Result<Listing> files = List(Join(folder, sub));
      if (files.ok()) TakeOutputFiles(Join(folder, sub), *files, rank);
    }
    TakeOutputFiles(folder, beside, rank);
    for (const std::string& sub : beside.folders) {
      if (sub.starts_with("PROF_")) SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    return AddRank(std::move(rank));
  }

  // A folder of result files given by itself.
  Status AddOutputFolder(const std::string& folder, const Listing& listing) {
    RankSource rank;
    rank.path = folder;
    const std::string name = NameOf(folder);
    const bool is_msprof = name == kMsprofOutputName || name == "timeline";
    rank.source = is_msprof ? "msprof" : "ascend_pt";
    const std::string above = fs::path(folder).parent_path().string();
    if (name == kOutputName && !above.empty()) {
      if (const Result<Listing> beside = List(above); beside.ok())
        TakeInfoFiles(above, *beside, rank);
    }
    TakeInfoFiles(folder, listing, rank);
    TakeOutputFiles(folder, listing, rank);
    SL_RETURN_IF_ERROR(AddRank(std::move(rank)));
    for (const std::string& sub : listing.folders)
      SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    return {};
  }

  // profiler_info_<rank>.json and profiler_metadata.json.
  void TakeInfoFiles(const std::string& folder, const Listing& listing, RankSource& rank) {
    for (const std::string& name : listing.files) {
      const TextFileKind kind = ClassifyTextFile(name);
      if (kind != TextFileKind::kProfilerInfo && kind != TextFileKind::kProfilerMetadata) continue;
      const std::string path = Join(folder, name);
      rank.files.push_back({FileRole::kTextFile, path, SizeOf(path)});
      if (kind != TextFileKind::kProfilerInfo) continue;
      if (const auto digits = MiddleOf(name, "profiler_info_", ".json")) {
        rank.rank = ParseInt64(*digits).value_or(rank.rank);
      }
      const Result<ProfilerInfo> info = ReadProfilerInfo(path);
      if (!info.ok()) continue;
      if (info->rank_id != store::kNone) rank.rank = info->rank_id;
      if (!info->level.empty()) rank.level = info->level;
    }
  }

  // PROF_*/device_<n>/info.json.<n>: the rank, when it is not -1.
  static void TakeDeviceInfo(const std::string& folder, const Listing& listing, RankSource& rank) {
    for (const std::string& name : listing.folders) {
      const auto device = MiddleOf(name, "device_", "");
      if (!device) continue;
      const std::string path = Join(Join(folder, name), fmt::format("info.json.{}", *device));
      const Result<JsonDocument> info = JsonDocument::ReadFile(path);
      if (!info.ok()) continue;
      const auto id = info->root()["rank_id"].AsInt();
      if (id && *id >= 0 && rank.rank == store::kNone) rank.rank = *id;
      rank.files.push_back({FileRole::kTextFile, path, SizeOf(path)});
    }
  }

  void TakeOutputFiles(const std::string& folder, const Listing& listing, RankSource& rank) {
    const bool has_whole_trace =
        std::any_of(listing.files.begin(), listing.files.end(),
                    [](const std::string& n) { return n == "trace_view.json"; });
    for (const std::string& name : listing.files) {
      const std::string path = Join(folder, name);
      const auto add = [&](FileRole role) { rank.files.push_back({role, path, SizeOf(path)}); };
      const auto ignore = [&](std::string reason) {
        rank.ignored.push_back({path, SizeOf(path), false, std::move(reason)});
      };
      const auto pytorch = MiddleOf(name, "ascend_pytorch_profiler", ".db");
      const auto mindspore = MiddleOf(name, "ascend_mindspore_profiler", ".db");
      if (pytorch || mindspore) {
        if (mindspore) rank.source = "ascend_ms";
        const std::string_view suffix = pytorch ? *pytorch : *mindspore;
        if (suffix.starts_with('_') && rank.rank == store::kNone) {
          rank.rank = ParseInt64(suffix.substr(1)).value_or(store::kNone);
        }
        add(FileRole::kProfilerDb);
      } else if (name == "analysis.db" || name == "communication_analyzer.db") {
        add(FileRole::kAnalysisDb);
      } else if (MiddleOf(name, "msprof_", ".db")) {
        add(FileRole::kProfilerDb);
      } else if (IsTraceName(name)) {
        const bool is_copy = has_whole_trace && name != "trace_view.json";
        is_copy ? ignore("trace_view.json has the same events") : add(FileRole::kTrace);
      } else {
        TakeOtherFile(name, path, add, ignore);
      }
    }
  }

  template <typename Add, typename Ignore>
  static void TakeOtherFile(const std::string& name, const std::string& path, Add add,
                            Ignore ignore) {
    switch (ClassifyTextFile(name)) {
      case TextFileKind::kUnknown:
        return ignore(name == "analyse.done" ? "marker" : "not a result file that steplens knows");
      case TextFileKind::kProfilerInfo:
      case TextFileKind::kProfilerMetadata:
      case TextFileKind::kDeviceInfo:
        return;  // taken already
      default:
        break;
    }
    if (SizeOf(path) == 0) return ignore("the file is empty");
    add(FileRole::kTextFile);
  }

  // A file that no known layout explains: by its content, each its own rank.
  Status AddFile(const std::string& path, bool is_root) {
    const std::string name = NameOf(path);
    RankSource rank;
    rank.path = path;
    rank.rank = RankInName(name).value_or(store::kNone);
    const TextFileKind kind = ClassifyTextFile(name);
    const Sniffed sniffed = SniffFile(path);
    if (sniffed.content == Content::kUnreadable && is_root)
      return Error{ErrorCode::kIo, sniffed.reason};
    if (sniffed.content == Content::kSqlite) return AddDatabase(path, std::move(rank), is_root);
    if (sniffed.content == Content::kTrace && kind == TextFileKind::kUnknown) {
      rank.format = "json";
      rank.files.push_back({FileRole::kTrace, path, SizeOf(path)});
      out_.ranks.push_back(std::move(rank));
      return {};
    }
    const bool is_result = kind != TextFileKind::kUnknown && kind != TextFileKind::kSheet;
    if (is_result && is_root && sniffed.content != Content::kEmpty) {
      rank.source = "ascend_pt";
      rank.format = "text";
      rank.files.push_back({FileRole::kTextFile, path, SizeOf(path)});
      out_.ranks.push_back(std::move(rank));
      return {};
    }
    Ignore(path, is_result ? "a result file outside a rank folder" : sniffed.reason);
    return {};
  }

  Status AddDatabase(const std::string& path, RankSource rank, bool is_root) {
    const Result<DbKind> kind = ClassifyDb(path);
    if (!kind.ok()) {
      if (is_root) return kind.error();
      Ignore(path, kind.error().message);
      return {};
    }
    if (*kind == DbKind::kNsys) {
      rank.source = "nsys";
      rank.format = "db";
      rank.files.push_back({FileRole::kNsysDb, path, SizeOf(path)});
      out_.ranks.push_back(std::move(rank));
      return {};
    }
    if (*kind != DbKind::kProfiler && *kind != DbKind::kAnalysis) {
      Ignore(path, *kind == DbKind::kCluster ? "a cluster result, not a rank"
                                             : "a database without profiling tables");
      return {};
    }
    const std::string name = NameOf(path);
    rank.source = name.starts_with("msprof")             ? "msprof"
                  : name.starts_with("ascend_mindspore") ? "ascend_ms"
                                                         : "ascend_pt";
    rank.format = "db";
    if (const auto suffix = MiddleOf(name, "ascend_pytorch_profiler_", ".db")) {
      rank.rank = ParseInt64(*suffix).value_or(rank.rank);
    }
    rank.files.push_back(
        {*kind == DbKind::kProfiler ? FileRole::kProfilerDb : FileRole::kAnalysisDb, path,
         SizeOf(path)});
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  // Decides what is read when a rank has the same facts as text and as db, and files the rest under
  // `ignored`.
  Status AddRank(RankSource rank) {
    const auto has = [&](FileRole role) {
      return std::any_of(rank.files.begin(), rank.files.end(),
                         [&](const SourceFile& f) { return f.role == role; });
    };
    const auto drop = [&](FileRole role, const std::string& reason) {
      std::erase_if(rank.files, [&](const SourceFile& file) {
        if (file.role != role) return false;
        rank.ignored.push_back({file.path, file.size_bytes, false, reason});
        return true;
      });
    };
    const bool has_trace = has(FileRole::kTrace);
    if (has_trace)
      drop(FileRole::kProfilerDb, "the same rank is read from its trace and csv files");
    rank.format = has_trace || !has(FileRole::kProfilerDb) ? "text" : "db";
    const bool any_text =
        std::any_of(rank.files.begin(), rank.files.end(), [](const SourceFile& file) {
          const TextFileKind kind = ClassifyTextFile(NameOf(file.path));
          return file.role == FileRole::kTextFile && kind == TextFileKind::kStepTrace;
        });
    if (any_text)
      drop(FileRole::kAnalysisDb, "the same results are read from the csv and json files");
    if (rank.format == "text" && has(FileRole::kAnalysisDb) && !has_trace && rank.files.size() == 1)
      rank.format = "db";
    if (rank.format == "db") DropTextThatDbHas(rank);
    const bool any_data =
        std::any_of(rank.files.begin(), rank.files.end(), [](const SourceFile& file) {
          const TextFileKind kind = ClassifyTextFile(NameOf(file.path));
          const bool is_info = kind == TextFileKind::kProfilerInfo ||
                               kind == TextFileKind::kProfilerMetadata ||
                               kind == TextFileKind::kDeviceInfo || kind == TextFileKind::kUnknown;
          return file.role != FileRole::kTextFile || !is_info;
        });
    if (!any_data) {
      Ignore(rank.path, "a rank folder without result files (not analysed yet?)");
      return {};
    }
    SortFiles(rank);
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  // csv files beside a profiler db: those whose rows the db holds itself would be counted twice.
  static void DropTextThatDbHas(RankSource& rank) {
    std::erase_if(rank.files, [&](const SourceFile& file) {
      if (file.role != FileRole::kTextFile) return false;
      switch (ClassifyTextFile(NameOf(file.path))) {
        case TextFileKind::kKernelDetails:
        case TextFileKind::kOperatorMemory:
        case TextFileKind::kMemoryRecord:
        case TextFileKind::kModuleMemory:
          rank.ignored.push_back(
              {file.path, file.size_bytes, false, "the database has the same rows"});
          return true;
        default:
          return false;
      }
    });
  }

  void Ignore(const std::string& path, std::string reason) {
    out_.ignored.push_back({path, SizeOf(path), false, std::move(reason)});
  }

  Detected& out_;
  bool wants_raw_;
  std::set<std::string> visited_;
};

Error NothingFound(const std::vector<std::string>& paths, const Detected& detected) {
  std::string message = fmt::format("{}: no profile found", fmt::join(paths, ", "));
  if (!detected.ignored.empty()) {
    message += fmt::format(" ({} files looked at; first: {}: {})", detected.ignored.size(),
                           detected.ignored.front().path, detected.ignored.front().note);
  } else {
    message += " (the folder is empty)";
  }
  message +=
      "; expected a rank folder with ASCEND_PROFILER_OUTPUT or FRAMEWORK, a PROF_* folder with "
      "mindstudio_profiler_output, "
      "a profiler .db, an Nsight Systems .sqlite, or a trace as .json or .json.gz";
  return {ErrorCode::kNotFound, std::move(message)};
}

}  // namespace

Result<Detected> DetectRanks(const std::vector<std::string>& paths) {
  Detected out;
  Detector detector(out, /*wants_raw=*/false);
  for (const std::string& path : paths) SL_RETURN_IF_ERROR(detector.AddPath(path));
  if (out.ranks.empty()) return NothingFound(paths, out);
  return out;
}

Result<Detected> DetectRawRanks(const std::string& path) {
  Detected out;
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("{}: is a file; the folder of a capture, or one above, was expected", path)};
  }
  SL_RETURN_IF_ERROR(Detector(out, /*wants_raw=*/true).AddPath(path));
  if (!out.ranks.empty()) return out;
  std::string message = fmt::format("{}: no raw capture found", path);
  if (!out.ignored.empty()) {
    message += fmt::format(" ({}: {})", out.ignored.front().path, out.ignored.front().note);
  }
  return Error{ErrorCode::kNotFound,
               message +
                   "; expected a folder with FRAMEWORK/, or with profiler_info*.json and "
                   "PROF_*"};
}

}  // namespace steplens::readers
