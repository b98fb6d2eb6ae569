#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "analysis/cluster/rank_facts.h"
#include "base/archive.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// The form results will take, where it changes what is computed.
enum class Form : uint8_t {
  kTables,  // tables only: captures as databases
  kFiles,   // captures as text: the text deliverables, where the recipe has some, else tables
  kFilesAndTables,  // both
};

// What a rank adds to a recipe's files: the text, which stays where it was rendered until the file
// is written, and an index of it, which travels to the root.
struct Rendered {
  std::string index;
  std::string text;
};

// A question asked of every rank and answered for the job: map over ranks, then reduce. Map is
// called for different ranks at once, in any process; Add and Finish on the root, rank by rank in
// ascending order. A recipe keeps what its answer needs, not what the ranks recorded.
class Recipe {
 public:
  virtual ~Recipe() = default;
  virtual std::string Map(const store::TraceStore& rank, const RankFacts& facts) const = 0;
  // The text that a rank of text captures adds to the recipe's files, from its part: worked out
  // where the rank is mapped, so that nothing but saying where texts go is left for the root. Like
  // Map in all else. Nothing by default, and without it the files are the same.
  virtual std::optional<Rendered> Render(const RankFacts& facts, std::string_view part) const {
    static_cast<void>(facts);
    static_cast<void>(part);
    return std::nullopt;
  }
  // False if the bytes are not a part of this recipe.
  virtual bool Add(const RankFacts& facts, std::string_view part) = 0;
  // What Render gave for the rank added last: the index, and the number and size of the text, by
  // which files refer to it (FilePiece).
  virtual void AddRendered(std::string_view index, uint64_t text, uint64_t text_size) {
    static_cast<void>(index);
    static_cast<void>(text);
    static_cast<void>(text_size);
  }
  virtual Result<Answer> Finish(Form form) = 0;
  // A way back to the timeline of a rank that was added, for the few that a finding is about: null
  // if it cannot be read, or is too long to be read for that. Set before Finish, where the captures
  // are at hand. Set before Map if parts are made for another machine: what Finish would look up
  // there goes into every part then. Shared, for some are read for this and others are at hand.
  using Timelines = std::function<std::shared_ptr<const store::TraceStore>(int64_t rank)>;
  virtual void SetTimelines(Timelines timelines) { static_cast<void>(timelines); }  // NOLINT
  // What the job is compared with (RecipeSpec::baseline_option), before the first rank is added.
  // The captures are gone afterwards.
  virtual void SetBaseline(const store::Job& baseline) { static_cast<void>(baseline); }
};

// The timelines of a job in memory, which outlives them.
inline Recipe::Timelines TimelinesInMemory(std::span<const store::TraceStore> ranks) {
  return [ranks](int64_t rank) -> std::shared_ptr<const store::TraceStore> {
    for (const store::TraceStore& one : ranks) {
      if (one.info.rank == rank) return {std::shared_ptr<const store::TraceStore>(), &one};
    }
    return nullptr;
  };
}

// A recipe whose part is a struct with Fields (base/archive.h).
template <typename Part>
class RecipeOf : public Recipe {
 public:
  std::string Map(const store::TraceStore& rank, const RankFacts& facts) const final {
    return ToBytes(MapWithFacts(rank, facts));
  }
  bool Add(const RankFacts& facts, std::string_view part) final {
    std::optional<Part> read = FromBytes<Part>(part);
    if (!read) return false;
    AddRank(facts, std::move(*read));
    return true;
  }

 protected:
  // One of the two: the second where the rank's groups or host matter.
  virtual Part MapRank(const store::TraceStore&) const { return {}; }
  virtual Part MapWithFacts(const store::TraceStore& rank, const RankFacts&) const {
    return MapRank(rank);
  }
  virtual void AddRank(const RankFacts& facts, Part part) = 0;
};

// What of a rank a recipe looks at.
struct Needs {
  bool timeline = false;
  bool communication = false;
  bool step_table = false;  // the step table, which is in every light capture: else the timeline
  bool calls = false;       // communication calls: of the timeline, else of the results
  bool others = false;      // memory and the other result files
};

struct RecipeSpec {
  std::string name;     // "hccl_sum"
  std::string folder;   // "HcclSum": where its csv files go
  std::string summary;  // one line
  Needs needs;
  std::vector<std::string> options;  // names of its own options: {"top_num"}
  bool is_part_of_mode = false;      // runs with "all" and the like, not by its own name
  std::string baseline_option{};     // the option that names the captures for SetBaseline
  bool has_files = true;             // no: others' files are written while it is finished
  bool needs_another_run = false;    // compares the captures with others
  bool has_edits_only = false;       // no tables: it adds to captures
  // An error (kInvalidArgument) if its options make no sense.
  std::function<Result<std::unique_ptr<Recipe>>(const Options&)> make;
};

// make() of a recipe that takes any options.
template <typename R>
Result<std::unique_ptr<Recipe>> MakeRecipe(const Options& options) {
  return std::unique_ptr<Recipe>(std::make_unique<R>(options));
}

}  // namespace steplens::analysis::cluster
