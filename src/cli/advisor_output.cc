#include "cli/advisor_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/system_error.h"
#include "table/xlsx.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;
using analysis::AdvisorReport;

// "20261118171500", as the name of the report has it.
std::string ReportTime() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Status MakeReportFolder(const fs::path& folder) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot be created: {}", folder.string(), error.message())};
  }
  if (is_new) fs::permissions(folder, fs::perms(0750), error);
  return {};
}

// A time, or a time and a number, that no other run uses: the first report is made empty, and
// whoever finds it takes the next number.
Result<std::string> TakeReportTime(const fs::path& folder, const std::string& extension) {
  const std::string time = ReportTime();
  constexpr int kMostRuns = 1000;
  for (int n = 1; n < kMostRuns; ++n) {
    const std::string name = n == 1 ? time : fmt::format("{}_{}", time, n);
    const std::string path = (folder / fmt::format("mstt_advisor_{}.{}", name, extension)).string();
    const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640);
    if (file >= 0) {
      ::close(file);
      return name;
    }
    if (errno != EEXIST) {
      const std::error_code failure(errno, std::generic_category());
      return Error{ErrorCode::kIo,
                   fmt::format("{}: cannot be written: {}", path, failure.message())};
    }
  }
  return Error{ErrorCode::kIo, fmt::format("{}: too many reports of one second", folder.string())};
}

Status WriteText(const std::string& path, const std::string& text) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Commit();
}

Status WriteWorkbook(const AdvisorReport& report, analysis::Language language,
                     const std::string& path) {
  const analysis::AdvisorWorkbook book = analysis::AdvisorSheets(report, language);
  std::vector<table::Sheet> sheets;
  for (size_t i = 0; i < book.tables.size(); ++i)
    sheets.push_back({.table = &book.tables[i], .name = book.names[i]});
  return table::WriteXlsx(path, sheets);
}

// The first kernels that rules want tuned, by name; empty where none does.
std::string TuningFile(const AdvisorReport& report) {
  constexpr size_t kMostNames = 10;
  std::vector<std::string> names;
  for (const analysis::Finding& finding : report.findings) {
    if (finding.rule != analysis::RuleId::kBlockDim && finding.rule != analysis::RuleId::kNoBound)
      continue;
    for (const table::Table& details : finding.details) {
      const table::Column* column = details.Find("op_name");
      if (column == nullptr) continue;
      for (const std::string& name : column->texts) {
        if (names.size() < kMostNames && std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
      }
    }
  }
  if (names.empty()) return {};
  JsonWriter json;
  json.BeginObject().Key("tune_ops_name").BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace

Result<std::vector<std::string>> WriteAdvisorReports(const AdvisorReport& report,
                                                     const std::set<std::string>& formats,
                                                     analysis::Language language,
                                                     const std::string& folder) {
  std::vector<std::string> paths;
  if (formats.empty() || formats.contains("none")) return paths;
  const fs::path out(folder);
  const bool has_book = formats.contains("xlsx");
  const fs::path log = out / "log";
  SL_RETURN_IF_ERROR(MakeReportFolder(has_book ? log : out));
  const std::string& first = *formats.begin();
  SL_ASSIGN_OR_RETURN(const std::string time, TakeReportTime(first == "xlsx" ? log : out, first));
  for (const std::string& format : formats) {
    const fs::path place = format == "xlsx" ? log : out;
    const std::string path = (place / fmt::format("mstt_advisor_{}.{}", time, format)).string();
    if (format == "xlsx") {
      SL_RETURN_IF_ERROR(WriteWorkbook(report, language, path));
    } else {
      SL_RETURN_IF_ERROR(WriteText(path, format == "html" ? analysis::AdvisorHtml(report, language)
                                         : format == "md"
                                             ? analysis::AdvisorMarkdown(report, language)
                                             : analysis::AdvisorJson(report, language)));
    }
    paths.push_back(path);
  }
  if (const std::string tuning = TuningFile(report); !tuning.empty()) {
    paths.push_back((out / fmt::format("operator_tuning_file_{}.cfg", time)).string());
    SL_RETURN_IF_ERROR(WriteText(paths.back(), tuning));
  }
  return paths;
}

}  // namespace steplens::cli
