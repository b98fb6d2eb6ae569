#include "cli/prof_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "base/cancel.h"
#include "cli/exit_code.h"
#include "cli/rank_folder.h"
#include "export/prof/prof_export.h"
#include "readers/prof/prof.h"
#include "readers/prof/prof_files.h"
#include "store/trace_store.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::string_view kTextFolder = "mindstudio_profiler_output";
constexpr std::string_view kAnalysisFolder = "analyze";

std::string ExportTime() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16] = {};
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%S", &local);
  return text;
}

// The newest "msprof_20240517080100.db" of `folder`; empty if there is none.
std::string FindExport(const fs::path& folder, std::string_view begin, std::string_view end) {
  std::error_code error;
  std::string last;
  for (fs::directory_iterator it(folder, error), end_of; !error && it != end_of;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != begin.size() + 14 + end.size() || !name.starts_with(begin) ||
        !name.ends_with(end))
      continue;
    const std::string digits = name.substr(begin.size(), 14);
    if (digits.find_first_not_of("0123456789") == digits.npos) last = std::max(last, name);
  }
  return last;
}

// When the collector wrote last.
fs::file_time_type LastRawTime(const fs::path& folder) {
  fs::file_time_type last = fs::file_time_type::min();
  std::error_code error;
  for (fs::directory_iterator side(folder, error), end; !error && side != end;
       side.increment(error)) {
    std::error_code no_data;
    for (fs::directory_iterator it(side->path() / "data", no_data), none; !no_data && it != none;
         it.increment(no_data)) {
      std::error_code gone;
      const fs::file_time_type time = fs::last_write_time(it->path(), gone);
      if (!gone) last = std::max(last, time);
    }
  }
  return last;
}

// Leaves out what an earlier export has written of the same raw data.
ProfRequest MissingOf(const fs::path& folder, ProfRequest request) {
  if (request.force) return request;
  const fs::file_time_type last = LastRawTime(folder);
  const auto is_there = [&](const fs::path& parent, const std::string& name) {
    std::error_code error;
    if (name.empty() || !fs::exists(parent / name, error)) return false;
    return fs::last_write_time(parent / name, error) >= last && !error;
  };
  const fs::path text = folder / kTextFolder;
  const fs::path analysis = folder / kAnalysisFolder;
  if (is_there(text, FindExport(text, "msprof_", ".json"))) request.has_text = false;
  if (is_there(folder, FindExport(folder, "msprof_", ".db"))) request.has_db = false;
  if (is_there(analysis, "communication_analyzer.db") &&
      (!request.has_analysis_text || is_there(analysis, "communication.json")))
    request.has_analysis = false;
  return request;
}

Result<store::TraceStore> ReadFolder(const std::string& folder, ThreadPool& pool) {
  store::TraceStore store;
  store.info.source = store::Source::kMsprof;
  readers::ReadOptions options;
  options.pool = &pool;
  SL_RETURN_IF_ERROR(readers::ReadProf(folder, options, store));
  return store;
}

// Writes a folder of results whole.
template <typename Write>
Status WriteFolder(const fs::path& path, const Write& write) {
  SL_ASSIGN_OR_RETURN(RankFolder folder, RankFolder::Create(path));
  Status status = write(folder.path().string());
  if (!status.ok()) return folder.Explain(status.error());
  return folder.Commit();
}

bool HasFiles(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder, error) && !fs::is_empty(folder, error);
}

Status WriteAnalysis(const store::TraceStore& store, const ProfRequest& request,
                     const fs::path& folder) {
  if (store.comm_ops.size() == 0 || store.FindMeta("prof.level") == "level0") return {};
  return WriteFolder(folder, [&](const std::string& dir) {
    return exporting::WriteProfAnalysis(
        store, {request.has_analysis_text, request.has_times, request.has_matrix}, dir);
  });
}

}  // namespace

bool IsProfFolder(const std::string& path) { return readers::prof::IsProfTree(path); }

std::vector<std::string> FindProfFolders(const std::string& path) {
  if (IsProfFolder(path)) return {path};
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(path, error), last; !error && it != last; it.increment(error)) {
    if (it->path().filename().string().starts_with("PROF_") && IsProfFolder(it->path().string()))
      folders.push_back(it->path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<std::string> WriteProfResults(const std::string& folder, const ProfRequest& request,
                                     ThreadPool& pool) {
  const auto start = steady_clock::now();
  const fs::path root(folder);
  const ProfRequest missing = MissingOf(root, request);
  if (!missing.has_text && !missing.has_db && !missing.has_analysis)
    return std::string("the results are there already (--force writes new ones)");
  SL_ASSIGN_OR_RETURN(const store::TraceStore store, ReadFolder(folder, pool));
  const std::string stamp = ExportTime();
  std::vector<std::string> written;
  if (missing.has_text) {
    SL_RETURN_IF_ERROR(WriteFolder(root / kTextFolder, [&](const std::string& dir) {
      return exporting::WriteProfText(store, stamp, dir, pool);
    }));
    written.emplace_back(kTextFolder);
  }
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  if (missing.has_db) {
    const std::string name = fmt::format("msprof_{}.db", stamp);
    SL_RETURN_IF_ERROR(exporting::WriteProfDb(store, (root / name).string()));
    written.push_back(name);
  }
  if (missing.has_analysis) {
    SL_RETURN_IF_ERROR(WriteAnalysis(store, missing, root / kAnalysisFolder));
    if (HasFiles(root / kAnalysisFolder)) written.emplace_back(kAnalysisFolder);
  }
  const std::chrono::duration<double> spent = steady_clock::now() - start;
  std::string line = fmt::format("{} written in {:.2f} s: {} tasks, {} kernels, {} collectives",
                                 fmt::join(written, ", "), spent.count(), store.device_tasks.size(),
                                 store.kernels.size(), store.comm_ops.size());
  if (!store.issues.empty())
    line += "; some raw data is damaged or missing ('steplens info' lists it)";
  return line;
}

Result<std::string> DescribeProf(const std::string& folder, ThreadPool& pool) {
  SL_ASSIGN_OR_RETURN(const store::TraceStore store, ReadFolder(folder, pool));
  const auto fact = [&](std::string_view name) {
    return store.FindMeta(name).value_or(std::string_view("unknown"));
  };
  std::set<int64_t> devices(store.device_tasks.device.begin(), store.device_tasks.device.end());
  std::set<uint32_t> models;
  for (const uint32_t model : store.device_tasks.model_id) {
    if (model != ~uint32_t{0}) models.insert(model);
  }
  std::string text = fmt::format("{}\n  host       {}\n  chip       {}\n  devices    {}\n", folder,
                                 fact("hostName"), fact("npuName"), fmt::join(devices, ", "));
  text += fmt::format("  tasks      {}\n  kernels    {}\n", store.device_tasks.size(),
                      store.kernels.size());
  text += fmt::format("  models     {}\n",
                      models.empty() ? "none" : fmt::format("{}", fmt::join(models, ", ")));
  text += fmt::format("  iterations {}\n", store.steps.size());
  return text;
}

int WriteAllProfResults(const std::vector<std::string>& folders, const ProfRequest& request,
                        size_t jobs) {
  ThreadPool pool(jobs);
  int exit_code = 0;
  for (const std::string& folder : folders) {
    const Result<std::string> line = WriteProfResults(folder, request, pool);
    if (line.ok()) {
      fmt::print("{}: {}\n", folder, *line);
      continue;
    }
    fmt::print(stderr, "steplens: {}: {}\n", folder, line.error().message);
    if (exit_code == 0) exit_code = ExitCode(line.error().code);
  }
  return exit_code;
}

}  // namespace steplens::cli
