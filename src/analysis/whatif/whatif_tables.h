#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/whatif/whatif.h"
#include "table/table.h"

namespace steplens::analysis {

// What the critical path is spent with, one row per class; times per step.
table::Table PathShareTable(const StepReplay& replay);
// Its largest parts: stretches of the same name, class and place in the code.
table::Table PathPartTable(const StepReplay& replay, size_t top);
// Its longest stretches on one thread or stream, in order of length.
table::Table PathChainTable(const StepReplay& replay, size_t top);
// Every piece of it, to be drawn on the timeline.
table::Table PathPieceTable(const StepReplay& replay);
// The longest nodes beside it, with how much longer each could take.
table::Table SlackTable(const StepReplay& replay, size_t top);

// One row per edit by itself, and one for all together.
table::Table WhatIfTable(const StepReplay& replay, std::span<const Edit> edits);
// One row per rank: its window as measured, replayed and with all edits.
table::Table ReplayTable(const StepReplay& replay);

// For a name in a table: of a slice, a collective, or what lies between operators.
std::string NodeName(const StepGraph& graph, const GraphNode& node, const RankView& rank);

}  // namespace steplens::analysis
