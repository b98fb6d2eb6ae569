#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/selection.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// Which rules are asked.
enum class AdviceDimension : uint8_t { kAll, kComputation, kSchedule };

struct AdvisorOptions {
  AdviceDimension dimension = AdviceDimension::kAll;
  Selection selection{};
  std::set<std::string> only{};  // names of rules; empty: all
  std::set<std::string> skip{};
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

}  // namespace steplens::analysis
