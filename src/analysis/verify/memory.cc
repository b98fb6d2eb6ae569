#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/verify/checks.h"

namespace steplens::analysis::verify {
namespace {

// Totals of one component; what is not known counts as zero in sums.
struct Totals {
  int64_t allocated_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t active_bytes = 0;
};

Totals TotalsAt(const store::MemorySampleTable& samples, size_t row) {
  const auto value = [](int64_t bytes) { return bytes == store::kNone ? 0 : bytes; };
  return {value(samples.allocated_bytes[row]), value(samples.reserved_bytes[row]),
          value(samples.active_bytes[row])};
}

int64_t AddBytes(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? store::kNone : sum;
}

// Sizes are written as decimal MB: two roundings to whole bytes.
bool SameBytes(int64_t a, int64_t b) { return Distance(a, b) <= 2; }

std::string TotalsText(const Totals& totals) {
  return fmt::format("allocated {}, reserved {}, active {} bytes", totals.allocated_bytes,
                     totals.reserved_bytes, totals.active_bytes);
}

bool SameTotals(const Totals& a, const Totals& b) {
  return SameBytes(a.allocated_bytes, b.allocated_bytes) &&
         SameBytes(a.reserved_bytes, b.reserved_bytes) && SameBytes(a.active_bytes, b.active_bytes);
}

// The latest PTA and GE records of a device.
struct Latest {
  Totals pta;
  Totals ge;
  Totals Sum() const {
    return {AddBytes(pta.allocated_bytes, ge.allocated_bytes),
            AddBytes(pta.reserved_bytes, ge.reserved_bytes), pta.active_bytes};
  }
};

// Rows of CANN are no rows of the framework's allocator: named cann:: in text, without a stream in
// the db.
bool IsFrameworkRow(const Context& context, size_t row) {
  const store::AllocationTable& allocations = context.store.allocations;
  if (context.is_db()) return allocations.stream_ptr[row] != store::kNone;
  return !context.Text(allocations.name[row]).starts_with("cann::");
}

struct AllocatedAt {
  int64_t ts_ns;
  int64_t bytes;
  auto operator<=>(const AllocatedAt&) const = default;
};

std::vector<AllocatedAt> FrameworkTotals(const Context& context) {
  const store::MemorySampleTable& samples = context.store.memory_samples;
  std::vector<AllocatedAt> totals;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (context.Text(samples.component[i]) != "PTA") continue;
    totals.push_back({samples.ts_ns[i], samples.allocated_bytes[i]});
  }
  std::sort(totals.begin(), totals.end());
  return totals;
}

bool HasTotal(const std::vector<AllocatedAt>& totals, AllocatedAt wanted) {
  auto found =
      std::lower_bound(totals.begin(), totals.end(), AllocatedAt{wanted.ts_ns, store::kNone});
  for (; found != totals.end() && found->ts_ns == wanted.ts_ns; ++found) {
    if (SameBytes(found->bytes, wanted.bytes)) return true;
  }
  return false;
}

std::string AllocationText(const Context& context, size_t row) {
  return fmt::format("{} row {} ({})", context.Name("operator_memory", "OP_MEMORY"), row + 1,
                     context.Text(context.store.allocations.name[row]));
}

// The allocations of the framework by time, with their sizes.
std::vector<AllocatedAt> FrameworkAllocations(const Context& context) {
  const store::AllocationTable& allocations = context.store.allocations;
  std::vector<AllocatedAt> sizes;
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (!IsFrameworkRow(context, i)) continue;
    sizes.push_back({allocations.alloc_ns[i], allocations.size_bytes[i]});
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace

CheckResult CheckAllocationBalance(const Context& context) {
  Verdict verdict(context, "14.balance",
                  "Where PTA's total of memory_record rises, operator_memory has an allocation of "
                  "that size");
  const store::MemorySampleTable& samples = context.store.memory_samples;
  const std::vector<AllocatedAt> allocations = FrameworkAllocations(context);
  if (allocations.empty()) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("operator_memory", "OP_MEMORY")));
  }
  std::unordered_map<StringId, AllocatedAt> before;  // by device
  for (size_t i = 0; i < samples.size(); ++i) {
    if (context.Text(samples.component[i]) != "PTA") continue;
    const AllocatedAt now{samples.ts_ns[i], samples.allocated_bytes[i]};
    if (now.ts_ns == store::kNone || now.bytes == store::kNone) continue;
    const auto [last, is_first] = before.try_emplace(samples.device[i], now);
    const AllocatedAt rise{now.ts_ns, AddBytes(now.bytes, -last->second.bytes)};
    // Records of one moment may come in any order.
    const bool counts = now.ts_ns > last->second.ts_ns && rise.bytes > 0;
    last->second = now;
    if (!counts) continue;
    verdict.Row(HasTotal(allocations, rise), [&] {
      return fmt::format("{} row {}: {} more bytes at {}, no such allocation in {}",
                         context.Name("memory_record", "MEMORY_RECORD"), i + 1, rise.bytes,
                         UsText(rise.ts_ns), context.Name("operator_memory", "OP_MEMORY"));
    });
  }
  return verdict.Finish("allocations");
}

CheckResult CheckModuleSamples(const Context& context) {
  Verdict verdict(context, "memory.modules",
                  "Every sample of npu_module_mem has a row for each component");
  const store::ModuleMemoryTable& rows = context.store.module_memory;
  const std::string_view file = context.Name("npu_module_mem", "NPU_MODULE_MEM");
  if (rows.size() == 0) return verdict.NotApplicable(fmt::format("no {}", file));
  std::map<std::pair<StringId, int64_t>, std::set<StringId>> components;  // by device and time
  std::map<StringId, std::set<StringId>> all;                             // by device
  for (size_t i = 0; i < rows.size(); ++i) {
    components[{rows.device[i], rows.ts_ns[i]}].insert(rows.component[i]);
    all[rows.device[i]].insert(rows.component[i]);
  }
  for (const auto& [sample, found] : components) {
    const size_t expected = all[sample.first].size();
    verdict.Row(found.size() == expected, [&] {
      return fmt::format("{}: {} components at {}, expected {}", file, found.size(),
                         UsText(sample.second), expected);
    });
  }
  return verdict.Finish("samples");
}

CheckResult CheckMemorySums(const Context& context) {
  Verdict verdict(
      context, "14",
      "Each PTA or GE row of memory_record is followed by the PTA+GE row with their sum");
  const store::MemorySampleTable& samples = context.store.memory_samples;
  const std::string_view file = context.Name("memory_record", "MEMORY_RECORD");
  const bool has_sums = std::any_of(samples.component.begin(), samples.component.end(),
                                    [&](StringId id) { return context.Text(id) == "PTA+GE"; });
  if (!has_sums) return verdict.NotApplicable(fmt::format("no PTA+GE rows in {}", file));

  std::unordered_map<StringId, Latest> latest;  // by device
  constexpr size_t kNothing = static_cast<size_t>(-1);
  size_t open = kNothing;  // the row whose sum must come next
  const auto missing = [&] {
    return fmt::format("{} row {}: no PTA+GE row follows", file, open + 1);
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string_view component = context.Text(samples.component[i]);
    Latest& now = latest[samples.device[i]];
    if (component == "PTA" || component == "GE") {
      if (open != kNothing) verdict.Row(false, missing);
      (component == "PTA" ? now.pta : now.ge) = TotalsAt(samples, i);
      open = i;
    } else if (component == "PTA+GE") {
      const Totals found = TotalsAt(samples, i);
      const bool follows = open != kNothing && samples.ts_ns[open] == samples.ts_ns[i];
      verdict.Row(follows && SameTotals(found, now.Sum()), [&] {
        return fmt::format("{} row {}: {}, expected {}{}", file, i + 1, TotalsText(found),
                           TotalsText(now.Sum()),
                           follows ? "" : " after a PTA or GE row of its time");
      });
      open = kNothing;
    }
  }
  if (open != kNothing) verdict.Row(false, missing);
  return verdict.Finish("sums");
}

CheckResult CheckAllocationTotals(const Context& context) {
  Verdict verdict(
      context, "14.allocations",
      "Each framework row of operator_memory has its time and total in a PTA row of memory_record");
  const store::AllocationTable& allocations = context.store.allocations;
  const std::vector<AllocatedAt> totals = FrameworkTotals(context);
  if (allocations.size() == 0) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("operator_memory", "OP_MEMORY")));
  }
  if (totals.empty()) {
    return verdict.NotApplicable(
        fmt::format("no PTA rows in {}", context.Name("memory_record", "MEMORY_RECORD")));
  }
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (!IsFrameworkRow(context, i)) continue;
    const AllocatedAt wanted{allocations.alloc_ns[i], allocations.alloc_total_allocated_bytes[i]};
    if (wanted.ts_ns == store::kNone || wanted.bytes == store::kNone) continue;
    verdict.Row(HasTotal(totals, wanted), [&] {
      return fmt::format("{}: no PTA row at {} with {} bytes allocated", AllocationText(context, i),
                         UsText(wanted.ts_ns), wanted.bytes);
    });
  }
  return verdict.Finish("allocations");
}

CheckResult CheckAllocationDurations(const Context& context) {
  Verdict verdict(context, "14.duration",
                  "Durations of operator_memory are release minus allocation, exactly");
  const store::AllocationTable& allocations = context.store.allocations;
  if (allocations.size() == 0 || !context.has_result_tables()) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("operator_memory", "OP_MEMORY")));
  }
  const auto check = [&](size_t row, int64_t release_ns, int64_t dur_ns, std::string_view column) {
    if (release_ns == store::kNone || dur_ns == store::kNone) return;
    const int64_t alloc_ns = allocations.alloc_ns[row];
    if (alloc_ns == store::kNone) return;
    verdict.Row(
        Distance(release_ns, alloc_ns) == static_cast<uint64_t>(dur_ns) && release_ns >= alloc_ns,
        [&] {
          return fmt::format("{}: {} is {}, allocated at {}, released at {}",
                             AllocationText(context, row), column, UsText(dur_ns), UsText(alloc_ns),
                             UsText(release_ns));
        });
  };
  for (size_t i = 0; i < allocations.size(); ++i) {
    check(i, allocations.release_ns[i], allocations.dur_ns[i], "Duration");
    check(i, allocations.active_release_ns[i], allocations.active_dur_ns[i], "Active Duration");
  }
  return verdict.Finish("durations");
}

}  // namespace steplens::analysis::verify
