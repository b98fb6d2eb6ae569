#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/advice/advisor.h"
#include "analysis/advice/rule.h"
#include "analysis/whatif/test_step.h"

namespace steplens::analysis {

// What one rule finds in a job; the savings are those of a replay.
struct TestAdvice {
  TestAdvice(store::Job of_job, RuleId rule, RuleSettings settings = {})
      : job(std::move(of_job)), report(*RunAdvisor(job, Only(rule, std::move(settings)))) {}
  TestAdvice(StoreBuilder& rank, RuleId rule, RuleSettings settings = {})
      : TestAdvice(rank.Job(), rule, std::move(settings)) {}

  static AdvisorOptions Only(RuleId rule, RuleSettings settings) {
    AdvisorOptions options;
    options.only = {std::string(RuleName(rule))};
    options.settings = std::move(settings);
    return options;
  }

  size_t count() const { return report.findings.size(); }
  const Finding& first() const { return report.findings.at(0); }
  double SavedUs() const { return first().saving->ms.value() * 1000; }

  store::Job job;
  AdvisorReport report;
};

}  // namespace steplens::analysis
