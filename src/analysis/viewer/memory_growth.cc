#include <algorithm>
#include <map>
#include <vector>

#include "analysis/cells.h"
#include "analysis/memory/allocation_names.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// Memory that grows from step to step: what each step leaves behind, and who allocated it.

namespace steplens::analysis::viewer {
namespace {

using store::kNone;
using store::TraceStore;

double ToKb(int64_t bytes) { return RoundTo(static_cast<double>(bytes) / 1024, 2); }

// The blocks of one operator on one device.
struct Holder {
  std::vector<int64_t> held_bytes;  // at the end of each step
  std::vector<int64_t> held_blocks;
};

// Whether every step left more behind than the one before.
bool Grows(const std::vector<int64_t>& held) {
  return std::adjacent_find(held.begin(), held.end(), std::greater_equal<>()) == held.end();
}

}  // namespace

Result<MetricAnswer> MemoryGrowth(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  const store::AllocationTable& blocks = store->allocations;
  const std::vector<StepRange> steps = ComputeStepRanges(*store);
  const std::vector<std::string_view> names = AllocationNames(*store);
  std::map<std::pair<std::string_view, std::string_view>, Holder> holders;
  std::vector<int64_t> held(steps.size(), 0);
  std::vector<int64_t> allocated(steps.size(), 0);
  std::vector<int64_t> released(steps.size(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks.alloc_ns[i] == kNone || blocks.size_bytes[i] == kNone) continue;
    const int64_t size_bytes = blocks.size_bytes[i].value();
    Holder& holder = holders[{names[i], store->Text(blocks.device[i])}];
    holder.held_bytes.resize(steps.size(), 0);
    holder.held_blocks.resize(steps.size(), 0);
    for (size_t s = 0; s < steps.size(); ++s) {
      const auto is_inside = [&](int64_t ts_ns) {
        return ts_ns != kNone && ts_ns >= steps[s].host_begin_ns && ts_ns < steps[s].host_end_ns;
      };
      if (is_inside(blocks.alloc_ns[i])) allocated[s] = AddNs(allocated[s], size_bytes);
      if (is_inside(blocks.release_ns[i])) released[s] = AddNs(released[s], size_bytes);
      const int64_t end_ns = steps[s].host_end_ns;
      const bool is_live = blocks.alloc_ns[i] < end_ns &&
                           (blocks.release_ns[i] == kNone || blocks.release_ns[i] >= end_ns);
      if (!is_live) continue;
      held[s] = AddNs(held[s], size_bytes);
      holder.held_bytes[s] = AddNs(holder.held_bytes[s], size_bytes);
      ++holder.held_blocks[s];
    }
  }
  TableRows by_step("memory_growth", {IntColumn("step"), NumberColumn("allocated_kb", 2),
                                      NumberColumn("released_kb", 2), NumberColumn("held_kb", 2)});
  for (size_t s = 0; s < steps.size(); ++s) {
    by_step.Add(steps[s].step, ToKb(allocated[s]), ToKb(released[s]), ToKb(held[s]));
  }
  struct Candidate {
    std::string_view name, device;
    const Holder* holder;
    int64_t growth_bytes;
  };
  std::vector<Candidate> candidates;
  for (const auto& [key, holder] : holders) {
    if (steps.size() < 2 || !Grows(holder.held_bytes)) continue;
    candidates.push_back(
        {key.first, key.second, &holder, holder.held_bytes.back() - holder.held_bytes.front()});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.growth_bytes > b.growth_bytes; });
  TableRows leaks("leak_candidates",
                  {TextColumn("Name"), NumberColumn("growth_per_step_kb", 2),
                   NumberColumn("held_first_kb", 2), NumberColumn("held_last_kb", 2),
                   IntColumn("blocks_first"), IntColumn("blocks_last"), TextColumn("Device")});
  for (const Candidate& one : candidates) {
    const Holder& holder = *one.holder;
    leaks.Add(one.name, ToKb(one.growth_bytes / static_cast<int64_t>(steps.size() - 1)),
              ToKb(holder.held_bytes.front()), ToKb(holder.held_bytes.back()),
              holder.held_blocks.front(), holder.held_blocks.back(), one.device);
  }
  MetricAnswer answer;
  answer.definition = "steplens.memory_growth";
  answer.query = "SELECT name, size_bytes, alloc_ns, release_ns FROM allocations WHERE rank = " +
                 std::to_string(store->info.rank);
  if (steps.size() < 2) {
    answer.warnings.push_back(Message{"warning.few_steps_for_growth"});
  }
  answer.tables.push_back(leaks.Take());
  answer.tables.push_back(by_step.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
