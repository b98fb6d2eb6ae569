#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/selection.h"
#include "analysis/text/message.h"
#include "analysis/whatif/edit.h"
#include "analysis/whatif/whatif.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// Edits as people give them; an empty list or text means no edit.
struct EditTexts {
  std::vector<std::string> scale{};
  std::vector<std::string> remove{};
  std::vector<std::string> overlap{};
  std::string network{};
  std::string host{};
  std::string balance{};
};
// In the order of the members. The first text that is wrong is the error.
Result<std::vector<Edit>> ParseEdits(const EditTexts& texts);
// What one would ask first of any capture.
std::vector<Edit> UsualEdits();

// The views of the ranks that are selected.
std::vector<RankView> ViewsOf(const store::Job& job, const Selection& selection);

// What a reader must know of a replay: that the graph is empty, or that it explains too little.
std::vector<Message> ReplayWarnings(const StepReplay& replay);

std::vector<table::Table> CriticalPathTables(const StepReplay& replay, size_t top);
std::vector<table::Table> WhatIfTables(const StepReplay& replay, std::span<const Edit> edits);

}  // namespace steplens::analysis
