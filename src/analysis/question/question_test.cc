#include "analysis/question/question.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/cluster/registry.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

std::vector<std::string> ColumnNames(const table::Table& table) {
  std::vector<std::string> out;
  for (const table::Column& column : table.columns()) out.push_back(column.name);
  return out;
}

TEST(Questions, HaveANameASentenceAndTablesOfTheirOwn) {
  std::set<std::string> names;
  for (const Question& question : Questions()) {
    EXPECT_TRUE(names.insert(question.name).second) << question.name;
    EXPECT_TRUE(question.description.ends_with('.')) << question.name;
    EXPECT_FALSE(question.answer.empty()) << question.name;
    std::set<std::string> tables;
    for (const table::Table& table : question.answer) {
      EXPECT_TRUE(tables.insert(table.name()).second) << question.name << " " << table.name();
      EXPECT_FALSE(table.columns().empty()) << question.name << " " << table.name();
    }
  }
}

TEST(Questions, EveryArgumentIsExplained) {
  for (const Question& question : Questions()) {
    for (const QuestionArg& arg : question.args)
      EXPECT_FALSE(arg.doc.empty()) << question.name << " " << arg.name;
  }
}

// An argument given as its default says is as good as none.
TEST(Questions, DefaultsAreWhatCountsWithoutTheArgument) {
  StoreBuilder b;
  b.Slice(b.ThreadOf("python", "main"), 0, 10, "aten::mm", "cpu_op");
  const store::Job job = b.Job();
  for (const Question& question : Questions()) {
    const Result<QuestionAnswer> plain = question.ask({}, job, {});
    ASSERT_TRUE(plain.ok()) << question.name << ": " << plain.error().message;
    for (const QuestionArg& arg : question.args) {
      if (arg.default_text.empty()) continue;
      QuestionArgs args;
      args.values[arg.name] = arg.default_text;
      const Result<QuestionAnswer> given = question.ask(args, job, {});
      ASSERT_TRUE(given.ok()) << question.name << " " << arg.name << ": " << given.error().message;
      ASSERT_EQ(given->tables.size(), plain->tables.size()) << question.name;
      for (size_t i = 0; i < given->tables.size(); ++i)
        EXPECT_EQ(given->tables[i].rows(), plain->tables[i].rows()) << question.name;
    }
  }
}

TEST(Questions, HaveTheColumnsOfAnEmptyRankIfTheySaySo) {
  store::Job job;
  for (const store::Source source : {store::Source::kAscendPt, store::Source::kKineto}) {
    store::TraceStore& rank = job.ranks.emplace_back();
    rank.info.rank = static_cast<int64_t>(job.ranks.size()) - 1;
    rank.info.source = source;
    const bool is_gpu = source == store::Source::kKineto;
    rank.kernels.Append({.device = rank.info.rank,
                         .name = rank.strings.Intern("k"),
                         .core = rank.strings.Intern(is_gpu ? "kernel" : "AI_CORE"),
                         .begin_ns = 1,
                         .dur_ns = 2});
  }
  for (const Question& question : Questions()) {
    if (!question.has_fixed_columns) continue;
    QuestionArgs args;  // some tables come only with a rank
    for (const QuestionArg& arg : question.args) {
      if (arg.name == "rank") args.values["rank"] = int64_t{0};
    }
    const Result<QuestionAnswer> answer = question.ask(args, job, {});
    ASSERT_TRUE(answer.ok()) << question.name;
    ASSERT_EQ(answer->tables.size(), question.answer.size()) << question.name;
    for (size_t i = 0; i < question.answer.size(); ++i) {
      EXPECT_EQ(answer->tables[i].name(), question.answer[i].name()) << question.name;
      EXPECT_EQ(ColumnNames(answer->tables[i]), ColumnNames(question.answer[i]))
          << question.name << " " << question.answer[i].name();
    }
  }
}

TEST(Questions, HaveTheTablesThatOnlyAnAnswerAboutOneRankHas) {
  std::set<std::string> tables;
  for (const table::Table& table : FindQuestion("comm_durations")->answer)
    tables.insert(table.name());
  EXPECT_EQ(tables, (std::set<std::string>{"durations", "operators"}));
}

// A recipe is a question: the ranks of a call of 500 us, of which the second one came 405 us late.
TEST(AskQuestion, AsksRecipesOfAllRanks) {
  store::Job job;
  for (const int64_t rank : {0, 1}) {
    store::TraceStore& store = job.ranks.emplace_back();
    store.info.rank = rank;
    const int64_t dur_ns = rank == 0 ? 500'000 : 95'000;
    store.comm_ops.Append({.name = store.strings.Intern("hcom_allReduce__586_0_1"),
                           .group_name = store.strings.Intern("g"),
                           .begin_ns = 1'000'000 - dur_ns,
                           .dur_ns = dur_ns});
  }
  const Result<QuestionAnswer> answer = AskQuestion("slow_rank", {}, job);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->tables.size(), 3u);
  EXPECT_EQ(answer->tables[0].name(), "slow_rank");
  ASSERT_EQ(answer->tables[0].rows(), 1u);
  EXPECT_EQ(answer->tables[0].Find("rankId")->ints[0], 1);
  EXPECT_EQ(answer->tables[1].name(), "slow_op_stats");
  EXPECT_EQ(answer->tables[2].name(), "rank_wait");
  ASSERT_EQ(answer->warnings.size(), 1u);  // nobody says how many ranks the group has
  EXPECT_EQ(answer->warnings[0].key, "warning.note");
}

// All but those that compare two runs or change captures.
TEST(Questions, HaveTheRecipes) {
  std::set<std::string> names;
  for (const Question& question : Questions()) names.insert(question.name);
  for (const cluster::RecipeSpec& recipe : cluster::Recipes()) {
    const std::string name = recipe.name == "summary" ? "cluster_summary" : recipe.name;
    EXPECT_EQ(names.contains(name), !recipe.needs_another_run && !recipe.has_edits_only) << name;
  }
}

TEST(AskQuestion, NamesTheNearestQuestionAndArgument) {
  const store::Job job;
  EXPECT_EQ(AskQuestion("overvew", {}, job).error().message,
            "there is no question 'overvew'; did you mean 'overview'?");
  QuestionArgs args;
  args.values["tpo"] = int64_t{3};
  EXPECT_EQ(CheckArgs(*FindQuestion("overview"), args).error().message,
            "'overview' has no argument 'tpo'; did you mean 'top'?; arguments: rank, step, top");
}

}  // namespace
}  // namespace steplens::analysis
