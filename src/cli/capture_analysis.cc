#include "cli/capture_analysis.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "analysis/steps/keep_steps.h"
#include "base/cancel.h"
#include "base/file.h"
#include "cli/capture_cleanup.h"
#include "cli/recording_check.h"
#include "cli/results_folder.h"
#include "export/export.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/mindspore/data_pipeline.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;
using readers::RankSource;
using std::chrono::steady_clock;

bool Asks(const std::vector<std::string>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// What the capture's configuration says about its analysis.
struct Configuration {
  std::vector<std::string> types;
  bool simplify = false;
  bool mindspore_simplifies = false;  // in so many words
};

Configuration ReadConfiguration(const store::TraceStore& store, const RankSource& capture) {
  Configuration out;
  bool has_info = false;
  for (const readers::SourceFile& file : capture.files) {
    const std::string name = fs::path(file.path).filename().string();
    if (readers::ClassifyTextFile(name) != readers::TextFileKind::kProfilerInfo) continue;
    const Result<readers::ProfilerInfo> info = readers::ReadProfilerInfo(file.path);
    if (!info.ok()) continue;
    has_info = true;
    for (const std::string_view type : {"text", "db"}) {
      if (info->export_type.find(type) != std::string::npos) out.types.emplace_back(type);
    }
  }
  if (out.types.empty()) out.types = {"text"};
  out.simplify = has_info;  // a configuration that says nothing about it means the default
  for (const std::string_view key : {"config.experimental_config._data_simplification",
                                     "profiler_parameters.data_simplification"}) {
    if (const auto value = store.FindMeta(key)) out.simplify = *value == "true";
  }
  out.mindspore_simplifies = store.FindMeta("profiler_parameters.data_simplification") == "true";
  return out;
}

// What analyse.done says: nothing, or of which steps the results are.
std::string NoteOf(const std::vector<int64_t>& steps) {
  return steps.empty() ? std::string() : fmt::format("steps {}\n", fmt::join(steps, ","));
}

// Whether there are results of all types and the steps asked for that are newer than every raw
// file.
bool IsUpToDate(const RankSource& capture, const std::vector<std::string>& types,
                const std::vector<int64_t>& steps) {
  const fs::path output = fs::path(capture.path) / kResultsFolder;
  const Result<FileStamp> done = StatFile((output / kDoneFile).string());
  if (!done.ok()) return false;
  const Result<std::string> note = ReadFile((output / kDoneFile).string());
  if (!note.ok() || *note != NoteOf(steps)) return false;
  for (const readers::SourceFile& file : capture.files) {
    const Result<FileStamp> raw = StatFile(file.path);
    if (raw.ok() && raw->mtime_ns > done->mtime_ns) return false;
  }
  return HasResultsOf(capture.path, types);
}

// <capture>/logs/profiler_<time>_<pid>_analyse.log. A log that cannot be written stops nothing.
void WriteLog(const RankSource& capture, const store::TraceStore* store,
              const std::string& message) {
  const fs::path folder = fs::path(capture.path) / "logs";
  std::error_code error;
  fs::create_directories(folder, error);
  std::tm now{};
  const std::time_t seconds = std::time(nullptr);
  ::localtime_r(&seconds, &now);
  const fs::path path =
      folder / fmt::format("profiler_{:%Y%m%d%H%M%S}_{}_analyse.log", now, ::getpid());
  std::string text =
      fmt::format("[{:%Y-%m-%d %H:%M:%S}] [INFO] [{}] {}\n", now, ::getpid(), message);
  for (size_t i = 0; store != nullptr && i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto kind = static_cast<store::IssueKind>(i);
    const store::IssueLog::Entry& entry = store->issues.entry(kind);
    if (entry.count == 0) continue;
    text +=
        fmt::format("[WARNING] {} x {}: {} first: {}\n", entry.count,
                    store::GetIssueInfo(kind).name, store::GetIssueInfo(kind).text, entry.example);
  }
  Result<AtomicFile> file = AtomicFile::Create(path.string());
  if (!file.ok() || !file->Write(text.data(), text.size()).ok()) return;
  if (file->Commit().ok()) CloseFileToOthers(path);
}

// What was lost while recording and of the raw data: every kind of loss once, with its first case.
std::string LossesOf(const store::TraceStore& store) {
  std::string text;
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto kind = static_cast<store::IssueKind>(i);
    const store::IssueLog::Entry& entry = store.issues.entry(kind);
    const store::IssueInfo& info = store::GetIssueInfo(kind);
    if (entry.count == 0 || info.severity != store::Severity::kDataLoss) continue;
    if (info.name == store::GetIssueInfo(store::IssueKind::kCaptureUnfinished).name) continue;
    text += fmt::format("{}{} x {} ({})", text.empty() ? "not all of the raw data is sound: " : " ",
                        entry.count, info.text, entry.example);
  }
  return text;
}

// Whether there was anything for result files to hold.
bool HoldsAnything(const store::TraceStore& store) {
  return store.slices.size() > 0 || store.memory_samples.size() > 0 ||
         store.allocations.size() > 0 || store.counters.size() > 0;
}

// MindSpore's data_simplification leaves the results and the device's raw data. Whether FRAMEWORK
// goes, and if it stays though it should go, why.
bool RemovesFramework(const store::TraceStore& store, const AnalysisRequest& request,
                      const Configuration& configuration, std::string& why_not) {
  if (!store::IsMindSpore(store.info.source)) return false;
  if (!request.simplify.value_or(configuration.mindspore_simplifies)) return false;
  if (!HoldsAnything(store)) {
    why_not = "nothing was exported, so data_simplification keeps FRAMEWORK. ";
  } else if (!request.steps.empty()) {
    why_not = "the results are of some steps only, so data_simplification keeps FRAMEWORK. ";
  }
  return why_not.empty();
}

// A capture of MindSpore that holds several configurations is read with the first of them, as the
// reference does, and one without any is refused. What is said about it, or "".
Result<std::string> KeepFirstConfiguration(RankSource& capture) {
  std::vector<std::string> names;
  std::erase_if(capture.files, [&](const readers::SourceFile& file) {
    const std::string name = fs::path(file.path).filename().string();
    if (readers::ClassifyTextFile(name) != readers::TextFileKind::kProfilerInfo) return false;
    names.push_back(name);
    return names.size() > 1;
  });
  if (names.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: there is no profiler_info_*.json, so it is unknown what was "
                             "recorded; MindSpore writes it when a capture ends",
                             capture.path)};
  }
  if (names.size() < 2) return std::string();
  return fmt::format("there are {} configurations, {} is used. ", names.size(), names.front());
}

bool LacksDevice(const RankSource& capture) {
  return std::any_of(capture.ignored.begin(), capture.ignored.end(),
                     [](const auto& file) { return file.note == readers::kNoDeviceData; });
}

// Leaves only the steps asked for. The steps that the capture does not have, as a sentence; an
// error if it has none of them.
Result<std::string> ChooseSteps(store::TraceStore& store, const std::vector<int64_t>& steps,
                                const RankSource& capture) {
  if (steps.empty()) return std::string();
  std::vector<int64_t> recorded(store.steps.step.begin(), store.steps.step.end());
  std::sort(recorded.begin(), recorded.end());
  const std::vector<int64_t> kept = analysis::KeepSteps(store, steps);
  if (kept.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: none of the steps {} was recorded ({})", capture.path,
                             fmt::join(steps, ", "),
                             recorded.empty() ? std::string("no step was marked")
                                              : fmt::format("only {}", fmt::join(recorded, ", ")))};
  }
  if (kept.size() >= steps.size()) return std::string();
  return fmt::format("{} of {} steps asked for were not recorded; the results are of {}. ",
                     steps.size() - kept.size(), steps.size(), fmt::join(kept, ", "));
}

// The files of the data pipeline, which are text. Returns what of it cannot be used, as sentences:
// a pipeline that is damaged costs its own files only.
Result<std::string> WriteDataPipelines(const std::string& capture, const std::string& dir) {
  std::string problems;
  for (const Result<store::DataPipeline>& pipeline : readers::ReadDataPipelines(capture)) {
    const std::string problem = pipeline.ok() ? (*pipeline).problem : pipeline.error().message;
    if (!problem.empty()) problems += fmt::format("the data pipeline is not whole: {}. ", problem);
    if (pipeline.ok()) SL_RETURN_IF_ERROR(exporting::WriteDataPipeline(*pipeline, dir));
  }
  return problems;
}

// The rules for steps differ between the two forms; each is written by its own, as it will be read.
Status WriteResults(store::TraceStore& store, const std::vector<std::string>& types,
                    const std::string& note, ThreadPool& pool, ResultsFolder& output) {
  exporting::ExportOptions options;
  options.is_raw = true;
  if (Asks(types, "text")) {
    store.info.format = store::Format::kText;
    SL_RETURN_IF_ERROR(exporting::WriteText(store, options, output.path(), pool));
  }
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  if (Asks(types, "db")) {
    store.info.format = store::Format::kDb;
    SL_RETURN_IF_ERROR(exporting::WriteDb(store, options, output.path(), pool));
  }
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  return output.Commit(note);
}

}  // namespace

bool HasResultsOf(const std::string& capture, const std::vector<std::string>& types) {
  bool has_text = false;
  bool has_db = false;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(capture) / kResultsFolder, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    has_text = has_text || name == "trace_view.json" || name.ends_with(".csv");
    has_db = has_db || (name.starts_with("ascend_") && name.ends_with(".db"));
  }
  return (!Asks(types, "text") || has_text) && (!Asks(types, "db") || has_db);
}

Result<store::TraceStore> OpenRawCapture(const RankSource& capture, ThreadPool& pool,
                                         opening::RawUse use) {
  if (IsBeingRecorded(capture.path)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: a recording into this folder is running; analyse it when it "
                             "has stopped",
                             capture.path)};
  }
  return opening::OpenRaw(capture, pool, use);
}

Result<AnalysisOutcome> AnalyseCapture(const RankSource& given, const AnalysisRequest& request,
                                       ThreadPool& pool) {
  const auto start = steady_clock::now();
  RankSource capture = given;
  std::string left_out;
  if (store::IsMindSpore(capture.source)) {
    SL_ASSIGN_OR_RETURN(left_out, KeepFirstConfiguration(capture));
  }
  const Configuration early = ReadConfiguration({}, capture);
  const std::vector<std::string>& types = request.types.empty() ? early.types : request.types;
  if (!request.force && IsUpToDate(capture, types, request.steps)) {
    return AnalysisOutcome{true, "the results are up to date (--force analyses again)", {}};
  }
  std::error_code error;
  if (LacksDevice(capture) &&
      fs::exists(fs::path(capture.path) / kResultsFolder / kDoneFile, error)) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: a PROF_* folder has no data of the collector (any more), so new "
                             "results would hold less than the old ones, which are kept",
                             capture.path)};
  }
  SL_ASSIGN_OR_RETURN(store::TraceStore store,
                      OpenRawCapture(capture, pool, opening::RawUse::kResults));
  const Configuration configuration = ReadConfiguration(store, capture);
  SL_ASSIGN_OR_RETURN(const std::string missing_steps, ChooseSteps(store, request.steps, capture));
  SL_ASSIGN_OR_RETURN(ResultsFolder output, ResultsFolder::Create(capture.path));
  Result<std::string> pipelines = std::string();
  if (Asks(types, "text")) pipelines = WriteDataPipelines(capture.path, output.path());
  if (!pipelines.ok()) return output.Explain(pipelines.error());
  const Status written = WriteResults(store, types, NoteOf(request.steps), pool, output);
  if (!written.ok()) {
    const Error explained = output.Explain(written.error());
    WriteLog(capture, &store, "failed: " + explained.message);
    return explained;
  }
  std::string kept;
  const bool removes_framework = RemovesFramework(store, request, configuration, kept);
  CleanUpCapture(capture.path,
                 {store::IsMindSpore(capture.source),
                  request.simplify.value_or(configuration.simplify), removes_framework});
  const std::chrono::duration<double> spent = steady_clock::now() - start;
  AnalysisOutcome outcome;
  outcome.message = fmt::format("{} written in {:.2f} s: {} operators, {} kernels, {} collectives",
                                fmt::join(types, " and "), spent.count(), store.host_ops.size(),
                                store.kernels.size(), store.comm_ops.size());
  if (const std::string ended = HowItEnded(store); !ended.empty()) outcome.warning = ended + ". ";
  if (LacksDevice(capture)) {
    outcome.message += "; a PROF_* folder has no data, so its device is missing";
    // If a recorder started the analysis, the message has no reader.
    outcome.warning += "a PROF_* folder has no data of the collector; its device is missing. ";
  }
  outcome.warning += left_out + missing_steps + *pipelines + kept + LossesOf(store);
  if (outcome.warning.ends_with(' ')) outcome.warning.pop_back();
  WriteLog(capture, &store, outcome.message);
  return outcome;
}

}  // namespace steplens::cli
