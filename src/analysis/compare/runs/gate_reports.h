#pragma once

#include <string>
#include <string_view>

#include "analysis/compare/runs/compare_runs.h"
#include "analysis/compare/runs/gate.h"

namespace steplens::analysis::runs {

// The gate as a JUnit test suite: a test case per rule. Rules that cannot be decided or match
// nothing are skipped; with `is_strict` they fail.
std::string ToJunit(const GateOutcome& gate, std::string_view base, std::string_view run,
                    bool is_strict);

// The comparison and the gate as a page of Markdown, for a job's summary or a comment.
std::string ToMarkdown(const GateOutcome& gate, const RunComparison& comparison,
                       std::string_view base, std::string_view run);

}  // namespace steplens::analysis::runs
