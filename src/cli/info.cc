#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/summary/summary.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/recording_check.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

using store::IssueKind;

void WriteFiles(JsonWriter& json, const std::vector<store::InputFile>& files) {
  json.BeginArray();
  for (const store::InputFile& file : files) {
    json.BeginObject();
    json.Key("path").String(file.path).Key("size_bytes").Int(static_cast<int64_t>(file.size_bytes));
    json.Key("used").Bool(file.used);
    if (!file.used) json.Key("reason").String(file.note);
    json.EndObject();
  }
  json.EndArray();
}

void WriteIssues(JsonWriter& json, const store::IssueLog& issues) {
  json.BeginArray();
  for (size_t i = 0; i < static_cast<size_t>(IssueKind::kCount); ++i) {
    const store::IssueLog::Entry& entry = issues.entry(static_cast<IssueKind>(i));
    if (entry.count == 0) continue;
    const store::IssueInfo& info = store::GetIssueInfo(static_cast<IssueKind>(i));
    json.BeginObject();
    json.Key("name").String(info.name).Key("severity").String(store::SeverityName(info.severity));
    json.Key("count").Int(static_cast<int64_t>(entry.count)).Key("example").String(entry.example);
    json.Key("text").String(info.text).EndObject();
  }
  json.EndArray();
}

void WriteRank(JsonWriter& json, const store::TraceStore& rank) {
  const analysis::RankSummary summary = analysis::Summarise(rank);
  json.BeginObject();
  json.Key("rank").Int(rank.info.rank);
  json.Key("source").String(store::SourceName(rank.info.source));
  json.Key("format").String(store::FormatName(rank.info.format));
  json.Key("level");
  rank.info.level.empty() ? json.Null() : json.String(rank.info.level);
  if (const std::string ended = HowItEnded(rank); !ended.empty()) json.Key("ended").String(ended);
  json.Key("counts").BeginObject();
  for (const auto& [name, count] : summary.counts) json.Key(name).Int(static_cast<int64_t>(count));
  json.EndObject();
  json.Key("steps").BeginArray();
  for (const int64_t step : summary.steps) json.Int(step);
  json.EndArray();
  json.Key("begin_ns").Int(summary.extent.begin_ns);
  json.Key("end_ns").Int(summary.extent.end_ns);
  json.Key("path").String(rank.info.path);
  if (const std::string lost = LostWhileRecording(rank); !lost.empty()) {
    json.Key("lost").String(lost);
  }
  json.Key("files");
  WriteFiles(json, rank.info.files);
  json.Key("issues");
  WriteIssues(json, rank.issues);
  json.EndObject();
}

std::string ToJson(const store::Job& job) {
  JsonWriter json;
  json.BeginObject().Key("ranks").BeginArray();
  for (const store::TraceStore& rank : job.ranks) {
    json.NewLine();
    WriteRank(json, rank);
  }
  json.EndArray().Key("ignored");
  WriteFiles(json, job.ignored);
  return json.EndObject().NewLine().Take();
}

// "10-12, 20": runs of consecutive numbers.
std::string StepText(const std::vector<int64_t>& steps) {
  if (steps.empty()) return "none marked";
  std::string out;
  for (size_t i = 0; i < steps.size();) {
    size_t last = i;
    while (last + 1 < steps.size() && steps[last + 1] == steps[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out += last == i ? fmt::format("{}", steps[i]) : fmt::format("{}-{}", steps[i], steps[last]);
    i = last + 1;
  }
  return out;
}

// A path as it is seen from the folder `from` or from beside it; else as it is.
std::string SeenFrom(const std::string& from, const std::string& path) {
  const auto normal = [](const std::string& p) { return fs::path(p).lexically_normal(); };
  const std::string relative = normal(path).lexically_relative(normal(from)).string();
  const bool is_near = !relative.empty() && relative != "." && !relative.starts_with("../..");
  return from.empty() || !is_near ? path : relative;
}

// "hccl_#_#.json": what the names of a series of files have in common.
std::string SeriesOf(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) out += c;
    if (is_digit && !out.ends_with('#')) out += '#';
  }
  return out;
}

// How many files from `first` on are left out for the same reason and have names of one series.
size_t CountAlike(const std::vector<store::InputFile>& files, size_t first) {
  const std::string series = SeriesOf(files[first].path);
  size_t last = first;
  while (last < files.size() && !files[last].used && files[last].note == files[first].note &&
         SeriesOf(files[last].path) == series) {
    ++last;
  }
  return last - first;
}

void AppendFiles(std::string& out, const std::vector<store::InputFile>& files,
                 const std::string& from) {
  constexpr size_t kWidest = 80;
  constexpr size_t kLongestSeries = 3;  // shown one by one
  size_t width = 52;
  for (const store::InputFile& file : files)
    width = std::max(width, std::min(SeenFrom(from, file.path).size(), kWidest));
  for (size_t i = 0; i < files.size(); ++i) {
    const store::InputFile& file = files[i];
    std::string path = SeenFrom(from, file.path);
    if (file.used) {
      out += fmt::format("    {:<{}} {:>12.1f} KB\n", path, width,
                         static_cast<double>(file.size_bytes) / 1e3);
      continue;
    }
    std::string_view note = file.note;
    if (note.starts_with(file.path + ": ")) note.remove_prefix(file.path.size() + 2);
    if (const size_t alike = CountAlike(files, i); alike > kLongestSeries) {
      path += fmt::format(" and {} more", alike - 1);
      i += alike - 1;
    }
    out += fmt::format("    {:<{}} left out: {}\n", path, width, note);
  }
}

void AppendRank(std::string& out, const store::TraceStore& rank) {
  const analysis::RankSummary summary = analysis::Summarise(rank);
  out += fmt::format("Rank {}: {} ({}{}{})  {}\n", rank.info.rank,
                     store::SourceName(rank.info.source), store::FormatName(rank.info.format),
                     rank.info.level.empty() ? "" : ", ", rank.info.level, rank.info.path);
  if (const std::string ended = HowItEnded(rank); !ended.empty()) {
    out += fmt::format("  ended:  {}\n", ended);
  }
  out += "  rows:  ";
  for (const auto& [name, count] : summary.counts) out += fmt::format(" {} {},", count, name);
  out.back() = '\n';
  out += fmt::format("  steps:  {}\n", StepText(summary.steps));
  const store::Extent& extent = summary.extent;
  out += extent.begin_ns == 0 && extent.end_ns == 0
             ? "  time:   unknown, no event has a time\n"
             : fmt::format("  time:   {:.3f} ms, from {} ns\n",
                           static_cast<double>(extent.end_ns - extent.begin_ns) / 1e6,
                           extent.begin_ns);
  if (const std::string lost = LostWhileRecording(rank); !lost.empty()) {
    out += fmt::format("  lost:   {}\n", lost);
  }
  out += "  files:\n";
  AppendFiles(out, rank.info.files, rank.info.path);
  if (rank.issues.empty()) {
    out += "  issues: none\n";
    return;
  }
  out += "  issues:\n";
  for (size_t i = 0; i < static_cast<size_t>(IssueKind::kCount); ++i) {
    const store::IssueLog::Entry& entry = rank.issues.entry(static_cast<IssueKind>(i));
    if (entry.count == 0) continue;
    const store::IssueInfo& info = store::GetIssueInfo(static_cast<IssueKind>(i));
    out += fmt::format("    {} x {} ({}): {}\n      first: {}\n", entry.count, info.name,
                       store::SeverityName(info.severity), info.text, entry.example);
  }
}

std::string ToText(const store::Job& job) {
  std::string out;
  for (const store::TraceStore& rank : job.ranks) {
    if (!out.empty()) out += '\n';
    AppendRank(out, rank);
  }
  if (!job.ignored.empty()) {
    out += "\nNot part of any rank:\n";
    AppendFiles(out, job.ignored, "");
  }
  return out;
}

Result<int> RunInfo(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenQuietly(arguments));
  const std::string text = arguments.Has("--json") ? ToJson(job) : PrintableLines(ToText(job));
  SL_RETURN_IF_ERROR(PrintResult(text));
  return 0;
}

}  // namespace

CommandSpec InfoCommand() {
  CommandSpec spec;
  spec.summary = "Show what a profile contains, and its problems";
  spec.description =
      "For each rank: its source and level, the files used and not used with the reason, row "
      "counts, steps, time range, and the problems found while reading.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined({{.name = "--json", .help = "Print JSON"}}, InputOptions());
  spec.example = "steplens info examples/sample";
  spec.run = RunInfo;
  return spec;
}

}  // namespace steplens::cli
