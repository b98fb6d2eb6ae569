#include "analysis/compare/overall_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace steplens::analysis::compare {
namespace {

using table::kNull;

class OverallRows {
 public:
  OverallRows(const Overall& base, const Overall& comparison)
      : base_(base), comparison_(comparison) {}

  std::vector<OverallRow> Make() {
    if (base_.e2e_ns == 0 || comparison_.e2e_ns == 0) return {};
    AddComputing();
    AddTime(0, "Uncovered Communication Time", &Overall::uncovered_ns);
    AddGroups();
    AddOverlaps();
    Add(0, "Free Time", {base_.free_ns(), kNull}, {comparison_.free_ns(), kNull});
    Add(1, "SDMA", {base_.sdma.ns, kNull}, {comparison_.sdma.ns, kNull});
    Add(1, "Free", {base_.free_ns() - base_.sdma.ns, kNull},
        {comparison_.free_ns() - comparison_.sdma.ns, kNull});
    AddTime(0, "E2E Time", &Overall::e2e_ns);
    return std::move(rows_);
  }

 private:
  struct Cell {
    int64_t ns = 0;
    int64_t count = kNull;
  };
  static Cell Of(const TimeAndCount& part) { return {part.ns, part.count}; }

  void Add(int level, std::string label, const Cell& base, const Cell& comparison) {
    if (base.ns == 0 && comparison.ns == 0) return;
    const auto value = [](const Cell& cell, const Overall& side) {
      return OverallRow::Value{
          Ms(cell.ns), static_cast<double>(cell.ns) / static_cast<double>(side.e2e_ns), cell.count};
    };
    rows_.push_back({std::move(label), level, value(base, base_), value(comparison, comparison_)});
  }
  void AddTime(int level, std::string label, int64_t Overall::* part) {
    Add(level, std::move(label), {base_.*part, kNull}, {comparison_.*part, kNull});
  }
  void AddPart(int level, std::string label, TimeAndCount Overall::* part) {
    Add(level, std::move(label), Of(base_.*part), Of(comparison_.*part));
  }
  void AddCores(const std::string& label, CubeAndVector Overall::* part) {
    const CubeAndVector& a = base_.*part;
    const CubeAndVector& b = comparison_.*part;
    Add(1, label, Of(a.total()), Of(b.total()));
    Add(2, label + " (Cube)", Of(a.cube), Of(b.cube));
    Add(2, label + " (Vector)", Of(a.vector), Of(b.vector));
  }

  void AddComputing() {
    Add(0, "Computing Time", {base_.computing_ns, base_.kernel_count()},
        {comparison_.computing_ns, comparison_.kernel_count()});
    AddFused();
    AddCores("Flash Attention (Forward)", &Overall::attention_forward);
    AddCores("Flash Attention (Backward)", &Overall::attention_backward);
    AddCores("Conv (Forward)", &Overall::conv_forward);
    AddCores("Conv (Backward)", &Overall::conv_backward);
    AddCores("Matmul", &Overall::matmul);
    AddPart(1, "Page Attention", &Overall::paged_attention);
    Add(1, "Vector", Of(base_.vector()), Of(comparison_.vector()));
    AddPart(2, "Vector (Trans)", &Overall::vector_trans);
    AddPart(2, "Vector (No Trans)", &Overall::vector_other);
    AddPart(1, "Cube", &Overall::cube);
    AddPart(1, "SDMA (Tensor Move)", &Overall::tensor_move);
    Add(1, "Other", {base_.other_ns(), kNull}, {comparison_.other_ns(), kNull});
  }

  static const FusedKernel* FindFused(const Overall& side, const std::string& name) {
    for (const FusedKernel& kernel : side.fused) {
      if (kernel.name == name) return &kernel;
    }
    return nullptr;
  }
  void AddFused() {
    std::vector<std::string> names;
    for (const FusedKernel& kernel : base_.fused) names.push_back(kernel.name);
    for (const FusedKernel& kernel : comparison_.fused) {
      if (FindFused(base_, kernel.name) == nullptr) names.push_back(kernel.name);
    }
    for (const std::string& name : names) {
      const FusedKernel* a = FindFused(base_, name);
      const FusedKernel* b = FindFused(comparison_, name);
      const auto cell = [](const FusedKernel* kernel, auto ns_of, bool has_count) {
        if (kernel == nullptr) return Cell{};
        return Cell{ns_of(*kernel), has_count ? kernel->time.count : kNull};
      };
      const auto total = [](const FusedKernel& kernel) { return kernel.time.ns; };
      const auto computing = [](const FusedKernel& kernel) {
        return static_cast<int64_t>(kernel.computing_us * 1000 + 0.5);
      };
      const auto communication = [](const FusedKernel& kernel) { return kernel.communication_ns; };
      Add(1, name, cell(a, total, true), cell(b, total, true));
      Add(2, "Computing", cell(a, computing, false), cell(b, computing, false));
      Add(2, "Communication", cell(a, communication, false), cell(b, communication, false));
    }
  }

  static bool IsUniqueParallelName(const Overall& side, const std::string& name) {
    return std::count_if(side.groups.begin(), side.groups.end(),
                         [&](const GroupTime& group) { return group.parallel_name == name; }) == 1;
  }
  void AddGroup(const std::string& label, const GroupTime* a, const GroupTime* b) {
    const auto wait = [](const GroupTime* group) {
      return Cell{group == nullptr ? 0 : group->wait_ns, kNull};
    };
    const auto transmit = [](const GroupTime* group) {
      return Cell{group == nullptr ? 0 : group->transmit_ns, kNull};
    };
    Add(1, label, {wait(a).ns + transmit(a).ns, kNull}, {wait(b).ns + transmit(b).ns, kNull});
    Add(2, "Wait", wait(a), wait(b));
    Add(2, "Transmit", transmit(a), transmit(b));
  }
  static std::string LabelOf(const GroupTime& group) {
    return group.parallel_name.empty() ? group.name : group.parallel_name + ": " + group.name;
  }
  void AddGroups() {
    std::vector<bool> is_done(comparison_.groups.size(), false);
    std::vector<const GroupTime*> rest;
    for (const GroupTime& group : base_.groups) {
      const std::string& name = group.parallel_name;
      if (name.empty() || !IsUniqueParallelName(base_, name) ||
          !IsUniqueParallelName(comparison_, name)) {
        rest.push_back(&group);
        continue;
      }
      const auto partner =
          std::find_if(comparison_.groups.begin(), comparison_.groups.end(),
                       [&](const GroupTime& other) { return other.parallel_name == name; });
      is_done[static_cast<size_t>(partner - comparison_.groups.begin())] = true;
      AddGroup(name + ": Communication", &group, &*partner);
    }
    for (const GroupTime* group : rest) {
      const GroupTime* partner = nullptr;
      for (size_t i = 0; i < is_done.size() && partner == nullptr; ++i) {
        if (is_done[i] || comparison_.groups[i].name != group->name) continue;
        is_done[i] = true;
        partner = &comparison_.groups[i];
      }
      AddGroup(LabelOf(*group), group, partner);
    }
    for (size_t i = 0; i < is_done.size(); ++i) {
      if (!is_done[i]) AddGroup(LabelOf(comparison_.groups[i]), nullptr, &comparison_.groups[i]);
    }
  }

  void AddOverlaps() {
    std::vector<std::string> labels;
    std::map<std::string, std::pair<int64_t, int64_t>> times;
    int64_t base_ns = 0;
    int64_t comparison_ns = 0;
    for (const GroupOverlap& overlap : base_.overlaps) {
      if (times.try_emplace(overlap.label).second) labels.push_back(overlap.label);
      times[overlap.label].first += overlap.ns;
      base_ns += overlap.ns;
    }
    for (const GroupOverlap& overlap : comparison_.overlaps) {
      if (times.try_emplace(overlap.label).second) labels.push_back(overlap.label);
      times[overlap.label].second += overlap.ns;
      comparison_ns += overlap.ns;
    }
    Add(1, "Uncovered Communication Overlapped", {base_ns, kNull}, {comparison_ns, kNull});
    for (const std::string& label : labels) {
      Add(2, label, {times[label].first, kNull}, {times[label].second, kNull});
    }
  }

  const Overall& base_;
  const Overall& comparison_;
  std::vector<OverallRow> rows_;
};

// The columns of the console's table.
class SummaryColumns {
 public:
  SummaryColumns(const Overall& base, const Overall& comparison, table::Table& table)
      : base_(base), comparison_(comparison), table_(table) {}

  void Texts(std::string name, const std::function<std::string(const Overall&)>& text) {
    const size_t column = table_.AddColumn(std::move(name), table::CellType::kText);
    table_.AppendText(column, text(base_));
    table_.AppendText(column, text(comparison_));
  }
  void Times(std::string name, const std::function<TimeAndCount(const Overall&)>& part,
             bool is_always = false) {
    if (!is_always && part(base_).ns == 0 && part(comparison_).ns == 0) return;
    Texts(std::move(name), [&](const Overall& side) {
      return fmt::format("{:.3f}s({})", Seconds(part(side).ns), part(side).count);
    });
  }
  void Numbers(std::string name, double Overall::* part, std::string_view unit, int decimals) {
    if (base_.*part == 0 && comparison_.*part == 0) return;
    Texts(std::move(name), [&](const Overall& side) {
      return fmt::format("{:.{}f}{}", side.*part, decimals, unit);
    });
  }
  static double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }
  static std::string SecondsText(int64_t ns) { return fmt::format("{:.3f}s", Seconds(ns)); }

 private:
  const Overall& base_;
  const Overall& comparison_;
  table::Table& table_;
};

}  // namespace

std::vector<OverallRow> CompareOverall(const Overall& base, const Overall& comparison, bool) {
  return OverallRows(base, comparison).Make();
}

ResultSheet OverallSheet(const std::vector<OverallRow>& rows) {
  ResultSheet sheet("OverallMetrics");
  sheet.base = {1, 3};
  sheet.comparison = {4, 6};
  SheetWriter out(sheet);
  out.AddColumns({"tIndex", "dDuration(ms)", "dDuration Ratio", "iNumber", "dDuration(ms)",
                  "dDuration Ratio", "iNumber", "dDiff Duration(ms)", "dDiff Ratio"});
  for (const OverallRow& row : rows) {
    sheet.levels.push_back(row.level);
    out.Text(std::string(static_cast<size_t>(row.level), '\t') + row.label);
    for (const OverallRow::Value* value : {&row.base, &row.comparison}) {
      out.Double(value->ms).Double(value->share).Int(value->count);
    }
    out.Double(Diff(row.base.ms, row.comparison.ms)).Double(Ratio(row.base.ms, row.comparison.ms));
  }
  return sheet;
}

table::Table OverallSummary(const Overall& base, const Overall& comparison, bool compat) {
  table::Table table("Model Profiling Time Distribution");
  SummaryColumns columns(base, comparison, table);
  columns.Texts("", [](const Overall& side) {
    return side.is_cpu ? "CPU" : side.is_gpu ? "GPU" : "NPU";
  });
  if (!base.hides_details && !comparison.hides_details) {
    columns.Times(
        "Cube Time(Num)",
        [](const Overall& side) {
          const TimeAndCount known = side.matmul.total() + side.cube;
          return TimeAndCount{known.ns + side.fused_ns(), known.count};
        },
        true);
    columns.Times("Vector Time(Num)", [](const Overall& side) { return side.vector(); }, true);
  }
  columns.Times("Conv Time(Forward)(Num)",
                [](const Overall& side) { return side.conv_forward.total(); });
  columns.Times("Conv Time(Backward)(Num)",
                [](const Overall& side) { return side.conv_backward.total(); });
  columns.Times("Flash Attention Time(Forward)(Num)",
                [](const Overall& side) { return side.attention_forward.total(); });
  columns.Times("Flash Attention Time(Backward)(Num)",
                [](const Overall& side) { return side.attention_backward.total(); });
  columns.Times("Paged Attention Time(Num)",
                [](const Overall& side) { return side.paged_attention; });
  columns.Times("Lccl Time(Num)", [](const Overall& side) { return side.lccl; });
  const auto other = [&](const Overall& side) {
    return compat && side.is_gpu ? int64_t{0} : side.other_ns();
  };
  if (other(base) != 0 || other(comparison) != 0) {
    columns.Texts("Other Time",
                  [&](const Overall& side) { return SummaryColumns::SecondsText(other(side)); });
  }
  columns.Texts("Computing Time",
                [](const Overall& side) { return SummaryColumns::SecondsText(side.computing_ns); });
  columns.Numbers("Mem Usage", &Overall::memory_gb, "G", 2);
  columns.Numbers("Process Mem Usage", &Overall::process_gb, "G", 2);
  columns.Texts("Uncovered Communication Time(Wait Time)", [&](const Overall& side) {
    const std::string uncovered =
        (compat ? " " : "") + SummaryColumns::SecondsText(side.uncovered_ns);
    // The reference leaves out a wait of zero in the first row.
    if (compat && side.wait_ns == 0 && &side == &base) return uncovered + "( / )";
    return fmt::format("{}({})", uncovered, SummaryColumns::SecondsText(side.wait_ns));
  });
  columns.Numbers("RDMA Bandwidth", &Overall::rdma_gbps, "GB/s", 3);
  columns.Numbers("SDMA Bandwidth", &Overall::sdma_gbps, "GB/s", 3);
  columns.Times("SDMA Time(Num)", [](const Overall& side) { return side.tensor_move + side.sdma; });
  columns.Texts("Free Time",
                [](const Overall& side) { return SummaryColumns::SecondsText(side.free_ns()); });
  const bool has_npu = !base.is_gpu || !comparison.is_gpu;
  columns.Texts(compat && has_npu ? "E2E Time(Not minimal profiling)" : "E2E Time",
                [](const Overall& side) { return SummaryColumns::SecondsText(side.e2e_ns); });
  return table;
}

}  // namespace steplens::analysis::compare
