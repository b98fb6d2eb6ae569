#include "analysis/compare/kernel_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/classify/collective_kernels.h"

namespace steplens::analysis::compare {
namespace {

using Key = std::pair<std::string, std::string>;

// Totals by key. Details of a kernel stand together, where it came first.
class KernelGroups {
 public:
  void Add(const Key& key, double us) {
    KernelTotals& totals = Group(key);
    totals.min_us = totals.count == 0 ? us : std::min(totals.min_us, us);
    totals.max_us = std::max(totals.max_us, us);
    totals.total_us += us;
    ++totals.count;
  }
  std::vector<KernelTotals> Take() {
    std::vector<KernelTotals> list;
    for (auto& kernel : kernels_) {
      for (KernelTotals& totals : kernel) {
        totals.avg_us = totals.total_us / static_cast<double>(totals.count);
        list.push_back(std::move(totals));
      }
    }
    return list;
  }

 private:
  KernelTotals& Group(const Key& key) {
    const auto [place, is_new_kernel] = kernel_index_.try_emplace(key.first, kernels_.size());
    if (is_new_kernel) kernels_.emplace_back();
    std::vector<KernelTotals>& details = kernels_[place->second];
    const auto [detail, is_new] = detail_index_.try_emplace(key, details.size());
    if (is_new) details.push_back({key.first, key.second, 0, 0, 0, 0, 0});
    return details[detail->second];
  }

  std::unordered_map<std::string, size_t> kernel_index_;
  std::map<Key, size_t> detail_index_;
  std::vector<std::vector<KernelTotals>> kernels_;
};

std::string Quoted(std::string_view shapes) {
  return shapes.empty() ? "N/A" : fmt::format("\"{}\"", shapes);
}

std::vector<KernelTotals> CollectGpuKernels(const Side& side) {
  KernelGroups groups;
  const store::KernelTable& kernels = side.store.kernels;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (!kernels.dur_ns[i].is_known() || !side.IsDeviceTime(kernels.begin_ns[i])) continue;
    groups.Add({std::string(side.store.Text(kernels.name[i])), "N/A"},
               Us(kernels.dur_ns[i].value()));
  }
  return groups.Take();
}

// Which kernels the sheet is about; a db's collectives are not.
bool IsListed(const Side& side, uint32_t row, bool compat, CollectiveKernels& is_collective) {
  if (compat && side.is_db) return !is_collective(row);
  return !compat || side.store.kernels.type[row] != StringId::kEmpty;
}

std::string KernelName(const Side& side, uint32_t row, bool compat) {
  const std::string_view type = side.store.Text(side.store.kernels.type[row]);
  if (!type.empty()) return std::string(type);
  return compat ? "N/A" : std::string(side.store.Text(side.store.kernels.name[row]));
}

struct KernelPair {
  const KernelTotals* base = nullptr;
  const KernelTotals* comparison = nullptr;
};

std::vector<KernelPair> PairKernels(const std::vector<KernelTotals>& base,
                                    const std::vector<KernelTotals>& comparison) {
  std::vector<KernelPair> pairs;
  std::map<std::pair<std::string_view, std::string_view>, size_t> index;
  for (const KernelTotals& totals : base) {
    index.try_emplace({totals.kernel, totals.detail}, pairs.size());
    pairs.push_back({&totals, nullptr});
  }
  for (const KernelTotals& totals : comparison) {
    const auto found = index.find({totals.kernel, totals.detail});
    if (found != index.end()) {
      pairs[found->second].comparison = &totals;
    } else {
      pairs.push_back({nullptr, &totals});
    }
  }
  return pairs;
}

void WriteKernel(SheetWriter& out, const KernelTotals* totals) {
  if (totals == nullptr) {
    out.Double(0).Double(0).Empty(3);
    return;
  }
  out.Double(totals->total_us).Double(totals->avg_us).Double(totals->max_us);
  out.Double(totals->min_us).Int(totals->count);
}

void WriteKernels(SheetWriter& out, const std::vector<KernelPair>& pairs) {
  for (const KernelPair& pair : pairs) {
    const KernelTotals& any = pair.base != nullptr ? *pair.base : *pair.comparison;
    out.Order().Text(any.kernel).Text(any.detail);
    WriteKernel(out, pair.base);
    WriteKernel(out, pair.comparison);
    const auto ratio = [&](double KernelTotals::* part) {
      return Ratio(pair.base == nullptr ? 0 : pair.base->*part,
                   pair.comparison == nullptr ? 0 : pair.comparison->*part);
    };
    out.Double(ratio(&KernelTotals::total_us)).Double(ratio(&KernelTotals::avg_us));
  }
}

}  // namespace

Result<std::vector<KernelTotals>> CollectKernels(const Side& side, const SheetOptions& options) {
  if (side.is_gpu) {
    return options.compat ? std::vector<KernelTotals>() : CollectGpuKernels(side);
  }
  std::vector<KernelTotals> list;
  if (!side.has_tables) return list;
  KernelGroups groups;
  CollectiveKernels is_collective(side.store, side.view.platform());
  const store::KernelTable& kernels = side.store.kernels;
  bool has_any = false;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (!IsListed(side, i, options.compat, is_collective)) continue;
    has_any = true;
    const bool is_in_step = options.compat && !side.is_db
                                ? !side.step || kernels.step[i] == side.step->step
                                : side.IsDeviceTime(kernels.begin_ns[i]);
    if (!is_in_step || !kernels.dur_ns[i].is_known()) continue;
    groups.Add(
        {KernelName(side, i, options.compat), Quoted(side.store.Text(kernels.input_shapes[i]))},
        Us(kernels.dur_ns[i].value()));
  }
  list = groups.Take();
  if (options.compat && side.step && has_any && list.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("There is no kernel details information for step {}, please check "
                             "whether the data contains this step.",
                             side.step->step)};
  }
  if (!options.compat) return list;
  for (KernelTotals& totals : list) {
    totals.total_us = Round(totals.total_us, 2);
    totals.max_us = Round(totals.max_us, 2);
    totals.min_us = Round(totals.min_us, 2);
    totals.avg_us = Round(totals.total_us / static_cast<double>(totals.count), 2);
  }
  return list;
}

ResultSheet KernelSheet(const std::vector<KernelTotals>& base,
                        const std::vector<KernelTotals>& comparison, bool) {
  ResultSheet sheet("KernelCompare");
  sheet.base = {3, 7};
  sheet.comparison = {8, 12};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tKernel", "tInput Shape", "dTotal Duration(us)",
                  "dAvg Duration(us)", "dMax Duration(us)", "dMin Duration(us)", "iCalls",
                  "dTotal Duration(us)", "dAvg Duration(us)", "dMax Duration(us)",
                  "dMin Duration(us)", "iCalls", "dDiff Total Ratio", "dDiff Avg Ratio"});
  if (!base.empty() && !comparison.empty()) WriteKernels(out, PairKernels(base, comparison));
  return sheet;
}

std::vector<KernelTotals> CollectKernelTypes(const Side& side, const SheetOptions& options) {
  std::vector<KernelTotals> list;
  if (side.is_gpu && options.compat) return list;
  const bool is_text = options.compat && !side.is_db;
  if (is_text) {
    if (!side.has_tables) return list;
    const store::OpStatisticTable& rows = side.store.op_statistics;
    for (size_t i = 0; i < rows.size(); ++i) {
      list.push_back({std::string(side.store.Text(rows.type[i])),
                      std::string(side.store.Text(rows.core[i])), rows.total_us[i], rows.max_us[i],
                      rows.min_us[i], rows.avg_us[i], rows.count[i]});
    }
    return list;
  }
  KernelGroups groups;
  const store::KernelTable& kernels = side.store.kernels;
  for (const uint32_t row : ComputeKernels(side)) {
    if (!side.IsDeviceTime(kernels.begin_ns[row])) continue;
    const std::string_view core = side.store.Text(kernels.core[row]);
    groups.Add({KernelName(side, row, options.compat), core.empty() ? "N/A" : std::string(core)},
               Us(kernels.dur_ns[row].value()));
  }
  return groups.Take();
}

ResultSheet KernelTypeSheet(const std::vector<KernelTotals>& base,
                            const std::vector<KernelTotals>& comparison) {
  ResultSheet sheet("KernelTypeCompare");
  sheet.base = {3, 7};
  sheet.comparison = {8, 12};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tKernel Type", "tCore Type", "dTotal Duration(us)",
                  "dAvg Duration(us)", "dMax Duration(us)", "dMin Duration(us)", "iCalls",
                  "dTotal Duration(us)", "dAvg Duration(us)", "dMax Duration(us)",
                  "dMin Duration(us)", "iCalls", "dDiff Total Ratio", "dDiff Avg Ratio"});
  if (base.empty() || comparison.empty()) return sheet;
  std::vector<KernelPair> pairs = PairKernels(base, comparison);
  const auto ratio = [](const KernelPair& pair) {
    return Ratio(pair.base == nullptr ? 0 : pair.base->total_us,
                 pair.comparison == nullptr ? 0 : pair.comparison->total_us);
  };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const KernelPair& a, const KernelPair& b) { return ratio(a) > ratio(b); });
  WriteKernels(out, pairs);
  return sheet;
}

}  // namespace steplens::analysis::compare
