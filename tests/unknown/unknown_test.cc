// What is not known is no number. Each column of each table loses values in turn, and no analysis,
// metric, recipe, check or export may then show a number that no capture can have: kNone is the
// smallest int64, and what is computed from it is out of all proportion.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "analysis/cluster/registry.h"
#include "analysis/complete/complete.h"
#include "analysis/question/question.h"
#include "analysis/viewer/metric.h"
#include "base/testing/scratch_folder.h"
#include "cluster/database.h"
#include "export/export.h"
#include "open/open.h"
#include "readers/ascend_db/sqlite_file.h"
#include "readers/read_rank.h"
#include "store/sound.h"

namespace steplens {
namespace {

namespace fs = std::filesystem;
using store::TraceStore;

// Whether a row loses its value in a column; columns are counted over all tables.
using IsLost = std::function<bool(size_t column, size_t row, size_t rows)>;

void Lose(TraceStore& rank, const IsLost& is_lost) {
  size_t number = 0;
  rank.ForEachTable([&](auto& table) {
    table.ForEachColumn([&](std::string_view name, std::string_view, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::Value;
      if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
        if (store::IsAlwaysKnown(table.kName, name)) return;  // guarded, see below
        for (size_t row = 0; row < column.size(); ++row) {
          if (is_lost(number, row, column.size())) column.Set(row, store::NotKnown<T>());
        }
        ++number;
      }
    });
  });
}

std::string SharedDir() {
  const char* given = std::getenv("STEPLENS_SHARED");
  return given != nullptr ? given : STEPLENS_SHARED_DIR;
}

using Spoil = std::function<void(TraceStore& rank)>;

std::optional<store::Job> Open(const std::string& path, const Spoil& spoil) {
  if (!fs::exists(path)) return std::nullopt;
  // As open/ does it, with a fault between reading and completing.
  Result<opening::Captures> captures = opening::FindCaptures({path});
  if (!captures.ok()) return std::nullopt;
  ThreadPool pool(0);
  readers::ReadOptions options;
  options.pool = &pool;
  store::Job job;
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

// The largest number of each column of each answer, and the long numbers in texts.
class Answers {
 public:
  void Add(const std::string& question, const table::Table& table) {
    for (const table::Column& column : table.columns()) {
      double& largest = largest_[question + ": " + table.name() + "." + column.name];
      for (const int64_t value : column.ints) {
        const bool is_none_of_db = value == std::numeric_limits<int64_t>::max();  // notifyId
        if (value != table::kNull && !is_none_of_db)
          largest = std::max(largest, std::fabs(static_cast<double>(value)));
      }
      for (const double value : column.doubles) {
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
      }
      for (const std::string& text : column.texts) AddText(question + ": " + column.name, text);
    }
  }
  void AddText(const std::string& where, std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      const std::string_view digits = text.substr(at, end - at);
      const bool is_fraction = at > 0 && text[at - 1] == '.';
      if (digits.size() >= 13 && !is_fraction)
        long_numbers_.try_emplace(std::string(digits), where);
      at = std::max(end, at + 1);
    }
  }

  std::vector<std::string> Absurd(const Answers& sound) const {
    constexpr double kMore = 1e4;
    std::vector<std::string> out;
    for (const auto& [where, largest] : largest_) {
      const auto before = sound.largest_.find(where);
      const double usual = before == sound.largest_.end() ? 0 : before->second;
      if (largest > kMore * std::max(usual, 1e8))
        out.push_back(where + " = " + std::to_string(largest) + " (" + std::to_string(usual) + ")");
    }
    for (const auto& [number, where] : long_numbers_) {
      const bool is_time = (number.size() == 16 || number.size() == 19) && number < "4";
      const bool is_arrow = number.starts_with("46116860184273");  // ids of ours, from 2^62 on
      if (sound.long_numbers_.contains(number) || is_time || is_arrow) continue;
      if (number.size() >= 16 || number.starts_with("87960930"))
        out.push_back(where + ": " + number);
    }
    return out;
  }

 private:
  std::map<std::string, double> largest_;
  std::map<std::string, std::string> long_numbers_;  // and where they are
};

void AskRecipes(const store::Job& job, Answers& out) {
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

void AskMetrics(const store::Job& job, Answers& out) {
  using namespace analysis::viewer;
  for (const MetricEntry& metric : Metrics()) {
    MetricArgs args;
    args.values.emplace("rank", job.ranks.front().info.rank);
    const Result<MetricAnswer> answer = ComputeMetric(metric.name, args, job);
    if (!answer.ok()) continue;
    for (const table::Table& table : answer->tables) out.Add("metric " + metric.name, table);
    for (const analysis::Message& warning : answer->warnings)
      out.AddText("metric " + metric.name, analysis::English(warning));
  }
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

void Export(const store::Job& job, Answers& out) {
  ScratchFolder scratch;
  ScratchFolder databases;
  ThreadPool pool(1);
  ASSERT_TRUE(exporting::WriteDb(job.ranks.front(), {}, databases.path(), pool).ok());
  AddDatabases(databases.path(), out);
  ASSERT_TRUE(exporting::WriteText(job.ranks.front(), {}, scratch.path(), pool).ok());
  for (const fs::directory_entry& file : fs::directory_iterator(scratch.path())) {
    if (file.is_regular_file())
      out.AddText("export " + file.path().filename().string(),
                  scratch.Read(file.path().filename().string()));
  }
}

Answers AskEverything(const store::Job& job) {
  Answers out;
  for (const analysis::Question& question : analysis::Questions()) {
    if (!question.args.empty()) continue;
    const Result<analysis::QuestionAnswer> answer = question.ask({}, job, {});
    if (!answer.ok()) continue;
    for (const table::Table& table : answer->tables) out.Add("question " + question.name, table);
  }
  AskMetrics(job, out);
  AskRecipes(job, out);
  Export(job, out);
  return out;
}

class NotKnown : public testing::TestWithParam<const char*> {
 protected:
  // What is out of proportion if every rank is spoilt after it was read.
  static std::vector<std::string> AbsurdAfter(const Spoil& spoil) {
    const std::string path =
        *GetParam() == '\0' ? STEPLENS_SAMPLE_DIR : SharedDir() + "/" + GetParam();
    const std::optional<store::Job> sound = Open(path, [](TraceStore&) {});
    if (!sound) return {};
    const std::optional<store::Job> spoilt = Open(path, spoil);
    if (!spoilt) return {"it cannot be read"};
    return AskEverything(*spoilt).Absurd(AskEverything(*sound));
  }
  static void ExpectNoAbsurdNumber(const IsLost& is_lost) {
    for (const std::string& absurd : AbsurdAfter([&](TraceStore& rank) { Lose(rank, is_lost); }))
      ADD_FAILURE() << absurd;
  }
};
// The sample of the project, and captures of the shared data where they are.
INSTANTIATE_TEST_SUITE_P(Captures, NotKnown,
                         testing::Values("", "data/ascend_pt/db/level1/rank0_ascend_pt",
                                         "data/kineto/hta/nccl_parser_config"));

TEST_P(NotKnown, OneValueOfEveryFifthRow) {
  ExpectNoAbsurdNumber([](size_t column, size_t row, size_t) {
    return row % 5 == 2 && (row / 5) % 7 == column % 7;
  });
}

TEST_P(NotKnown, TheFirstRowOfEveryTable) {
  ExpectNoAbsurdNumber([](size_t, size_t row, size_t) { return row == 0; });
}

TEST_P(NotKnown, TheLastRowOfEveryTable) {
  ExpectNoAbsurdNumber([](size_t, size_t row, size_t rows) { return row + 1 == rows; });
}

// The columns that are not spoilt above are those that analyses may compute with unasked. They have
// a guard instead: whatever store lacks such a value is not sound, and neither a reader nor the
// cache hands it out.
TEST_P(NotKnown, WhatIsComputedWithUnaskedIsAlwaysKnown) {
  const std::string path =
      *GetParam() == '\0' ? STEPLENS_SAMPLE_DIR : SharedDir() + "/" + GetParam();
  const auto nothing = [](TraceStore&) {};
  std::optional<store::Job> job = Open(path, nothing);
  if (!job) return;
  ThreadPool pool(1);
  for (TraceStore& rank : job->ranks) {
    EXPECT_EQ(store::FindUnsound(rank, pool), "");
    rank.ForEachTable([&](auto& table) {
      table.ForEachColumn([&](std::string_view name, std::string_view, auto& column) {
        using T = typename std::remove_reference_t<decltype(column)>::Value;
        if constexpr (std::is_same_v<T, int64_t>) {
          if (!store::IsAlwaysKnown(table.kName, name) || column.size() == 0) return;
          const size_t row = column.size() / 2;
          const int64_t before = column[row];
          column.Set(row, store::kNone);
          EXPECT_NE(store::FindUnsound(rank, pool), "") << table.kName << "." << name;
          column.Set(row, before);
        }
      });
    });
  }
}

// Values that are reported as unusable: tables that repeat the files show them, the summary does
// not use them.
TEST_P(NotKnown, AbsurdValuesTakeNoPartInTheSummary) {
  const auto spoil = [](TraceStore& rank) {
    if (rank.step_traces.size() > 0) rank.step_traces.computing_us.Set(0, 9e17);
    for (size_t i = 0; i < rank.comm_times.size(); i += 3) rank.comm_times.start_us.Set(i, 1e300);
  };
  for (const std::string& absurd : AbsurdAfter(spoil)) {
    if (absurd.starts_with("summary")) ADD_FAILURE() << absurd;
  }
}

}  // namespace
}  // namespace steplens
