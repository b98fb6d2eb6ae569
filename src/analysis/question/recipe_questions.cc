#include "analysis/question/recipe_questions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "analysis/cluster/recipe_tables.h"
#include "analysis/cluster/registry.h"

namespace steplens::analysis {
namespace {

// Options that are set or not, and one that only makes the reference's numbers.
constexpr std::array<std::string_view, 2> kSwitches = {"exclude_op_name", "full_matrix"};
constexpr std::string_view kReferenceOnly = "strict_reference";

bool IsSwitch(std::string_view option) {
  return std::find(kSwitches.begin(), kSwitches.end(), option) != kSwitches.end();
}

// "SlowOpStats" -> "slow_op_stats"; "P2PPairing" -> "p2p_pairing".
std::string SnakeCase(std::string_view name) {
  const auto is = [&](int (*kind)(int), size_t i) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins_word = i > 0 && is(std::isupper, i) && name[i - 1] != '_' &&
                             (is(std::islower, i - 1) || is(std::islower, i + 1));
    if (begins_word) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

std::string TableName(const std::string& question, std::string_view table) {
  constexpr std::string_view kPrefix = "cluster_";
  std::string name = SnakeCase(table);
  if (name != question && name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  return name;
}

table::Table Renamed(table::Table table, std::string name) {
  table::Table out(std::move(name));
  for (const table::Column& column : table.columns()) out.AddColumn(column);
  return out;
}

}  // namespace

std::vector<RecipeQuestion> RecipeQuestions() {
  std::vector<RecipeQuestion> out;
  for (const cluster::RecipeSpec& recipe : cluster::Recipes()) {
    if (recipe.needs_another_run || recipe.has_edits_only) continue;
    RecipeQuestion& question = out.emplace_back();
    question.name = recipe.name == "summary" ? "cluster_summary" : recipe.name;
    question.description = recipe.summary + ".";
    question.args = {"step"};
    for (const std::string& option : recipe.options) {
      if (option != kReferenceOnly) question.args.push_back(option);
    }
    question.recipe = &recipe;
  }
  return out;
}

Result<QuestionAnswer> AskRecipeQuestion(const RecipeQuestion& question, const QuestionArgs& args,
                                         const store::Job& job) {
  cluster::Options options;
  SL_ASSIGN_OR_RETURN(options.step, args.Step());
  for (const std::string& option : question.recipe->options) {
    if (!args.Has(option)) continue;
    SL_ASSIGN_OR_RETURN(std::string value, args.TextOr(option, ""));
    if (!IsSwitch(option) || (value != "0" && !value.empty()))
      options.values[option] = std::move(value);
  }
  SL_ASSIGN_OR_RETURN(cluster::Answer answer, AskRecipe(question.recipe->name, options, job));
  QuestionAnswer out;
  out.definition = "cluster." + question.recipe->name;
  for (cluster::ResultTable& result : answer.tables) {
    std::string name = TableName(question.name, result.table.name());
    out.tables.push_back(Renamed(std::move(result.table), std::move(name)));
  }
  for (std::string& note : answer.notes)
    out.warnings.push_back({"warning.note", {{"text", std::move(note)}}});
  return out;
}

}  // namespace steplens::analysis
