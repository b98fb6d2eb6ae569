// Parts of ranks travel as files, and a checksum that fits says nothing about who made them. Each
// recipe gets parts and facts that differ from sound ones in any byte: it refuses them or answers,
// asks for no memory out of proportion, and never reads beside its tables, which the sanitizers
// watch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <random>

#include "analysis/cluster/registry.h"
#include "base/memory_limit.h"
#include "open/open.h"

// Where the sanitizers are, which know no limit of ours: no single piece of memory is this large.
extern "C" const char* __asan_default_options();   // NOLINT
extern "C" const char* __asan_default_options() {  // NOLINT
  return "max_allocation_size_mb=512:allocator_may_return_null=0";
}

namespace steplens {
namespace {

using namespace analysis::cluster;

constexpr uint64_t kMuchMemory = uint64_t{1} << 30;  // for two small ranks

size_t ChangesPerRecipe() {
  const char* const given = std::getenv("STEPLENS_CHANGES");
  return given != nullptr ? std::strtoul(given, nullptr, 10) : 60;
}

// A number as base/archive.h writes it, of any size: an id, or how many of something there are.
std::string AnyNumber(std::mt19937_64& random) {
  uint64_t value = random() >> random() % 64;
  if (random() % 4 == 0) value = ~value;
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out += static_cast<char>(value);
}

std::string Changed(std::string part, std::mt19937_64& random) {
  constexpr char kBytes[] = {'\0', '\1', '\x7f', '\x80', '\xff'};
  const size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes && !part.empty(); ++i) {
    const size_t at = random() % part.size();
    switch (random() % 6) {
      case 0:
        part[at] = kBytes[random() % std::size(kBytes)];
        break;
      case 1:
        part[at] = static_cast<char>(part[at] ^ (1 << random() % 8));
        break;
      case 2:
        part[at] = static_cast<char>(part[at] + 1);
        break;
      case 3:  // a double that is none, or as large as they come
        part.replace(
            at, 8, random() % 2 == 0 ? std::string(8, '\xff') : "\xff\xff\xff\xff\xff\xff\xef\x7f");
        break;
      default:
        part.replace(at, 1, AnyNumber(random));
    }
  }
  return part;
}

struct SoundPart {
  RankFacts facts;
  std::string part;
};

// Sound ranks and changed ones, as somebody's files may mix them. Returns how many were refused.
size_t Ask(const RecipeSpec& spec, const Options& options, const std::vector<SoundPart>& ranks,
           std::mt19937_64& random) {
  Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
  size_t refused = 0;
  uint64_t texts = 0;
  for (const SoundPart& rank : ranks) {
    std::string part = random() % 8 == 0 ? rank.part : Changed(rank.part, random);
    RankFacts facts = rank.facts;
    if (random() % 4 == 0) {
      const std::optional<RankFacts> changed =
          FromBytes<RankFacts>(Changed(ToBytes(facts), random));
      if (changed) facts = *changed;
      facts.rank = rank.facts.rank;  // which is that of the record
    }
    std::optional<Rendered> rendered = (*recipe)->Render(facts, part);
    if (!(*recipe)->Add(facts, part)) {
      ++refused;
    } else if (rendered && !rendered->index.empty()) {
      (*recipe)->AddRendered(rendered->index, texts++, rendered->text.size());
    }
  }
  const Form form = random() % 2 == 0 ? Form::kTables : Form::kFilesAndTables;
  [[maybe_unused]] const Result<Answer> answer = (*recipe)->Finish(form);
  return refused;
}

class ForeignParts : public testing::Test {
 protected:
  void SetUp() override { LimitMemory(kMuchMemory); }
  void TearDown() override { LimitMemory(0); }
};

TEST_F(ForeignParts, AreRefusedOrAnswered) {
  const Result<store::Job> job = opening::OpenJob({STEPLENS_SAMPLE_DIR}, {.use_cache = false});
  ASSERT_TRUE(job.ok()) << job.error().message;
  std::mt19937_64 random(19);
  size_t refused = 0;
  size_t asked = 0;
  for (const RecipeSpec& spec : Recipes()) {
    for (const bool compat : {false, true}) {
      Options options;
      options.compat = compat;
      Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
      if (!recipe.ok()) continue;  // needs an option
      std::vector<SoundPart> ranks;
      for (const store::TraceStore& rank : job->ranks) {
        const RankFacts facts = DescribeRank(rank);
        ranks.push_back({facts, (*recipe)->Map(rank, facts)});
      }
      for (size_t change = 0; change < ChangesPerRecipe(); ++change) {
        SCOPED_TRACE(spec.name + (compat ? " --compat" : "") + ", change " +
                     std::to_string(change));
        asked += ranks.size();
        ASSERT_NO_THROW(refused += Ask(spec, options, ranks, random));
      }
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(asked, refused);
}

}  // namespace
}  // namespace steplens
