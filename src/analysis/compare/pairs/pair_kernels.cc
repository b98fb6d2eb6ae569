#include "analysis/compare/pairs/pair_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/cells.h"
#include "analysis/compare/collective_keys.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/time_math.h"

namespace steplens::analysis::pairs {
namespace {

using store::TraceStore;

// The longest rows, in the order they have.
std::vector<uint32_t> Longest(const SideKernels& side, size_t limit, bool& is_cut) {
  std::vector<uint32_t> rows = side.rows;
  if (rows.size() <= limit) return rows;
  is_cut = true;
  const auto& dur_ns = side.store->kernels.dur_ns;
  std::vector<uint32_t> by_length = rows;
  std::nth_element(by_length.begin(), by_length.begin() + static_cast<ptrdiff_t>(limit),
                   by_length.end(), [&](uint32_t x, uint32_t y) { return dur_ns[x] > dur_ns[y]; });
  const int64_t least_ns = dur_ns[by_length[limit]];
  std::erase_if(rows, [&](uint32_t row) { return dur_ns[row] <= least_ns; });
  return rows;
}

// The k-th kernel of each name: name -> rows.
std::map<std::string, std::vector<uint32_t>> ByName(const SideKernels& side,
                                                    const std::vector<uint32_t>& rows) {
  std::map<std::string, std::vector<uint32_t>> out;
  const std::map<StringId, std::string> keys = CollectiveKeys(*side.store);
  for (const uint32_t row : rows) {
    const StringId name = side.store->kernels.name[row];
    const auto key = keys.find(name);
    out[key == keys.end() ? std::string(side.store->Text(name)) : key->second].push_back(row);
  }
  return out;
}

std::vector<int64_t> DurationsOf(const SideKernels& side, const std::string& key,
                                 const std::string& core) {
  std::vector<int64_t> out;
  const store::KernelTable& kernels = side.store->kernels;
  for (const uint32_t row : side.rows) {
    const bool is_meant =
        side.store->Text(kernels.type[row]) == key || side.store->Text(kernels.name[row]) == key;
    if (is_meant && (core.empty() || side.store->Text(kernels.core[row]) == core))
      out.push_back(kernels.dur_ns[row]);
  }
  return out;
}

}  // namespace

SideKernels KernelsOfSide(const TraceStore& store, const CompareSide& side) {
  SideKernels out{&store, side.origin_ns, SelectKernels(store, {}, StepTest(store, side.step))};
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](uint32_t x, uint32_t y) {
    return store.kernels.begin_ns[x] < store.kernels.begin_ns[y];
  });
  return out;
}

table::Table SidesTable(const SideKernels& a, const SideKernels& b, const CompareSide& side_a,
                        const CompareSide& side_b) {
  TableRows rows("sides", {TextColumn("side"), IntColumn("rank"), IntColumn("step"),
                           IntColumn("begin_ns"), IntColumn("kernels")});
  const auto add = [&](const char* letter, const SideKernels& kernels, const CompareSide& side) {
    rows.Add(letter, side.rank, side.step.value_or(store::kNone),
             kernels.rows.empty() ? store::kNone : AddNs(kernels.begin_ns(), -kernels.origin_ns),
             kernels.rows.size());
  };
  add("A", a, side_a);
  add("B", b, side_b);
  return rows.Take();
}

table::Table MatchedTable(const SideKernels& a, const SideKernels& b, size_t limit, bool& is_cut) {
  TableRows out("matched", {TextColumn("name"), TextColumn("core"), IntColumn("a_start_ns"),
                            IntColumn("a_dur_ns"), IntColumn("b_start_ns"), IntColumn("b_dur_ns"),
                            NumberColumn("ratio", 3)});
  const auto cells = [](const SideKernels& side, const std::vector<uint32_t>* rows, size_t k) {
    if (rows == nullptr || k >= rows->size()) return std::pair{store::kNone, store::kNone};
    const uint32_t row = (*rows)[k];
    return std::pair<int64_t, int64_t>{SinceNs(side.store->kernels.begin_ns[row], side.begin_ns()),
                                       side.store->kernels.dur_ns[row]};
  };
  const auto of_a = ByName(a, Longest(a, limit, is_cut));
  const auto of_b = ByName(b, Longest(b, limit, is_cut));
  const auto add = [&](std::string_view name, const std::vector<uint32_t>* in_a,
                       const std::vector<uint32_t>* in_b) {
    const size_t count =
        std::max(in_a == nullptr ? 0 : in_a->size(), in_b == nullptr ? 0 : in_b->size());
    for (size_t k = 0; k < count; ++k) {
      const auto [a_start, a_dur] = cells(a, in_a, k);
      const auto [b_start, b_dur] = cells(b, in_b, k);
      const bool has_both = a_dur != store::kNone && b_dur != store::kNone && a_dur > 0;
      const SideKernels& side = a_dur != store::kNone ? a : b;
      const uint32_t row = a_dur != store::kNone ? (*in_a)[k] : (*in_b)[k];
      out.Add(name, side.store->Text(side.store->kernels.core[row]), a_start, a_dur, b_start, b_dur,
              has_both ? RoundTo(static_cast<double>(b_dur) / static_cast<double>(a_dur), 3)
                       : kNoNumber);
    }
  };
  for (const auto& [name, rows] : of_a) {
    const auto found = of_b.find(name);
    add(name, &rows, found == of_b.end() ? nullptr : &found->second);
  }
  for (const auto& [name, rows] : of_b) {
    if (!of_a.contains(name)) add(name, nullptr, &rows);
  }
  return out.Take();
}

table::Table HistogramTable(const SideKernels& a, const SideKernels& b, const std::string& key,
                            const std::string& core) {
  constexpr size_t kBins = 30;
  TableRows out("histogram", {NumberColumn("from_us", 3), NumberColumn("to_us", 3),
                              IntColumn("count_a"), IntColumn("count_b")});
  const std::vector<int64_t> sides[] = {DurationsOf(a, key, core), DurationsOf(b, key, core)};
  int64_t least_ns = INT64_MAX;
  int64_t most_ns = 0;
  for (const auto& side : sides) {
    for (const int64_t dur_ns : side) {
      least_ns = std::min(least_ns, dur_ns);
      most_ns = std::max(most_ns, dur_ns);
    }
  }
  if (least_ns > most_ns) return out.Take();
  // Bins of equal ratio: durations of one operator differ by factors.
  const double low = static_cast<double>(std::max<int64_t>(1, least_ns));
  const double step = std::log(std::max(static_cast<double>(most_ns) / low, 1.0001)) / kBins;
  std::vector<std::array<int64_t, 2>> counts(kBins, {0, 0});
  for (size_t side = 0; side < 2; ++side) {
    for (const int64_t dur_ns : sides[side]) {
      const double at = std::log(std::max(static_cast<double>(dur_ns), low) / low) / step;
      ++counts[std::min(kBins - 1, static_cast<size_t>(at))][side];
    }
  }
  for (size_t bin = 0; bin < kBins; ++bin) {
    const auto edge = [&](size_t at) {
      return low * std::exp(step * static_cast<double>(at)) / 1000;
    };
    out.Add(edge(bin), edge(bin + 1), counts[bin][0], counts[bin][1]);
  }
  return out.Take();
}

}  // namespace steplens::analysis::pairs
