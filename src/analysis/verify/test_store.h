#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "analysis/testing/store_builder.h"
#include "analysis/verify/verify.h"

// Stores of a few lines for the tests of this folder.

namespace steplens::analysis::verify {

class TestStore : public StoreBuilder {
 public:
  TestStore() {
    store.info.source = store::Source::kAscendPt;
    store.info.format = store::Format::kText;
  }

  // A compute kernel or collective with a Step Id.
  void StepKernel(std::string_view name, std::string_view core, int64_t begin_ns, int64_t dur_ns,
                  int64_t step) {
    Kernel(name, name, core, begin_ns, begin_ns + dur_ns);
    store.kernels.step.Set(store.kernels.size() - 1, step);
  }

  // The result of one rule. Fails the test if there is no rule of that id.
  CheckResult Run(std::string_view id, const VerifyOptions& options = {}) const {
    for (CheckResult& result : VerifyRank(store, options)) {
      if (result.id == id) return std::move(result);
    }
    ADD_FAILURE() << "no rule " << id;
    return {};
  }
};

inline void ExpectHolds(const CheckResult& result, std::string_view detail) {
  EXPECT_EQ(result.state, CheckState::kHolds) << result.detail;
  EXPECT_EQ(result.detail, detail);
  EXPECT_TRUE(result.offending.empty());
}

inline void ExpectBroken(const CheckResult& result, std::string_view detail,
                         std::string_view first_row) {
  EXPECT_EQ(result.state, CheckState::kBroken);
  EXPECT_EQ(result.detail, detail);
  ASSERT_FALSE(result.offending.empty());
  EXPECT_EQ(result.offending.front(), first_row);
}

inline void ExpectNotApplicable(const CheckResult& result, std::string_view detail) {
  EXPECT_EQ(result.state, CheckState::kNotApplicable);
  EXPECT_EQ(result.detail, detail);
}

}  // namespace steplens::analysis::verify
