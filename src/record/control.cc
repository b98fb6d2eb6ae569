#include "record/control.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/private_folder.h"

namespace steplens::record {
namespace {

namespace fs = std::filesystem;

// Ranks look at the request once a step and report at most twice a second: a request must name a
// step that no rank can have begun before it reads it.
constexpr double kNoticeSeconds = 2.0;
constexpr int64_t kNoticeSteps = 2;

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

bool IsAlive(int64_t pid) {
  return pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

constexpr size_t kMaxControlFile = size_t{1} << 20;

// What is not trusted becomes a note.
std::optional<RankStatus> ReadStatus(const fs::path& path, std::vector<std::string>& notes) {
  const Result<std::string> bytes = ReadOwnFile(path.string(), kMaxControlFile);
  if (!bytes.ok()) {
    if (bytes.error().code == ErrorCode::kUnsupported) notes.push_back(bytes.error().message);
    return std::nullopt;
  }
  const Result<JsonDocument> document = JsonDocument::Parse(*bytes, path.string());
  if (!document.ok()) return std::nullopt;  // being written
  const JsonValue root = document->root();
  const auto text = [&](std::string_view key) {
    return std::string(root[key].AsString().value_or(""));
  };
  RankStatus status;
  const std::optional<int64_t> rank = root["rank"].AsInt();
  if (!rank) return std::nullopt;
  status.rank = *rank;
  status.host = text("host");
  status.pid = root["pid"].AsInt().value_or(0);
  status.step = root["step"].AsInt().value_or(0);
  status.step_seconds = root["step_seconds"].AsDouble().value_or(0);
  status.state = text("state");
  status.capture = text("capture");
  status.is_alive = status.host != HostName() || IsAlive(status.pid);
  return status;
}

Job ReadJob(const fs::path& folder) {
  Job job;
  job.name = folder.filename().string();
  job.folder = folder.string();
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("rank_") || entry.path().extension() != ".json") continue;
    if (std::optional<RankStatus> status = ReadStatus(entry.path(), job.notes))
      job.ranks.push_back(*status);
  }
  std::sort(job.ranks.begin(), job.ranks.end(),
            [](const RankStatus& a, const RankStatus& b) { return a.rank < b.rank; });
  return job;
}

bool IsOver(const Job& job) {
  return !job.ranks.empty() && std::none_of(job.ranks.begin(), job.ranks.end(),
                                            [](const RankStatus& rank) { return rank.is_alive; });
}

void RemoveJob(const Job& job) {
  std::error_code ignored;
  fs::remove_all(job.folder, ignored);
}

int64_t NextCommonStep(const std::vector<const RankStatus*>& ranks) {
  int64_t latest = 0;
  double fastest_s = 0;
  for (const RankStatus* rank : ranks) {
    latest = std::max(latest, rank->step);
    if (rank->step_seconds > 0 && (fastest_s == 0 || rank->step_seconds < fastest_s)) {
      fastest_s = rank->step_seconds;
    }
  }
  const auto notice =
      fastest_s > 0 ? static_cast<int64_t>(std::ceil(std::min(1e6, kNoticeSeconds / fastest_s)))
                    : int64_t{3};
  return latest + kNoticeSteps + notice;
}

Status WriteCommand(const Job& job, const Request& request, int64_t at_step) {
  const std::string path = job.folder + "/command.json";
  int64_t id = 1;
  if (const Result<std::string> text = ReadOwnFile(path, kMaxControlFile); text.ok()) {
    const Result<JsonDocument> last = JsonDocument::Parse(*text, path);
    if (last.ok()) id = last->root()["id"].AsInt().value_or(0) + 1;
  }
  JsonWriter json;
  json.BeginObject().Key("id").Int(id).Key("action").String(request.action).Key("ranks");
  if (request.ranks.empty()) {
    json.String("all");
  } else {
    json.BeginArray();
    for (const int64_t rank : request.ranks) json.Int(rank);
    json.EndArray();
  }
  json.Key("at_step").Int(at_step).Key("steps").Int(request.steps).EndObject();
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  file.MakePrivate();
  SL_RETURN_IF_ERROR(file.Write(json.text().data(), json.text().size()));
  return file.Commit();
}

}  // namespace

std::string JobsFolder() {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string folder = from("STEPLENS_JOBS"); !folder.empty()) return folder;
  if (const std::string folder = from("XDG_RUNTIME_DIR"); IsPrivateFolder(folder))
    return folder + "/steplens/jobs";
  // Homes may be shared between machines, and a process of another one cannot be asked for.
  const std::string home = from("HOME");
  return home.empty() ? "" : fmt::format("{}/.local/state/steplens/jobs/{}", home, HostName());
}

std::vector<Job> AllJobs(std::vector<std::string>* notes) {
  std::vector<Job> jobs;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(JobsFolder(), ignored)) {
    const std::string path = entry.path().string();
    if (IsPrivateFolder(path)) {
      jobs.push_back(ReadJob(path));
      if (notes != nullptr)
        notes->insert(notes->end(), jobs.back().notes.begin(), jobs.back().notes.end());
    } else if (notes != nullptr && entry.is_directory(ignored)) {
      notes->push_back(fmt::format(
          "{}: belongs to another user, or others may write to it; it is not used", path));
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.name < b.name; });
  return jobs;
}

// A name becomes a folder, so it may not leave the one it belongs in.
Status CheckJobName(const std::string& name) {
  const bool is_sound = !name.empty() && name.front() != '.' && name.size() < 200 &&
                        name.find('/') == std::string::npos;
  if (is_sound) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("'{}' cannot be the name of a job; use letters, digits, - and _", name)};
}

std::vector<const RankStatus*> AskedRanks(const Job& job, const Request& request) {
  std::vector<const RankStatus*> asked;
  for (const RankStatus& rank : job.ranks) {
    const bool is_asked =
        request.ranks.empty() ||
        std::find(request.ranks.begin(), request.ranks.end(), rank.rank) != request.ranks.end();
    if (is_asked && rank.is_alive) asked.push_back(&rank);
  }
  return asked;
}

void CloseJob(const Job& job) {
  const Job now = ReadJob(job.folder);
  const bool is_in_use =
      std::any_of(now.ranks.begin(), now.ranks.end(),
                  [](const RankStatus& rank) { return rank.is_alive && rank.state != "ended"; });
  if (!is_in_use) RemoveJob(job);
}

Result<Job> CreateJob(const std::string& name) {
  SL_RETURN_IF_ERROR(CheckJobName(name));
  for (const Job& job : AllJobs()) {
    if (IsOver(job)) RemoveJob(job);
  }
  const std::string jobs = JobsFolder();
  if (jobs.empty()) {
    return Error{ErrorCode::kNotFound,
                 "there is no private folder for it; set XDG_RUNTIME_DIR, HOME or STEPLENS_JOBS"};
  }
  SL_RETURN_IF_ERROR(MakePrivateFolder(jobs));
  const std::string folder = jobs + "/" + name;
  SL_RETURN_IF_ERROR(MakePrivateFolder(folder));  // perhaps another rank of this job made it
  if (!IsPrivateFolder(folder)) {
    return Error{ErrorCode::kUnsupported, fmt::format("{}: is a link; it is not used", folder)};
  }
  return ReadJob(folder);
}

Result<Job> FindJob(const std::string& name) {
  std::vector<Job> jobs = AllJobs();
  std::erase_if(jobs, [&name](const Job& job) {
    return name.empty() ? IsOver(job) || job.ranks.empty() : job.name != name;
  });
  if (jobs.size() == 1) return jobs.front();
  if (!name.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no job '{}' in {}; 'steplens record status' lists the jobs", name,
                             JobsFolder())};
  }
  if (jobs.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no job that can be steered runs here ({} has none); start one with "
                             "'steplens record -- program'",
                             JobsFolder())};
  }
  std::string names;
  for (const Job& job : jobs) names += (names.empty() ? "" : ", ") + job.name;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} jobs run here; choose one with --job: {}", jobs.size(), names)};
}

Result<int64_t> Send(const Job& job, const Request& request) {
  for (const int64_t rank : request.ranks) {
    const bool is_there =
        std::any_of(job.ranks.begin(), job.ranks.end(),
                    [rank](const RankStatus& status) { return status.rank == rank; });
    if (!is_there) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("job {} has no rank {}; 'steplens record status --job {}' lists "
                               "its ranks",
                               job.name, rank, job.name)};
    }
  }
  const std::vector<const RankStatus*> asked = AskedRanks(job, request);
  if (asked.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("job {} has no rank that runs and could answer", job.name)};
  }
  const int64_t earliest = NextCommonStep(asked);
  const int64_t at_step = request.at_step.value_or(earliest);
  if (at_step < earliest) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("step {} is too near for job {}: the first step that all ranks are "
                             "sure to see coming is {}",
                             at_step, job.name, earliest)};
  }
  SL_RETURN_IF_ERROR(WriteCommand(job, request, at_step));
  return at_step;
}

table::Table StatusTable(const Job& job) {
  table::Table table(job.name);
  const size_t rank = table.AddColumn("Rank", table::CellType::kInt);
  const size_t host = table.AddColumn("Host", table::CellType::kText);
  const size_t pid = table.AddColumn("Process", table::CellType::kInt);
  const size_t step = table.AddColumn("Step", table::CellType::kInt);
  const size_t seconds = table.AddColumn("Step Time(s)", table::CellType::kDouble);
  const size_t state = table.AddColumn("State", table::CellType::kText);
  const size_t capture = table.AddColumn("Capture", table::CellType::kText);
  for (const RankStatus& status : job.ranks) {
    table.AppendInt(rank, status.rank);
    table.AppendText(host, status.host);
    table.AppendInt(pid, status.pid);
    table.AppendInt(step, status.step);
    table.AppendDouble(seconds, status.step_seconds > 0 ? status.step_seconds : std::nan(""));
    table.AppendText(state, status.is_alive ? status.state : "ended");
    table.AppendText(capture, status.capture);
  }
  return table;
}

}  // namespace steplens::record
