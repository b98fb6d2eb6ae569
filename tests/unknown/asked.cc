#include "asked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "analysis/advice/advisor.h"
#include "analysis/cluster/registry.h"
#include "analysis/compare/compare_sheets.h"
#include "analysis/compare/pairs/compare_pair.h"
#include "analysis/compare/runs/compare_runs.h"
#include "analysis/compare/runs/run_recipe.h"
#include "analysis/complete/complete.h"
#include "analysis/explain/explain.h"
#include "analysis/question/question.h"
#include "base/testing/scratch_folder.h"
#include "cluster/database.h"
#include "export/export.h"
#include "export/prof/prof_export.h"
#include "open/open.h"
#include "readers/ascend_db/sqlite_file.h"
#include "readers/read_rank.h"

namespace steplens::unknown {
namespace {

namespace fs = std::filesystem;
using store::Job;
using store::TraceStore;

// kNone plus or minus a time or a size, in ns and in us: nothing of a capture is there.
bool IsNearNone(double value) {
  const double size = std::fabs(value);
  return (size >= 4.7e18 && size <= 1e19) || (size >= 4.7e15 && size <= 1e16);
}

// Since the epoch, in ns or ms: what is shown where the column is lost that says when a capture
// began.
bool IsEpochTime(double value) {
  const double size = std::fabs(value);
  return (size >= 1e18 && size <= 2.5e18) || (size >= 1e12 && size <= 2.5e12);
}

void AddAnswer(const std::string& name, const Result<analysis::QuestionAnswer>& answer,
               Answers& out) {
  if (!answer.ok()) return out.AddText(name, answer.error().message);
  for (const table::Table& table : answer->tables) out.Add(name, table);
  for (const analysis::Message& warning : answer->warnings)
    out.AddText(name, analysis::English(warning));
}

// Without arguments, of one rank, and of one step of it.
void AskQuestions(const Job& job, Answers& out) {
  const TraceStore& first = job.ranks.front();
  for (const analysis::Question& question : analysis::Questions()) {
    AddAnswer("question " + question.name, question.ask({}, job, {}), out);
    analysis::QuestionArgs args;
    for (const auto& [name, value] : {std::pair<std::string, int64_t>{"rank", first.info.rank},
                                      {"step", first.steps.size() > 0 ? first.steps.step[0] : 0}}) {
      const auto is_it = [&](const analysis::QuestionArg& arg) { return arg.name == name; };
      if (std::none_of(question.args.begin(), question.args.end(), is_it)) continue;
      args.values[name] = value;
      AddAnswer("question " + question.name + " of a " + name, question.ask(args, job, {}), out);
    }
  }
}

void AskRecipes(const Job& job, Answers& out) {
  using namespace analysis::cluster;
  for (const bool compat : {false, true}) {
    for (const RecipeSpec& spec : Recipes()) {
      Options options;
      options.compat = compat;
      Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
      if (!recipe.ok()) continue;  // needs an option
      for (const TraceStore& rank : job.ranks) {
        const RankFacts facts = DescribeRank(rank);
        (*recipe)->Add(facts, (*recipe)->Map(rank, facts));
      }
      const Result<Answer> answer = (*recipe)->Finish(Form::kTables);
      if (!answer.ok()) continue;
      for (const ResultTable& result : answer->tables)
        out.Add(spec.name + (compat ? " --compat" : ""), result.table);
      for (const std::string& note : answer->notes) out.AddText(spec.name, note);
    }
  }
}

void AskAdvisor(const Job& job, const Job* baseline, Answers& out) {
  const Result<analysis::AdvisorReport> report = analysis::RunAdvisor(job, {.baseline = baseline});
  if (!report.ok()) return;
  for (const table::Table& table : report->tables) out.Add("advisor", table);
  out.Add("advisor", analysis::AdvisorTable(*report, analysis::Language::kEnglish));
  out.AddText("advisor", analysis::AdvisorJson(*report, analysis::Language::kEnglish));
}

void AddExplanation(const Result<analysis::Explanation>& explanation, Answers& out) {
  if (!explanation.ok()) return;
  table::Table numbers("explain");
  numbers.AddColumn("ns", table::CellType::kInt);
  numbers.AddColumn("share", table::CellType::kDouble, 3);
  for (const analysis::Evidence& item : explanation->items) {
    numbers.AppendInt(0, item.ns);
    numbers.AppendDouble(1, item.share);
    out.AddText("explain", analysis::English(item.wording));
  }
  out.Add("explain", numbers);
  out.AddText("explain", analysis::English(explanation->verdict));
}

// Some slices of each rank, and the time before each.
void AskExplanations(const Job& job, Answers& out) {
  constexpr size_t kSlices = 60;
  for (uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    const TraceStore& store = job.ranks[rank];
    const size_t stride = store.slices.size() / kSlices + 1;
    const analysis::RankView facts(store);
    for (size_t i = 0; i < store.slices.size(); i += stride) {
      const store::SliceId slice{static_cast<uint32_t>(i)};
      const store::TrackId track = store.slices.track[i];
      AddExplanation(analysis::ExplainSlice(job, rank, slice, facts), out);
      AddExplanation(analysis::ExplainWait(job, rank, slice), out);
      const auto gap = analysis::FindGap(store, track, store.slices.begin_ns[i] - 1);
      if (gap.ok()) AddExplanation(analysis::ExplainGap(job, rank, track, *gap), out);
    }
  }
}

analysis::runs::RunSummary SummariseRun(const Job& job) {
  analysis::runs::RunSummaryRecipe recipe;
  for (const TraceStore& rank : job.ranks) {
    const analysis::cluster::RankFacts facts = analysis::cluster::DescribeRank(rank);
    recipe.Add(facts, recipe.Map(rank, facts));
  }
  return recipe.TakeSummary("run");
}

void AddDifferences(const std::vector<analysis::runs::Difference>& differences, Answers& out) {
  table::Table numbers("differences");
  for (const char* const name : {"contribution_ns", "a_calls", "b_calls", "a", "b", "change"})
    numbers.AddColumn(name, table::CellType::kDouble, 3);
  for (const analysis::runs::Difference& one : differences) {
    size_t column = 0;
    for (const double value : {one.contribution_ns, one.a_calls, one.b_calls, one.shift.a,
                               one.shift.b, one.shift.change})
      numbers.AppendDouble(column++, value);
  }
  out.Add("compare runs", numbers);
}

void AskComparisons(const Job& a, const Job& b, Answers& out) {
  const int64_t rank = a.ranks.front().info.rank;
  AddAnswer("compare pages", analysis::pairs::Compare({&a, rank}, {&b, rank}, {}), out);
  for (const bool compat : {false, true}) {
    analysis::compare::SheetOptions options;
    options.compat = compat;
    const analysis::RankView view_a(a.ranks.front());
    const analysis::RankView view_b(b.ranks.front());
    const auto sides = analysis::compare::CollectSides(view_a, view_b, options);
    if (!sides.ok()) continue;
    const auto result = analysis::compare::CompareSheets(*sides, options);
    if (!result.ok()) continue;
    for (const analysis::compare::ResultSheet& sheet : result->sheets)
      out.Add(compat ? "compare --compat" : "compare", analysis::compare::WithUniqueNames(sheet));
    if (result->summary) out.Add("compare", *result->summary);
    for (const analysis::Message& note : result->notes)
      out.AddText("compare", analysis::English(note));
  }
  const analysis::runs::RunSummary run_a = SummariseRun(a);
  const analysis::runs::RunSummary run_b = SummariseRun(b);
  AddDifferences(analysis::runs::AllDifferences(run_a, run_b), out);
}

// Every cell of every table of the databases in a folder.
void AddDatabases(const std::string& folder, Answers& out) {
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".db") continue;
    Result<readers::SqliteFile> db = readers::SqliteFile::Open(file.path().string());
    ASSERT_TRUE(db.ok()) << db.error().message;
    for (const std::string& name : db->tables()) {
      const Result<table::Table> table = cluster::ReadDbTable(file.path().string(), name);
      ASSERT_TRUE(table.ok()) << table.error().message;
      out.Add("export db", *table);
    }
  }
}

void AddFiles(const std::string& what, const ScratchFolder& folder, Answers& out) {
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder.path())) {
    if (!file.is_regular_file() || file.path().extension() == ".db") continue;
    const std::string name = fs::relative(file.path(), folder.path()).string();
    out.AddText(what + " " + file.path().filename().string(), folder.Read(name));
  }
}

void Export(const Job& job, Answers& out) {
  const TraceStore& rank = job.ranks.front();
  ScratchFolder text;
  ScratchFolder databases;
  ScratchFolder prof;
  ScratchFolder single;
  ThreadPool pool(1);
  ASSERT_TRUE(exporting::WriteDb(rank, {}, databases.path(), pool).ok());
  AddDatabases(databases.path(), out);
  ASSERT_TRUE(exporting::WriteText(rank, {}, text.path(), pool).ok());
  AddFiles("export", text, out);
  // What a capture lacks is an error of these.
  for (const auto metric :
       {exporting::StackMetric::kHostSelfTime, exporting::StackMetric::kDeviceSelfTime})
    (void)exporting::WriteStacks(rank, metric, single / "stacks.txt").ok();
  (void)exporting::WriteMemoryTimeline(rank, "NPU:0", single / "memory.json").ok();
  AddFiles("export", single, out);
  if (rank.device_tasks.size() == 0) return;  // the results of CANN's exporter are for its data
  const Status prof_text = exporting::WriteProfText(rank, "20260101000000", prof.path(), pool);
  ASSERT_TRUE(prof_text.ok()) << prof_text.error().message;
  const Status prof_db = exporting::WriteProfDb(rank, prof / "prof.db");
  ASSERT_TRUE(prof_db.ok()) << prof_db.error().message;
  AddFiles("export prof", prof, out);
  AddDatabases(prof.path(), out);
}

}  // namespace

void Answers::Add(const std::string& question, const table::Table& table) {
  for (const table::Column& column : table.columns()) {
    Extent& extent = largest_[question + ": " + table.name() + "." + column.name];
    const auto add = [&](double value) {
      extent.largest = std::max(extent.largest, std::fabs(value));
      extent.is_near_none = extent.is_near_none || IsNearNone(value);
    };
    for (const int64_t value : column.ints) {
      const bool is_none_of_db = value == std::numeric_limits<int64_t>::max();  // notifyId
      if (value != table::kNull && !is_none_of_db) add(static_cast<double>(value));
    }
    for (const double value : column.doubles) {
      if (std::isfinite(value)) add(value);
    }
    for (const std::string& text : column.texts) AddText(question + ": " + column.name, text);
  }
}

void Answers::AddText(const std::string& where, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const std::string_view digits = text.substr(at, end - at);
    const bool is_fraction = at > 0 && text[at - 1] == '.';
    if (digits.size() >= 13 && !is_fraction) long_numbers_.try_emplace(std::string(digits), where);
    at = std::max(end, at + 1);
  }
}

std::vector<std::string> Answers::Absurd(const Answers& sound) const {
  constexpr double kMore = 1e4;
  std::vector<std::string> out;
  for (const auto& [where, extent] : largest_) {
    const auto before = sound.largest_.find(where);
    const Extent usual = before == sound.largest_.end() ? Extent{} : before->second;
    const bool is_larger = extent.largest > kMore * std::max(usual.largest, 1e8);
    if ((is_larger && !IsEpochTime(extent.largest)) ||
        (extent.is_near_none && !usual.is_near_none)) {
      out.push_back(where + " = " + std::to_string(extent.largest) + " (" +
                    std::to_string(usual.largest) + ")");
    }
  }
  for (const auto& [number, where] : long_numbers_) {
    const bool is_time = (number.size() == 16 || number.size() == 19) && number < "4";
    const bool is_arrow = number.starts_with("46116860184273");  // ids of ours, from 2^62 on
    if (sound.long_numbers_.contains(number) || is_time || is_arrow) continue;
    if (number.size() >= 16 || number.starts_with("87960930")) out.push_back(where + ": " + number);
  }
  return out;
}

std::optional<Job> OpenSpoilt(const std::string& path, const Spoil& spoil) {
  if (!fs::exists(path)) return std::nullopt;
  // As open/ does it, with a fault between reading and completing.
  Result<opening::Captures> captures = opening::FindCaptures({path});
  if (!captures.ok()) return std::nullopt;
  ThreadPool pool(0);
  readers::ReadOptions options;
  options.pool = &pool;
  Job job;
  for (const opening::Capture& capture : captures->ranks) {
    Result<readers::RankRead> read = readers::ReadRank(capture.source, options);
    if (!read.ok()) continue;
    TraceStore& rank = job.ranks.emplace_back(std::move(read->store));
    spoil(rank);
    analysis::CompleteCapture(rank);
    rank.info.rank = capture.rank;
  }
  if (job.ranks.empty()) return std::nullopt;
  return job;
}

Answers AskEverything(const Job& job, const Job& sound) {
  Answers out;
  AskQuestions(job, out);
  AskRecipes(job, out);
  AskAdvisor(job, &sound, out);
  AskExplanations(job, out);
  AskComparisons(job, sound, out);
  AskComparisons(sound, job, out);
  Export(job, out);
  return out;
}

std::string CapturePath(std::string_view name) {
  if (name.empty()) return STEPLENS_SAMPLE_DIR;
  const char* const given = std::getenv("STEPLENS_SHARED");
  return (given != nullptr ? given : STEPLENS_SHARED_DIR) + ("/" + std::string(name));
}

std::vector<std::string> AbsurdAfter(const std::string& path, const Spoil& spoil) {
  static std::map<std::string, std::pair<Job, Answers>> known;
  const auto [place, is_new] = known.try_emplace(path);
  auto& [sound, usual] = place->second;
  if (is_new) {
    std::optional<Job> job = OpenSpoilt(path, [](TraceStore&) {});
    if (job) {
      sound = std::move(*job);
      usual = AskEverything(sound, sound);
    }
  }
  if (sound.ranks.empty()) return {};
  const std::optional<Job> spoilt = OpenSpoilt(path, spoil);
  if (!spoilt) return {"it cannot be read"};
  return AskEverything(*spoilt, sound).Absurd(usual);
}

}  // namespace steplens::unknown
