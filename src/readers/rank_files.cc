#include "readers/rank_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/roots.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/file_names.h"
#include "readers/framework/framework.h"
#include "readers/prof/prof_files.h"

namespace steplens::readers {
namespace {

// Exports have parts of msprof_*.json once more, each with the whole of its layer.
bool IsPartOfTrace(std::string_view name) {
  constexpr std::string_view kLayers[] = {"hccl_", "msprof_tx_", "step_trace_", "task_time_"};
  return name.ends_with(".json") &&
         std::any_of(std::begin(kLayers), std::end(kLayers),
                     [&](std::string_view layer) { return name.starts_with(layer); });
}

// People compress the largest file.
bool IsTraceName(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name == "trace_view.json" ||
         (name.starts_with("msprof_") && name.ends_with(".json") && !IsPartOfTrace(name));
}

bool IsResultFileName(const std::string& name) {
  if (name.ends_with(".db")) {
    return name == "analysis.db" || name == "communication_analyzer.db" ||
           MiddleOf(name, "ascend_pytorch_profiler", ".db") ||
           MiddleOf(name, "ascend_mindspore_profiler", ".db") || MiddleOf(name, "msprof_", ".db");
  }
  const TextFileKind kind = ClassifyTextFile(name);
  return IsTraceName(name) || (kind != TextFileKind::kUnknown && kind != TextFileKind::kSheet);
}

// A folder in the place of a file is one of them: reading it will say so.
std::vector<std::string> WithFoldersNamedAsFiles(const Listing& listing) {
  std::vector<std::string> names = listing.files;
  std::copy_if(listing.folders.begin(), listing.folders.end(), std::back_inserter(names),
               IsResultFileName);
  return names;
}

template <typename Add, typename Ignore>
void TakeOtherFile(const std::string& name, Add add, Ignore ignore) {
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
  add(FileRole::kTextFile);
}

// msprof adds a set of files at each export, with the time of the export at the end of their names.
struct ExportName {
  std::string what;       // without time and slice: "op_summary.csv"
  std::string_view time;  // "20260511093035"; empty if the name has none
};

ExportName ParseExportName(std::string_view name) {
  constexpr size_t kTimeDigits = 14;
  const size_t dot = std::min(name.rfind('.'), name.size());
  std::string_view stem = name.substr(0, dot);
  const size_t mark = stem.rfind('_');
  if (mark == std::string_view::npos) return {std::string(name), {}};
  const std::string_view time = stem.substr(mark + 1);
  if (time.size() != kTimeDigits || time.find_first_not_of("0123456789") != time.npos) {
    return {std::string(name), {}};
  }
  stem = stem.substr(0, mark);
  if (const size_t slice = stem.rfind("_slice_"); slice != stem.npos) stem = stem.substr(0, slice);
  return {std::string(stem) + std::string(name.substr(dot)), time};
}

// The newest time of each file that exports have.
std::map<std::string, std::string_view> NewestExports(const std::vector<std::string>& names) {
  std::map<std::string, std::string_view> newest;
  for (const std::string& name : names) {
    const ExportName parsed = ParseExportName(name);
    std::string_view& time = newest[parsed.what];
    time = std::max(time, parsed.time);
  }
  return newest;
}

// csv files beside a profiler db: those whose rows the db holds itself would be counted twice.
void DropTextThatDbHas(RankSource& rank) {
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

}  // namespace

bool HoldsData(const SourceFile& file) {
  if (file.role != FileRole::kTextFile) return true;
  const TextFileKind kind = ClassifyTextFile(NameOf(file.path));
  return kind != TextFileKind::kProfilerInfo && kind != TextFileKind::kProfilerMetadata &&
         kind != TextFileKind::kDeviceInfo && kind != TextFileKind::kUnknown;
}

bool HasTrace(const Listing& listing) {
  return std::any_of(listing.files.begin(), listing.files.end(), IsTraceName);
}

void TakeInfoFiles(const std::string& folder, const Listing& listing, RankSource& rank) {
  const std::vector<std::string> names = WithFoldersNamedAsFiles(listing);
  const bool has_rank_in_name =
      std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return MiddleOf(name, "profiler_info_", ".json").has_value();
      });
  for (const std::string& name : names) {
    const TextFileKind kind = ClassifyTextFile(name);
    if (kind != TextFileKind::kProfilerInfo && kind != TextFileKind::kProfilerMetadata) continue;
    const std::string path = Join(folder, name);
    if (has_rank_in_name && name == "profiler_info.json") {  // of one card: under both names
      rank.ignored.push_back({path, SizeOf(path), false, "profiler_info_<rank>.json is read"});
      continue;
    }
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

void TakeInfoOfDevice(const std::string& folder, RankSource& rank) {
  const std::string name = NameOf(folder);
  const auto device = MiddleOf(name, "device_", "");
  if (!device) return;
  const std::string path = Join(folder, fmt::format("info.json.{}", *device));
  const Result<JsonDocument> info = JsonDocument::ReadFile(path);
  if (!info.ok()) return;
  const auto id = info->root()["rank_id"].AsInt();
  if (id && *id >= 0 && rank.rank == store::kNone) rank.rank = *id;
  rank.files.push_back({FileRole::kTextFile, path, SizeOf(path)});
}

void TakeDeviceInfo(const std::string& folder, const Listing& listing, RankSource& rank) {
  for (const std::string& name : listing.folders) TakeInfoOfDevice(Join(folder, name), rank);
}

void TakeFrameworkFiles(const std::string& folder, RankSource& rank) {
  const Result<Listing> listing = List(folder);
  if (!listing.ok()) return;
  for (const std::string& name : listing->outside)
    rank.ignored.push_back({Join(folder, name), 0, false, std::string(kLeavesRoots)});
  std::set<FrameworkFile> kinds;
  const bool has_operators =
      std::any_of(listing->files.begin(), listing->files.end(), [](const std::string& name) {
        return ClassifyFrameworkFile(name) == FrameworkFile::kOpRange;
      });
  for (const std::string& name : listing->files) {
    const std::string path = Join(folder, name);
    const FrameworkFile kind = ClassifyFrameworkFile(name);
    if (IsMindSporeFile(kind) && has_operators) {
      rank.ignored.push_back({path, SizeOf(path), false, "torch.* has the same and more"});
    } else if (kind == FrameworkFile::kUnknown) {
      rank.ignored.push_back({path, SizeOf(path), false, "not a raw file that steplens reads"});
    } else if (!kinds.insert(kind).second) {
      rank.ignored.push_back({path, SizeOf(path), false, "a second file of its kind"});
    } else {
      rank.files.push_back({FileRole::kFramework, path, SizeOf(path)});
    }
  }
}

void TakeProfFiles(const std::string& folder, RankSource& rank) {
  const Result<prof::ProfTree> tree = prof::FindProfTree(folder);
  if (!tree.ok()) return;
  const auto take = [&](const prof::Side& side) {
    for (const std::string& name : side.control_names) {
      const std::string path = Join(side.folder, name);
      rank.files.push_back({FileRole::kProf, path, SizeOf(path)});
    }
    for (const auto& [family, slices] : side.families) {
      for (const prof::Slice& slice : slices)
        rank.files.push_back({FileRole::kProf, slice.path, slice.size_bytes});
    }
  };
  if (tree->host) take(*tree->host);
  for (const prof::Side& device : tree->devices) {
    take(device);
    const Result<JsonDocument> info = JsonDocument::ReadFile(device.ControlFile("info.json"));
    if (!info.ok() || tree->devices.size() > 1) continue;
    const auto id = info->root()["rank_id"].AsInt();
    if (id && *id >= 0 && rank.rank == store::kNone) rank.rank = *id;
  }
}

void TakeOutputFiles(const std::string& folder, const Listing& listing, RankSource& rank) {
  const auto find = [&](std::string_view name) {
    return std::find(listing.files.begin(), listing.files.end(), name) != listing.files.end();
  };
  const bool has_whole_trace = find("trace_view.json") || find("trace_view.json.gz");
  const std::vector<std::string> names = WithFoldersNamedAsFiles(listing);
  const std::map<std::string, std::string_view> newest = NewestExports(names);
  for (const std::string& name : names) {
    const std::string path = Join(folder, name);
    const auto add = [&](FileRole role) { rank.files.push_back({role, path, SizeOf(path)}); };
    const auto ignore = [&](std::string reason) {
      rank.ignored.push_back({path, SizeOf(path), false, std::move(reason)});
    };
    const ExportName exported = ParseExportName(name);
    if (!exported.time.empty() && exported.time != newest.at(exported.what)) {
      ignore(fmt::format("the export of {} is newer", newest.at(exported.what)));
      continue;
    }
    const auto pytorch = MiddleOf(name, "ascend_pytorch_profiler", ".db");
    const auto mindspore = MiddleOf(name, "ascend_mindspore_profiler", ".db");
    if (pytorch || mindspore) {
      if (mindspore) rank.source = store::Source::kAscendMs;
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
      const bool is_copy = name.ends_with(".gz") && find(name.substr(0, name.size() - 3));
      const bool is_part = has_whole_trace && !name.starts_with("trace_view.json");
      is_copy   ? ignore("the file without .gz is read")
      : is_part ? ignore("trace_view.json has the same events")
                : add(FileRole::kTrace);
    } else if (IsPartOfTrace(name)) {
      ignore(HasTrace(listing) ? "msprof_*.json has the same events"
                               : "a part of msprof_*.json, which is not here");
    } else {
      TakeOtherFile(name, add, ignore);
    }
  }
}

void SortFiles(RankSource& rank) {
  std::stable_sort(rank.files.begin(), rank.files.end(),
                   [](const SourceFile& a, const SourceFile& b) { return a.role < b.role; });
}

bool ChooseFiles(RankSource& rank) {
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
  if (has_trace) drop(FileRole::kProfilerDb, "the same rank is read from its trace and csv files");
  rank.format =
      has_trace || !has(FileRole::kProfilerDb) ? store::Format::kText : store::Format::kDb;
  const bool any_text =
      std::any_of(rank.files.begin(), rank.files.end(), [](const SourceFile& file) {
        const TextFileKind kind = ClassifyTextFile(NameOf(file.path));
        return file.role == FileRole::kTextFile && kind == TextFileKind::kStepTrace;
      });
  if (any_text)
    drop(FileRole::kAnalysisDb, "the same results are read from the csv and json files");
  const bool only_db =
      std::all_of(rank.files.begin(), rank.files.end(), [](const SourceFile& file) {
        return file.role == FileRole::kAnalysisDb || !HoldsData(file);
      });
  if (only_db && has(FileRole::kAnalysisDb)) rank.format = store::Format::kDb;
  if (rank.format == store::Format::kDb) DropTextThatDbHas(rank);
  const bool any_data = std::any_of(rank.files.begin(), rank.files.end(), HoldsData);
  if (any_data) SortFiles(rank);
  return any_data;
}

}  // namespace steplens::readers
