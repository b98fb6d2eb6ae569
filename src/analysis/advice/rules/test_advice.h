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
  TestAdvice(store::Job of_job, RuleId rule)
      : job(std::move(of_job)), report(*RunAdvisor(job, {.only = {std::string(RuleName(rule))}})) {}
  TestAdvice(StoreBuilder& rank, RuleId rule) : TestAdvice(rank.Job(), rule) {}

  size_t count() const { return report.findings.size(); }
  const Finding& first() const { return report.findings.at(0); }
  double SavedUs() const { return first().saving->ms.value() * 1000; }

  store::Job job;
  AdvisorReport report;
};

}  // namespace steplens::analysis
