// Parts of ranks travel as files, and a checksum that fits says nothing about who made them. Each
// recipe gets parts that differ from sound ones in any byte: it refuses them or answers, and never
// reads beside its tables, which the sanitizers watch.
#include <gtest/gtest.h>

#include <new>
#include <random>

#include "analysis/cluster/registry.h"
#include "open/open.h"

namespace steplens {
namespace {

using namespace analysis::cluster;

constexpr size_t kChangesPerRecipe = 60;

std::string Changed(std::string part, std::mt19937& random) {
  constexpr char kBytes[] = {'\0', '\1', '\x7f', '\x80', '\xff'};
  const size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes && !part.empty(); ++i) {
    const size_t at = random() % part.size();
    switch (random() % 3) {
      case 0:
        part[at] = kBytes[random() % std::size(kBytes)];
        break;
      case 1:
        part[at] = static_cast<char>(part[at] ^ (1 << random() % 8));
        break;
      default:
        part[at] = static_cast<char>(part[at] + 1);
    }
  }
  return part;
}

TEST(ForeignParts, AreRefusedOrAnswered) {
  const Result<store::Job> job = opening::OpenJob({STEPLENS_SAMPLE_DIR}, {.use_cache = false});
  ASSERT_TRUE(job.ok()) << job.error().message;
  std::mt19937 random(19);
  size_t refused = 0;
  size_t answered = 0;
  for (const RecipeSpec& spec : Recipes()) {
    for (size_t change = 0; change < kChangesPerRecipe; ++change) {
      Result<std::unique_ptr<Recipe>> recipe = spec.make({});
      if (!recipe.ok()) break;  // needs an option
      for (const store::TraceStore& rank : job->ranks) {
        const RankFacts facts = DescribeRank(rank);
        const std::string part = (*recipe)->Map(rank, facts);
        try {
          (*recipe)->Add(facts, Changed(part, random)) ? ++answered : ++refused;
        } catch (const std::bad_alloc&) {  // a sentence and an exit code of its own
          ++refused;
        }
      }
      try {
        [[maybe_unused]] const Result<Answer> answer = (*recipe)->Finish(Form::kTables);
      } catch (const std::bad_alloc&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(answered, 0u);
}

}  // namespace
}  // namespace steplens
