#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analysis/cluster/recipe.h"
#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis::cluster {

// One rank of a model: module ranges on the host, operators, and a stream for their kernels.
class ModelRank {
 public:
  explicit ModelRank(int64_t rank = 0) { b_.store.info.rank = rank; }

  void Range(std::string_view domain, std::string_view text, int64_t begin_ns, int64_t end_ns) {
    const store::SliceId slice = b_.Slice(marks_, begin_ns, end_ns, text);
    b_.store.markers.Append({.slice = slice, .event_type = 2, .domain = b_.Text(domain)});
  }
  // An operator of 10 ns on the host.
  void Op(std::string_view name, int64_t begin_ns) {
    b_.Slice(host_, begin_ns, begin_ns + 10, name, "cpu_op");
  }
  // What the operator that starts then launched.
  void Kernel(int64_t op_ns, std::string_view name, int64_t begin_ns, int64_t dur_ns,
              std::string_view types = "") {
    b_.Slice(stream_, begin_ns, begin_ns + dur_ns, name, "AI_CORE");
    b_.Flow("async_npu", host_, op_ns, stream_, begin_ns);
    b_.store.kernels.Append({.name = b_.Text(name),
                             .core = b_.Text("AI_CORE"),
                             .begin_ns = begin_ns,
                             .dur_ns = dur_ns,
                             .input_types = b_.Text(types)});
  }
  void Meta(std::string_view name, std::string_view value) {
    b_.store.meta.Append({b_.Text(name), b_.Text(value)});
  }
  StoreBuilder& builder() { return b_; }
  const store::TraceStore& store() const { return b_.store; }

 private:
  StoreBuilder b_;
  store::TrackId host_ = b_.ThreadOf("Python", "main");
  store::TrackId marks_ = b_.ThreadOf("MSTX", "main");
  store::TrackId stream_ = b_.ThreadOf("Ascend Hardware", "Stream 2");
};

inline Options CompatOptions() {
  Options options;
  options.compat = true;
  return options;
}

inline std::unique_ptr<Recipe> Make(const RecipeSpec& spec, const Options& options) {
  Result<std::unique_ptr<Recipe>> recipe = spec.make(options);
  EXPECT_TRUE(recipe.ok());
  return *std::move(recipe);
}

// The answer over one rank.
inline Answer Ask(Recipe& recipe, const ModelRank& rank) {
  const RankFacts facts = DescribeRank(rank.store());
  EXPECT_TRUE(recipe.Add(facts, recipe.Map(rank.store(), facts)));
  Result<Answer> answer = recipe.Finish(Form::kTables);
  EXPECT_TRUE(answer.ok());
  return *std::move(answer);
}

}  // namespace steplens::analysis::cluster
