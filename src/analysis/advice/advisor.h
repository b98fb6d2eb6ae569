#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/advice/blind.h"
#include "analysis/advice/finding.h"
#include "analysis/advice/rank_evidence.h"
#include "analysis/advice/rule.h"
#include "analysis/selection.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

struct AdvisorOptions {
  AdviceDimension dimension = AdviceDimension::kAll;
  Selection selection{};
  std::set<std::string> only{};  // names of rules; empty: all
  std::set<std::string> skip{};
  std::set<int64_t> ranks{};  // empty: all
  RuleSettings settings{};
  std::vector<AdviceContext::GraphDump> graphs{};
  const store::Job* baseline = nullptr;  // compare with these ranks; must outlive the call
  bool compares = true;                  // slow ranks with fast ones, or with the baseline
};

// What to change, and what a replay says it saves.
struct AdvisorReport {
  double step_ms = 0;
  double replay_error_percent = 0;
  bool is_trusted = false;
  std::vector<Finding> findings;  // the largest saving first
  // What all changes that can be replayed save together.
  double cumulative_saving_ms = 0;
  std::vector<Message> warnings;
  std::vector<Blindness> blind;
  // Whole tables beside the findings: the ranks side by side, comparisons.
  std::vector<table::Table> tables;
};

// kNotFound without a rank, kInvalidArgument for a rule that does not exist.
Result<AdvisorReport> RunAdvisor(const store::Job& job, const AdvisorOptions& options);

// "high", "medium", "low": by the share of the step that a finding saves.
std::string_view PriorityOf(const Finding& finding, double step_ms);

// {"schema":1,"step_ms":..,"replay_error_percent":..,"findings":[..],...}; texts in `language`.
std::string AdvisorJson(const AdvisorReport& report, Language language);
std::string AdvisorMarkdown(const AdvisorReport& report, Language language);
std::string AdvisorHtml(const AdvisorReport& report, Language language);
table::Table AdvisorTable(const AdvisorReport& report, Language language);
// The console's: priority, finding, saving, what to do first.
table::Table AdvisorSummary(const AdvisorReport& report, Language language);

// The workbook: all findings on the first sheet, then each table of details.
struct AdvisorWorkbook {
  std::vector<table::Table> tables;
  std::vector<std::string> names;  // of the sheets
};
AdvisorWorkbook AdvisorSheets(const AdvisorReport& report, Language language);

}  // namespace steplens::analysis
