#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/advice/advisor.h"
#include "base/status.h"
#include "cli/command.h"

namespace steplens::cli {

std::vector<OptionSpec> AdvisorOptionSpecs();

// "a,b" -> {a, b}.
std::set<std::string> NamesInList(const std::string& list);

// The settings of the rules: the defaults, or the reference's, then the environment (STEPLENS_
// names before the reference's own), then --rules. Errors are usage errors.
Result<analysis::RuleSettings> ReadRuleSettings(const Arguments& arguments);

// Whether the environment forbids comparing ranks.
bool ForbidsComparison();

// Texts of compiled graphs below the folders of the ranks (--graph files by their suffix).
std::vector<analysis::AdviceContext::GraphDump> ReadGraphDumps(const store::Job& job);

// `advisor rules`: --list, --show RULE, --check FILE.
Result<int> RunAdvisorRules(const Arguments& arguments);

}  // namespace steplens::cli
