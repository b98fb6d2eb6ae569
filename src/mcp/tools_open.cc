#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "analysis/advice/rank_evidence.h"
#include "analysis/summary/summary.h"
#include "mcp/rank_times.h"
#include "mcp/tool.h"
#include "open/open.h"

namespace steplens::mcp {
namespace {

namespace fs = std::filesystem;
using store::TraceStore;

// "10-12, 20": runs of consecutive numbers, a few of them.
std::string RunsText(const std::vector<int64_t>& numbers) {
  constexpr size_t kMostRuns = 6;
  std::string out;
  size_t runs = 0;
  for (size_t i = 0; i < numbers.size(); ++runs) {
    if (runs == kMostRuns) return out + ", ...";
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string StepsText(const std::vector<int64_t>& steps) {
  if (steps.empty()) return "no steps marked";
  return fmt::format("{} steps ({})", steps.size(), RunsText(steps));
}

std::string OriginText(const TraceStore& rank) {
  std::string out = fmt::format("{} {}", store::SourceName(rank.info.source),
                                store::FormatName(rank.info.format));
  if (!rank.info.level.empty()) out += " " + rank.info.level;
  return out;
}

std::string CountsText(const TraceStore& rank) {
  std::string out;
  for (const auto& [name, count] : analysis::Summarise(rank).counts) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, name);
  }
  return out.empty() ? "no rows" : out;
}

size_t CountProblems(const TraceStore& rank) {
  size_t out = 0;
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i)
    out += rank.issues.entry(static_cast<store::IssueKind>(i)).count > 0 ? 1 : 0;
  return out;
}

void AddProblems(const TraceStore& rank, Answer& answer) {
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto kind = static_cast<store::IssueKind>(i);
    const store::IssueLog::Entry& entry = rank.issues.entry(kind);
    if (entry.count == 0) continue;
    answer.Line(fmt::format("  problem: {} x {}; first: {}", entry.count,
                            store::GetIssueInfo(kind).text, entry.example));
  }
}

void AddNotes(const store::Job& job, Answer& answer) {
  for (const std::string& note : job.notes) answer.Line(fmt::format("note: {}", note));
  size_t lost = 0;
  for (const store::InputFile& file : job.ignored) lost += file.is_lost ? 1 : 0;
  if (lost == 0) return;
  const auto first = std::find_if(job.ignored.begin(), job.ignored.end(),
                                  [](const store::InputFile& file) { return file.is_lost; });
  answer.Line(fmt::format("not read: {} captures; first: {}: {}", lost, first->path, first->note));
}

bool LooksLikeCapture(const fs::path& path, bool is_folder) {
  const std::string name = path.filename().string();
  if (!is_folder) {
    return name.ends_with(".json.gz") || name.ends_with(".trace.json") ||
           name == "trace_view.json" || name.ends_with(".sqlite");
  }
  return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms") || name.starts_with("PROF_");
}

// What looks like a capture a few folders below a root, relative to it, with the folder around it.
std::vector<std::string> CapturesBelow(const std::string& root, const Captures& captures,
                                       const std::function<bool()>& should_stop) {
  constexpr int kMostDepth = 5;
  constexpr size_t kMostEntries = 20'000;
  std::vector<std::string> out;
  std::error_code error;
  size_t entries = 0;
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::end(at); at.increment(error)) {
    if (++entries > kMostEntries || should_stop()) break;
    const bool is_folder = at->is_directory(error);
    if (at.depth() >= kMostDepth) at.disable_recursion_pending();
    if (!LooksLikeCapture(at->path(), is_folder)) continue;
    if (is_folder) at.disable_recursion_pending();
    if (at->is_symlink(error) && !captures.Admit(at->path().string()).ok()) continue;
    out.push_back(at->path().lexically_relative(root).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Folders of several ranks stand for them.
std::vector<std::string> Gathered(const std::vector<std::string>& captures) {
  std::vector<std::string> out;
  for (size_t i = 0; i < captures.size();) {
    const fs::path parent = fs::path(captures[i]).parent_path();
    size_t end = i + 1;
    while (end < captures.size() && fs::path(captures[end]).parent_path() == parent) ++end;
    if (end - i > 1) {
      out.push_back(
          fmt::format("{} ({} captures)", parent.empty() ? "." : parent.string(), end - i));
    } else {
      out.push_back(captures[i]);
    }
    i = end;
  }
  return out;
}

Status ListCaptures(const ToolCall& call, Answer& answer) {
  constexpr size_t kMostListed = 40;
  for (const std::string& root : call.captures.roots()) {
    const std::vector<std::string> found =
        Gathered(CapturesBelow(root, call.captures, call.should_stop));
    answer.Line(fmt::format("below {}: {}", root,
                            found.empty() ? "nothing that looks like a capture"
                                          : fmt::format("{} captures", found.size())));
    for (size_t i = 0; i < std::min(found.size(), kMostListed); ++i) answer.Line("  " + found[i]);
    if (found.size() > kMostListed)
      answer.Line(fmt::format("  (and {} more)", found.size() - kMostListed));
  }
  answer.Line("open one: open {\"path\": \"...\"}");
  return {};
}

}  // namespace

Status RunOpen(const ToolCall& call, Answer& answer) {
  if (!call.args.Has("path")) return ListCaptures(call, answer);
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  const std::vector<TraceStore>& ranks = capture.job->ranks;
  std::vector<int64_t> numbers;
  size_t problems = 0;
  for (const TraceStore& rank : ranks) {
    numbers.push_back(rank.info.rank);
    problems += CountProblems(rank);
  }
  answer.Line(fmt::format("{}: {} rank{} ({}), {}, {}", capture.path, ranks.size(),
                          ranks.size() == 1 ? "" : "s", RunsText(numbers),
                          OriginText(ranks.front()),
                          StepsText(analysis::Summarise(ranks.front()).steps)));
  answer.Line(
      fmt::format("recorded on rank {}: {}", ranks.front().info.rank, CountsText(ranks.front())));
  AddRankTimes(RankTimesOf(capture), answer);
  if (problems > 0)
    answer.Line(fmt::format("{} kinds of problems in the input: `describe` lists them", problems));
  AddNotes(*capture.job, answer);
  answer.Line("next: findings");
  return {};
}

Status RunDescribe(const ToolCall& call, Answer& answer) {
  constexpr size_t kMostRanks = 8;
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> only, call.args.MaybeInt("rank"));
  if (only) {
    SL_ASSIGN_OR_RETURN([[maybe_unused]] const size_t index, capture.IndexOf(*only));
  }
  size_t shown = 0;
  for (const TraceStore& rank : capture.job->ranks) {
    if (only && rank.info.rank != *only) continue;
    if (++shown > kMostRanks) continue;
    const analysis::RankSummary summary = analysis::Summarise(rank);
    answer.Line(fmt::format("rank {}: {}, {}, {} to {} ns, {}", rank.info.rank, OriginText(rank),
                            StepsText(summary.steps), summary.extent.begin_ns,
                            summary.extent.end_ns, rank.info.path));
    answer.Line("  rows: " + CountsText(rank));
    size_t unused = 0;
    for (const store::InputFile& file : rank.info.files) unused += file.used ? 0 : 1;
    answer.Line(
        fmt::format("  files: {} used, {} not used", rank.info.files.size() - unused, unused));
    AddProblems(rank, answer);
  }
  if (shown > kMostRanks)
    answer.Line(fmt::format("({} more ranks; name one with `rank`)", shown - kMostRanks));
  AddNotes(*capture.job, answer);
  answer.Query("SELECT * FROM ranks");
  return {};
}

}  // namespace steplens::mcp
