#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/rank_folder.h"
#include "export/export.h"
#include "readers/slice_args.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

fs::path Absolute(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : absolute;
}

bool IsInside(const fs::path& inner, const fs::path& outer) {
  const fs::path rest = inner.lexically_relative(outer);
  return !rest.empty() && *rest.begin() != "..";
}

// Captures are only read: nothing may be written into one.
Status CheckOutput(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (IsInside(Absolute(output), Absolute(input))) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--output {} lies in the input {}: choose a folder outside of it",
                               output, input)};
    }
  }
  return {};
}

// The same for the folders below the output: none of them may be one that files were read from.
Status CheckFolders(const std::vector<fs::path>& folders, const store::Job& job) {
  for (const fs::path& folder : folders) {
    const fs::path absolute = Absolute(folder);
    for (const store::TraceStore& rank : job.ranks) {
      for (const store::InputFile& file : rank.info.files) {
        if (!IsInside(Absolute(file.path), absolute)) continue;
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("{}: the input's {} lies there and would be replaced: choose "
                                 "another folder with --output",
                                 folder.string(), file.path)};
      }
    }
  }
  return {};
}

// The folder a rank's files go to: the name of its capture, or one made of the rank.
std::string FolderName(const store::TraceStore& rank, std::set<std::string>& taken) {
  const std::string suffix = store::IsMindSpore(rank.info.source) ? "_ascend_ms" : "_ascend_pt";
  std::string name = fs::path(rank.info.path).filename().string();
  const bool is_capture =
      name.find("_ascend_") != std::string::npos && fs::is_directory(rank.info.path);
  if (!is_capture || taken.contains(name)) name = fmt::format("rank{}{}", rank.info.rank, suffix);
  taken.insert(name);
  return name;
}

Result<std::string> ReadUnpacked(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  constexpr size_t kPiece = size_t{1} << 22;
  std::string text;
  while (true) {
    const size_t size = text.size();
    text.resize(size + kPiece);
    SL_ASSIGN_OR_RETURN(const size_t got, source->Read(text.data() + size, kPiece));
    text.resize(size + got);
    if (got == 0) return text;
  }
}

// The args of slices as the traces of the rank have them; each is read once. A trace that can no
// longer be read costs the args the store does not keep, no more.
exporting::ExportOptions OptionsFor(const store::TraceStore& rank) {
  std::map<std::string, std::string> texts;  // by path; empty if it cannot be read
  bool any_text = false;
  for (uint32_t i = 0; i < rank.slices.size(); ++i) {
    const std::string path = readers::PlaceOfArgs(rank, store::SliceId{i}).path;
    if (path.empty() || texts.contains(path)) continue;
    Result<std::string> text = ReadUnpacked(path);
    any_text = any_text || text.ok();
    texts[path] = text.ok() ? *std::move(text) : std::string();
  }
  exporting::ExportOptions options;
  if (!any_text) return options;
  const auto shared = std::make_shared<const std::map<std::string, std::string>>(std::move(texts));
  options.args_of = [&rank, shared](store::SliceId slice) -> std::string {
    const readers::ArgsPlace place = readers::PlaceOfArgs(rank, slice);
    const auto text = shared->find(place.path);
    if (text == shared->end() || place.offset >= text->second.size()) return "";
    return text->second.substr(place.offset, place.size);
  };
  return options;
}

// profiler_info*.json of the capture as it is, else one that says which rank it is;
// profiler_metadata.json made anew where a db held it.
Status WriteInfoFiles(const store::TraceStore& rank, const fs::path& folder) {
  bool has_metadata = false;
  bool has_info = false;
  for (const store::InputFile& file : rank.info.files) {
    const std::string name = fs::path(file.path).filename().string();
    const bool is_metadata = name == "profiler_metadata.json";
    if (!is_metadata && !name.starts_with("profiler_info")) continue;
    (is_metadata ? has_metadata : has_info) = true;
    SL_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.path));
    SL_ASSIGN_OR_RETURN(AtomicFile copy, AtomicFile::Create((folder / name).string()));
    SL_RETURN_IF_ERROR(copy.Write(text.data(), text.size()));
    SL_RETURN_IF_ERROR(copy.CommitDurably());
  }
  if (!has_info) SL_RETURN_IF_ERROR(exporting::WriteProfilerInfo(rank, folder.string()));
  if (has_metadata) return {};
  return exporting::WriteProfilerMetadata(rank, (folder / "profiler_metadata.json").string());
}

Status WriteRank(const store::TraceStore& rank, bool to_text, const fs::path& folder,
                 ThreadPool& pool) {
  const std::string dir = (folder / "ASCEND_PROFILER_OUTPUT").string();
  const exporting::ExportOptions options = OptionsFor(rank);
  SL_RETURN_IF_ERROR(to_text ? exporting::WriteText(rank, options, dir, pool)
                             : exporting::WriteDb(rank, options, dir, pool));
  return WriteInfoFiles(rank, folder);
}

Status MakeOutput(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Error{ErrorCode::kIo,
               fmt::format("{}: cannot make the folder: {}", folder.string(), error.message())};
}

// One trace of all ranks, trace.pftrace.
Result<int> WritePerfettoTrace(const store::Job& job, const fs::path& output) {
  SL_RETURN_IF_ERROR(CheckFolders({output}, job));
  SL_RETURN_IF_ERROR(MakeOutput(output));
  const std::string path = (output / "trace.pftrace").string();
  SL_RETURN_IF_ERROR(exporting::WritePerfetto(job, path));
  fmt::print("{}\n", path);
  return 0;
}

// A trace per rank, rank<N>.json.
Result<int> WriteChromeTraces(const store::Job& job, const fs::path& output) {
  SL_RETURN_IF_ERROR(CheckFolders({output}, job));
  SL_RETURN_IF_ERROR(MakeOutput(output));
  for (const store::TraceStore& rank : job.ranks) {
    const std::string path = (output / fmt::format("rank{}.json", rank.info.rank)).string();
    SL_RETURN_IF_ERROR(exporting::WriteChromeTrace(rank, OptionsFor(rank), path));
    fmt::print("{}\n", path);
  }
  return 0;
}

Result<int> RunConvert(const Arguments& arguments) {
  const std::string output = arguments.Value("--output");
  SL_RETURN_IF_ERROR(CheckOutput(output, arguments.Positional("PATH")));
  SL_ASSIGN_OR_RETURN(const size_t threads, ThreadsOf(arguments));
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  if (arguments.Value("--to") == "perfetto") return WritePerfettoTrace(job, output);
  if (arguments.Value("--to") == "chrome") return WriteChromeTraces(job, output);
  std::set<std::string> taken;
  std::vector<fs::path> folders;
  for (const store::TraceStore& rank : job.ranks)
    folders.push_back(fs::path(output) / FolderName(rank, taken));
  SL_RETURN_IF_ERROR(CheckFolders(folders, job));
  ThreadPool pool(threads);
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    const store::TraceStore& rank = job.ranks[i];
    SL_ASSIGN_OR_RETURN(RankFolder folder, RankFolder::Create(folders[i]));
    const Status written = WriteRank(rank, arguments.Value("--to") == "text", folder.path(), pool);
    if (!written.ok()) return folder.Explain(written.error());
    SL_RETURN_IF_ERROR(folder.Commit());
    fmt::print("{}\n", folder.final_path().string());
  }
  return 0;
}

}  // namespace

CommandSpec ConvertCommand() {
  CommandSpec spec;
  spec.summary = "Convert a profile to text, db, or a trace of Perfetto or Chrome";
  spec.description =
      "Reads profiles of any form and writes, for every rank, the result files of torch_npu or "
      "MindSpore as text (trace_view.json, csv and json files) or as SQLite databases; perfetto: "
      "one trace of all ranks (trace.pftrace), chrome: one trace per rank (rank0.json). The input "
      "is not changed. Data that the other form cannot hold is omitted (docs/export.md lists it).";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined({{.name = "--to",
                          .value_name = "FORM",
                          .help = "Output form",
                          .default_value = "text",
                          .choices = {"text", "db", "perfetto", "chrome"}},
                         {.name = "--output",
                          .value_name = "DIR",
                          .help = "Output folder; text and db: gets one folder per rank",
                          .is_required = true,
                          .short_name = "-o"}},
                        InputOptions());
  spec.example = "steplens convert examples/sample --to db --output /tmp/sample_db";
  spec.run = RunConvert;
  return spec;
}

}  // namespace steplens::cli
