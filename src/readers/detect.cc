#include "readers/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/number.h"
#include "base/roots.h"
#include "format/framework.h"
#include "readers/ascend_db/ascend_db.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/file_names.h"
#include "readers/folder_listing.h"
#include "readers/prof/prof_files.h"
#include "readers/rank_files.h"
#include "readers/rank_in_files.h"
#include "readers/sniff.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOutputName = "ASCEND_PROFILER_OUTPUT";
constexpr std::string_view kMsprofOutputName = "mindstudio_profiler_output";
constexpr std::string_view kClusterOutputName = "cluster_analysis_output";

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
    AddRootUnlessBelow(path);
    if (LeavesRoots(path)) {  // met in a folder before, and a link
      Ignore(path, std::string(kLeavesRoots));
      return {};
    }
    if (fs::is_directory(status)) return Walk(path, /*is_root=*/true);
    return AddFile(path, /*is_root=*/true);
  }

  // The first folder that could not be listed.
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  Status Walk(const std::string& folder, bool is_root) {
    std::error_code error;
    if (!visited_.insert(fs::canonical(folder, error).string()).second)
      return {};  // a link back up
    Result<Listing> listing = List(folder);
    if (!listing.ok()) {
      if (is_root) return std::move(listing).error();
      Refuse(folder, listing.error());
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
    if (listing->HasFolder(format::kFrameworkFolder) || HasRawDeviceData(folder, *listing))
      return AddRawRank(folder, *listing);
    if (listing->HasFolder(kMsprofOutputName)) return AddMsprofRank(folder, *listing);
    if (prof::MayBeProfTree(*listing) && prof::IsProfTree(folder))
      return AddProfRank(folder, *listing);
    if (name == kOutputName || name == kMsprofOutputName || HasResults(*listing)) {
      return AddOutputFolder(folder, *listing);
    }
    if (name == "timeline" && HasTrace(*listing)) return AddOutputFolder(folder, *listing);
    for (const std::string_view results :
         {kOutputName, std::string_view(format::kFrameworkFolder)}) {
      const auto is_there = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), results) != names.end();
      };
      if (is_there(listing->files) || is_there(listing->outside))
        Lose(folder,
             fmt::format("{} is not a folder, or a link that leaves the given one", results));
    }
    for (const std::string& file : listing->files)
      SL_RETURN_IF_ERROR(AddFile(Join(folder, file), false));
    for (const std::string& sub : listing->folders)
      SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    return {};
  }

  // Says once of each folder which links in it are not followed.
  Result<Listing> List(const std::string& folder) {
    Result<Listing> listing = readers::List(folder);
    if (listing.ok() && !listing->outside.empty() && listed_.insert(folder).second) {
      for (const std::string& name : listing->outside)
        Ignore(Join(folder, name), std::string(kLeavesRoots));
    }
    return listing;
  }

  // Raw data beside a result folder that holds no result: an analysis that never ended.
  bool IsUnfinished(const std::string& folder, const Listing& listing) {
    if (!listing.HasFolder(format::kFrameworkFolder)) return false;
    const Result<Listing> results = List(Join(folder, kOutputName));
    return results.ok() && !HasTrace(*results) &&
           std::none_of(results->files.begin(), results->files.end(), [](const std::string& name) {
             return name.ends_with(".csv") || name.ends_with(".db");
           });
  }

  // A capture whose configuration and device data are there, whatever became of FRAMEWORK.
  static bool HasDeviceData(const Listing& listing) {
    return std::any_of(listing.folders.begin(), listing.folders.end(), IsProfName) &&
           std::any_of(listing.files.begin(), listing.files.end(), [](const std::string& name) {
             return ClassifyTextFile(name) == TextFileKind::kProfilerInfo;
           });
  }
  // The same, and nobody has exported the device data.
  static bool HasRawDeviceData(const std::string& folder, const Listing& listing) {
    if (!HasDeviceData(listing)) return false;
    bool is_raw = false;
    for (const std::string& name : listing.folders) {
      if (!IsProfName(name)) continue;
      const Result<Listing> prof = readers::List(Join(folder, name));
      if (!prof.ok()) continue;
      if (prof->HasFolder(kMsprofOutputName)) return false;
      is_raw = is_raw || (prof::MayBeProfTree(*prof) && prof::IsProfTree(Join(folder, name)));
    }
    return is_raw;
  }
  static bool IsProfName(const std::string& name) { return name.starts_with("PROF_"); }

  // Raw captures only, and nothing inside them.
  Status WalkRaw(const std::string& folder, const Listing& listing) {
    if (listing.HasFolder(format::kFrameworkFolder) || HasDeviceData(listing)) {
      return AddRawRank(folder, listing);
    }
    for (const std::string& sub : listing.folders) {
      if (sub != kOutputName && !sub.starts_with('.'))
        SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    return {};
  }

  // Result files of a rank without the usual folder around them.
  static bool HasResults(const Listing& listing) {
    return std::any_of(listing.files.begin(), listing.files.end(), [](const std::string& name) {
      if (name == "trace_view.json" || name == "trace_view.json.gz" ||
          MiddleOf(name, "ascend_pytorch_profiler", ".db") ||
          MiddleOf(name, "ascend_mindspore_profiler", ".db")) {
        return true;
      }
      const TextFileKind kind = ClassifyTextFile(name);
      return kind == TextFileKind::kKernelDetails || kind == TextFileKind::kStepTrace ||
             kind == TextFileKind::kOperatorDetails;
    });
  }

  static store::Source SourceOf(const std::string& rank_folder) {
    return NameOf(rank_folder).ends_with("_ascend_ms") ? store::Source::kAscendMs
                                                       : store::Source::kAscendPt;
  }

  // torch_npu and MindSpore: <rank folder>/ASCEND_PROFILER_OUTPUT, with info files beside it.
  Status AddAscendRank(const std::string& folder, const std::string& output,
                       const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = SourceOf(folder);
    TakeInfoFiles(folder, beside, rank);
    const Result<Listing> files = List(output);
    if (!files.ok()) {
      Refuse(output, files.error());
    } else {
      TakeOutputFiles(output, *files, rank);
    }
    for (const std::string& sub : beside.folders) {
      if (sub == kOutputName || ClassifyTextFile(sub) != TextFileKind::kUnknown) continue;
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
    return files.ok() ? AddRank(std::move(rank)) : Status();
  }

  // <rank folder>/FRAMEWORK, and the device's part: as the collector wrote it, or as it was
  // exported.
  Status AddRawRank(const std::string& folder, const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = SourceOf(folder);
    rank.format = store::Format::kRaw;
    TakeInfoFiles(folder, beside, rank);
    TakeFrameworkFiles(Join(folder, format::kFrameworkFolder), rank);
    for (const std::string& sub : beside.folders) {
      if (IsProfName(sub)) TakeDeviceFolder(Join(folder, sub), rank);
      if (sub.ends_with("_ascend_pt") || sub.ends_with("_ascend_ms"))
        SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    const bool has_data =
        std::any_of(rank.files.begin(), rank.files.end(),
                    [](const SourceFile& file) { return file.role != FileRole::kTextFile; });
    if (!has_data) {
      Lose(folder, rank.ignored.empty() ? "FRAMEWORK is empty: nothing was recorded"
                                        : rank.ignored.front().note);
      return {};
    }
    SortFiles(rank);
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  // Results of the exporter win over what the collector wrote.
  void TakeDeviceFolder(const std::string& folder, RankSource& rank) {
    rank.has_device_folder = true;
    const Result<Listing> beside = List(folder);
    if (!beside.ok()) return Ignore(folder, beside.error().message);
    TakeDeviceInfo(folder, *beside, rank);
    const size_t files_before = rank.files.size();
    for (const std::string_view sub : {kMsprofOutputName, std::string_view("analyze")}) {
      if (!beside->HasFolder(kMsprofOutputName) || !beside->HasFolder(sub)) continue;
      const Result<Listing> files = List(Join(folder, sub));
      if (files.ok()) TakeOutputFiles(Join(folder, sub), *files, rank);
    }
    if (rank.files.size() > files_before) return;
    prof::IsProfTree(folder)
        ? TakeProfFiles(folder, rank)
        : rank.ignored.push_back({folder, 0, false, std::string(kNoDeviceData)});
  }

  // The folder analyze has the same rows as JSON and as a database.
  static void LeaveOutTwin(RankSource& rank) {
    const auto find = [&](std::string_view name) {
      return std::find_if(rank.files.begin(), rank.files.end(),
                          [name](const SourceFile& file) { return NameOf(file.path) == name; });
    };
    const auto twin = find("communication_analyzer.db");
    if (twin == rank.files.end() || find("communication.json") == rank.files.end()) return;
    rank.ignored.push_back({twin->path, 0, false, "communication.json has its rows"});
    rank.files.erase(twin);
  }

  // msprof: PROF_*/mindstudio_profiler_output, analyze/, msprof_*.db.
  Status AddMsprofRank(const std::string& folder, const Listing& beside) {
    RankSource rank;
    rank.path = folder;
    rank.source = store::Source::kMsprof;
    TakeDeviceInfo(folder, beside, rank);
    for (const std::string_view sub : {kMsprofOutputName, std::string_view("analyze")}) {
      if (!beside.HasFolder(sub)) continue;
      const Result<Listing> files = List(Join(folder, sub));
      if (files.ok()) {
        TakeOutputFiles(Join(folder, sub), *files, rank);
      } else {
        Refuse(Join(folder, sub), files.error());
      }
    }
    LeaveOutTwin(rank);
    TakeOutputFiles(folder, beside, rank);
    for (const std::string& sub : beside.folders) {
      if (IsProfName(sub)) SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    }
    return AddRank(std::move(rank));
  }

  // PROF_* as the collector left it; a database that was made of it is read instead.
  Status AddProfRank(const std::string& folder, const Listing& beside) {
    if (std::any_of(beside.files.begin(), beside.files.end(), [](const std::string& name) {
          return MiddleOf(name, "msprof_", ".db").has_value();
        })) {
      return AddMsprofRank(folder, beside);
    }
    RankSource rank;
    rank.path = folder;
    rank.source = store::Source::kMsprof;
    rank.format = store::Format::kRaw;
    rank.has_device_folder = true;
    TakeProfFiles(folder, rank);
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  // A folder of result files given by itself.
  Status AddOutputFolder(const std::string& folder, const Listing& listing) {
    RankSource rank;
    rank.path = folder;
    const std::string name = NameOf(folder);
    const bool is_msprof = name == kMsprofOutputName || name == "timeline";
    const std::string above = FolderAbove(folder);
    rank.source =
        is_msprof ? store::Source::kMsprof : SourceOf(name == kOutputName ? above : folder);
    if (name == kOutputName) {
      AddRoot(above);  // its info files belong to the capture
      if (const Result<Listing> beside = List(above); beside.ok())
        TakeInfoFiles(above, *beside, rank);
    }
    if (name == "timeline") TakeInfoOfDevice(above, rank);  // device_N/timeline
    TakeInfoFiles(folder, listing, rank);
    TakeOutputFiles(folder, listing, rank);
    SL_RETURN_IF_ERROR(AddRank(std::move(rank)));
    for (const std::string& sub : listing.folders)
      SL_RETURN_IF_ERROR(Walk(Join(folder, sub), false));
    return {};
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
      return Error{sniffed.code, sniffed.reason};
    if (sniffed.content == Content::kSqlite) return AddDatabase(path, std::move(rank), is_root);
    if (sniffed.content == Content::kTrace && kind == TextFileKind::kUnknown) {
      rank.format = store::Format::kJson;
      rank.files.push_back({FileRole::kTrace, path, SizeOf(path)});
      out_.ranks.push_back(std::move(rank));
      return {};
    }
    const bool is_sheet = kind == TextFileKind::kSheet;
    const bool is_result = kind != TextFileKind::kUnknown && !is_sheet;
    if (is_result && is_root && sniffed.content != Content::kEmpty) {
      rank.source = store::Source::kAscendPt;
      rank.format = store::Format::kText;
      rank.files.push_back({FileRole::kTextFile, path, SizeOf(path)});
      out_.ranks.push_back(std::move(rank));
      return {};
    }
    Ignore(path, name.ends_with(".done") ? "marker"
                 : is_sheet && is_root
                     ? "a result file that goes with others: give the folder around it"
                 : is_sheet || is_result ? "a result file outside a rank folder"
                                         : sniffed.reason);
    return {};
  }

  Status AddDatabase(const std::string& path, RankSource rank, bool is_root) {
    const Result<DbKind> kind = ClassifyDb(path);
    if (!kind.ok()) {
      if (is_root) return kind.error();
      Lose(path, kind.error().message);
      return {};
    }
    if (*kind == DbKind::kNsys) {
      rank.source = store::Source::kNsys;
      rank.format = store::Format::kDb;
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
    rank.source = name.starts_with("msprof")             ? store::Source::kMsprof
                  : name.starts_with("ascend_mindspore") ? store::Source::kAscendMs
                                                         : store::Source::kAscendPt;
    rank.format = store::Format::kDb;
    if (const auto suffix = MiddleOf(name, "ascend_pytorch_profiler_", ".db")) {
      rank.rank = ParseInt64(*suffix).value_or(rank.rank);
    }
    if (const auto monitor =
            MiddleOf(name, "msmonitor_", ".db")) {  // msmonitor_<pid>_<time>_<rank>
      const auto last = ParseInt64(monitor->substr(monitor->rfind('_') + 1));
      if (last && *last >= 0) rank.rank = *last;
    }
    rank.files.push_back(
        {*kind == DbKind::kProfiler ? FileRole::kProfilerDb : FileRole::kAnalysisDb, path,
         SizeOf(path)});
    out_.ranks.push_back(std::move(rank));
    return {};
  }

  Status AddRank(RankSource rank) {
    if (ChooseFiles(rank)) {
      out_.ranks.push_back(std::move(rank));
    } else {
      Lose(rank.path, "a rank folder without result files (not analysed yet?)");
    }
    return {};
  }

  void Ignore(const std::string& path, std::string reason) {
    out_.ignored.push_back({path, SizeOf(path), false, std::move(reason)});
  }

  void Lose(const std::string& path, std::string reason) {
    Ignore(path, std::move(reason));
    out_.ignored.back().is_lost = true;
  }

  // What the operating system does not let us read.
  void Refuse(const std::string& path, const Error& error) {
    Lose(path, error.message);
    if (!refusal_) refusal_ = error;
  }

  Detected& out_;
  bool wants_raw_;
  std::optional<Error> refusal_;
  std::set<std::string> visited_;
  std::set<std::string> listed_;
};

// Drops what a rank uses from the files that belong to none: one beside a folder is met before it.
void ForgetUsedFiles(Detected& out) {
  if (out.ignored.empty()) return;
  std::set<std::string> ignored;
  for (const store::InputFile& file : out.ignored) ignored.insert(file.path);
  std::set<std::string> used;
  for (const RankSource& rank : out.ranks) {
    for (const SourceFile& file : rank.files) {
      if (ignored.contains(file.path)) used.insert(file.path);
    }
  }
  std::erase_if(out.ignored, [&](const store::InputFile& f) { return used.contains(f.path); });
}

Error NothingFound(const std::vector<std::string>& paths, const Detected& detected) {
  std::string message = fmt::format("{}: no profile found", fmt::join(paths, ", "));
  if (!detected.ignored.empty()) {
    const store::InputFile& first = detected.ignored.front();
    const bool says_path = first.note.starts_with(first.path + ": ");
    const bool is_file = paths.size() == 1 && first.path == paths.front() && !says_path;
    if (is_file) return {ErrorCode::kNotFound, fmt::format("{}: {}", message, first.note)};
    message += fmt::format(" ({} looked at; first: {}{})",
                           detected.ignored.size() == 1
                               ? "1 file or folder"
                               : fmt::format("{} files and folders", detected.ignored.size()),
                           says_path ? "" : first.path + ": ", first.note);
  } else {
    message += " (the folder is empty)";
  }
  message +=
      "; expected a rank folder with ASCEND_PROFILER_OUTPUT or FRAMEWORK, a PROF_* folder with "
      "mindstudio_profiler_output or with raw data, "
      "a profiler .db, an Nsight Systems .sqlite, or a trace as .json or .json.gz";
  return {ErrorCode::kNotFound, std::move(message)};
}

}  // namespace

Result<Detected> DetectRanks(const std::vector<std::string>& paths) {
  Detected out;
  Detector detector(out, /*wants_raw=*/false);
  size_t given = 0;
  for (const std::string& path : paths) {
    const size_t ranks = out.ranks.size();
    const size_t ignored = out.ignored.size();
    SL_RETURN_IF_ERROR(detector.AddPath(path));
    for (size_t i = ranks; i < out.ranks.size(); ++i) {
      out.ranks[i].given = given;
      TakeRankFromFiles(out.ranks[i]);
    }
    ++given;
    if (paths.size() == 1 || out.ranks.size() > ranks) continue;
    const bool is_empty = out.ignored.size() == ignored;
    out.ignored.push_back(
        {path, 0, false, is_empty ? "the folder is empty" : "no profile found", true});
  }
  ForgetUsedFiles(out);
  if (!out.ranks.empty()) return out;
  if (detector.refusal()) return *detector.refusal();
  return NothingFound(paths, out);
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
