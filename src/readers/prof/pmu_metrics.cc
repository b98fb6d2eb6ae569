#include "readers/prof/pmu_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::readers::prof {
namespace {

// How a metric is made of events.
enum class Kind : uint8_t { kTimeAndRatio, kRatio, kSum, kBandwidth, kMissRate };

struct EventTerm {
  uint32_t event;
  double factor = 1;
};

struct MetricDefinition {
  std::string_view name;
  Kind kind;
  std::vector<EventTerm> terms;
};

struct GroupDefinition {
  std::string_view name;
  std::vector<MetricDefinition> metrics;
};

const std::vector<GroupDefinition>& Groups() {
  using enum Kind;
  static const auto* const groups = new std::vector<GroupDefinition>{
      {"PipeUtilizationExct",
       {{"mac", kTimeAndRatio, {{0x416}, {0x417}}},
        {"scalar", kTimeAndRatio, {{0x9}}},
        {"mte1", kTimeAndRatio, {{0x302}}},
        {"mte2", kTimeAndRatio, {{0xc}}},
        {"fixpipe", kTimeAndRatio, {{0x303}}},
        {"icache_miss_rate", kMissRate, {{0x55}, {0x54}}}}},
      {"PipeUtilization",
       {{"vec", kTimeAndRatio, {{0x8}}},
        {"mac", kTimeAndRatio, {{0xa}}},
        {"scalar", kTimeAndRatio, {{0x9}}},
        {"mte1", kTimeAndRatio, {{0xb}}},
        {"mte2", kTimeAndRatio, {{0xc}}},
        {"mte3", kTimeAndRatio, {{0xd}}},
        {"icache_miss_rate", kMissRate, {{0x55}, {0x54}}}}},
      {"ArithmeticUtilization",
       {{"mac_fp16_ratio", kRatio, {{0x49}}},
        {"mac_int8_ratio", kRatio, {{0x4a}}},
        {"vec_fp32_ratio", kRatio, {{0x4b}}},
        {"vec_fp16_ratio", kRatio, {{0x4c}, {0x4d}}},
        {"vec_int32_ratio", kRatio, {{0x4e}}},
        {"vec_misc_ratio", kRatio, {{0x4f}}},
        {"cube_fops", kSum, {{0x49, 8192}, {0x4a, 16384}}},
        {"vector_fops", kSum, {{0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}}}}},
      {"Memory",
       {{"ub_read_bw", kBandwidth, {{0x15, 256 * 4}}},
        {"ub_write_bw", kBandwidth, {{0x16, 256 * 4}}},
        {"l1_read_bw", kBandwidth, {{0x31, 256 * 16}}},
        {"l1_write_bw", kBandwidth, {{0x32, 128 * 8}}},
        {"main_mem_read_bw", kBandwidth, {{0x12, 8 * 8}}},
        {"main_mem_write_bw", kBandwidth, {{0x13, 8 * 8}}},
        {"l2_read_bw", kBandwidth, {{0xf, 256 * 8}}},
        {"l2_write_bw", kBandwidth, {{0x10, 256 * 8}}}}},
      {"MemoryL0",
       {{"l0a_read_bw", kBandwidth, {{0x1b, 256 * 16}}},
        {"l0a_write_bw", kBandwidth, {{0x1c, 256 * 16}}},
        {"l0b_read_bw", kBandwidth, {{0x21, 256 * 16}}},
        {"l0b_write_bw", kBandwidth, {{0x22, 256 * 8}}},
        {"l0c_read_bw", kBandwidth, {{0x27, 256 * 8}}},
        {"l0c_write_bw", kBandwidth, {{0x29, 256 * 8}}},
        {"l0c_read_bw_cube", kBandwidth, {{0x28, 256 * 32}}},
        {"l0c_write_bw_cube", kBandwidth, {{0x2a, 256 * 32}}}}},
      {"MemoryUB",
       {{"ub_read_bw_vector", kBandwidth, {{0x43, 128 * 2}}},
        {"ub_write_bw_vector", kBandwidth, {{0x44, 128 * 2}}},
        {"ub_read_bw_scalar", kBandwidth, {{0x37, 128}}},
        {"ub_write_bw_scalar", kBandwidth, {{0x38, 128}}}}},
      {"ResourceConflictRatio",
       {{"vec_bankgroup_cflt_ratio", kRatio, {{0x64}}},
        {"vec_bank_cflt_ratio", kRatio, {{0x65}}},
        {"vec_resc_cflt_ratio", kRatio, {{0x66}}}}},
      {"L2Cache",
       {{"write_cache_hit", kSum, {{0x500}}},
        {"write_cache_miss_allocate", kSum, {{0x502}}},
        {"r0_read_cache_hit", kSum, {{0x504}}},
        {"r0_read_cache_miss_allocate", kSum, {{0x506}}},
        {"r1_read_cache_hit", kSum, {{0x508}}},
        {"r1_read_cache_miss_allocate", kSum, {{0x50a}}}}},
      {"MemoryAccess",
       {{"read_main_memory_datas", kSum, {{0x50d, 0.125}, {0x50e, 0.125}}},
        {"write_main_memory_datas", kSum, {{0x50c, 0.125}}},
        {"GM_to_L1_datas", kSum, {{0x32, 0.25}, {0x206, -0.25}}},
        {"L0C_to_L1_datas", kSum, {{0x206, 0.125}}},
        {"L0C_to_GM_datas", kSum, {{0x20c, 0.125}, {0x206, -0.125}}},
        {"GM_to_UB_datas", kSum, {{0x3e, 0.125}}},
        {"UB_to_GM_datas", kSum, {{0x3d, 0.125}}}}},
      {"PipelineExecuteUtilization",
       {{"vec_exe", kTimeAndRatio, {{0x12c}}},
        {"mac_exe", kTimeAndRatio, {{0x49}, {0x4a}}},
        {"scalar_exe", kTimeAndRatio, {{0x9}}},
        {"mte1_exe", kTimeAndRatio, {{0x302}}},
        {"mte2_exe", kTimeAndRatio, {{0xc}}},
        {"mte3_exe", kTimeAndRatio, {{0xd}}},
        {"fixpipe_exe", kTimeAndRatio, {{0x303}}}}},
  };
  return *groups;
}

// Units that one of the two kinds of cores does not have.
constexpr std::string_view kNotInAic[] = {"vec_time",
                                          "vec_ratio",
                                          "vec_exe_time",
                                          "vec_exe_ratio",
                                          "ub_read_bw",
                                          "ub_write_bw",
                                          "l0c_read_bw",
                                          "l0c_write_bw",
                                          "ub_read_bw_mte",
                                          "ub_write_bw_mte",
                                          "ub_read_bw_vector",
                                          "ub_write_bw_vector",
                                          "vec_fp32_ratio",
                                          "vec_fp16_ratio",
                                          "vec_int32_ratio",
                                          "vec_misc_ratio",
                                          "vec_bankgroup_cflt_ratio",
                                          "vec_bank_cflt_ratio",
                                          "vec_resc_cflt_ratio",
                                          "vector_fops"};
constexpr std::string_view kNotInAiv[] = {
    "mac_time",       "mac_ratio",      "mte1_time",        "mte1_ratio",
    "fixpipe_time",   "fixpipe_ratio",  "mac_exe_time",     "mac_exe_ratio",
    "mte1_exe_time",  "mte1_exe_ratio", "fixpipe_exe_time", "fixpipe_exe_ratio",
    "l1_read_bw",     "l1_write_bw",    "l0a_read_bw",      "l0a_write_bw",
    "l0b_read_bw",    "l0b_write_bw",   "l0c_read_bw_cube", "l0c_write_bw_cube",
    "mac_fp16_ratio", "mac_int8_ratio", "cube_fops"};

bool IsMissingUnit(CoreKind kind, std::string_view name) {
  if (kind == CoreKind::kAic)
    return std::find(std::begin(kNotInAic), std::end(kNotInAic), name) != std::end(kNotInAic);
  return std::find(std::begin(kNotInAiv), std::end(kNotInAiv), name) != std::end(kNotInAiv);
}

std::string WithUnit(std::string name) {
  if (name.find("time") != name.npos) return name + "(us)";
  if (name.find("bw") != name.npos) return name + "(GB/s)";
  if (name.find("datas") != name.npos) return name + "(KB)";
  return name;
}

}  // namespace

CoreMetrics::CoreMetrics(CoreKind kind, const CounterSetup& setup, const Control& control,
                         bool has_prefix)
    : base_hz_(static_cast<double>(control.aic_mhz) * 1e6) {
  const std::string prefix = !has_prefix ? "" : kind == CoreKind::kAic ? "aic_" : "aiv_";
  Add(kind == CoreKind::kAic ? "aicore_time(us)" : "aiv_time(us)", Form::kTotalTime);
  Add(prefix + "total_cycles", Form::kCycles);
  const auto terms = [&](const std::vector<EventTerm>& events) {
    std::vector<Term> out;
    for (const EventTerm& term : events) {
      const auto found = std::find(setup.events.begin(), setup.events.end(), term.event);
      const auto place = static_cast<int>(found - setup.events.begin());
      out.push_back(
          {found == setup.events.end() || place >= static_cast<int>(kMaxCounters) ? -1 : place,
           term.factor});
    }
    return out;
  };
  const auto add = [&](const std::string& name, Form form, const std::vector<EventTerm>& events) {
    if (has_prefix && IsMissingUnit(kind, name)) return;
    if (name == "mac_ratio") {
      has_mac_ratio_ = true;
      mac_column_ = static_cast<int>(columns_.size());
    }
    if (name == "vec_ratio") vec_column_ = static_cast<int>(columns_.size());
    if (name == "mte2_ratio") mte2_column_ = static_cast<int>(columns_.size());
    Add(WithUnit(prefix + name), form, terms(events));
  };
  bool is_known = false;
  for (const GroupDefinition& group : Groups()) {
    if (group.name != setup.group) continue;
    is_known = true;
    for (const MetricDefinition& metric : group.metrics) {
      const std::string name(metric.name);
      switch (metric.kind) {
        case Kind::kTimeAndRatio:
          add(name + "_time", Form::kTime, metric.terms);
          add(name + "_ratio", Form::kRatio, metric.terms);
          break;
        case Kind::kRatio:
          add(name, Form::kRatio, metric.terms);
          break;
        case Kind::kSum:
          add(name, Form::kSum, metric.terms);
          break;
        case Kind::kBandwidth:
          add(name, Form::kBandwidth, metric.terms);
          break;
        case Kind::kMissRate:
          add(name, Form::kMissRate, metric.terms);
          break;
      }
    }
  }
  if (is_known) return;
  // A list of the user's own: the counters as they are.
  for (size_t i = 0; i < setup.events.size() && i < kMaxCounters; ++i)
    add(fmt::format("{:#x}", setup.events[i]), Form::kSum, {{setup.events[i]}});
}

void CoreMetrics::Add(std::string name, Form form, std::vector<Term> terms) {
  names_.push_back(std::move(name));
  columns_.push_back({form, std::move(terms)});
}

double CoreMetrics::Sum(const Column& column, const CounterValues& values) const {
  double sum = 0;
  for (const Term& term : column.terms) {
    if (term.counter >= 0) sum += values.counters[static_cast<size_t>(term.counter)] * term.factor;
  }
  return sum;
}

void CoreMetrics::Evaluate(const CounterValues& values, double* out) const {
  constexpr double kBytesPerGb = 8589934592.0;  // counts are of eighths of a byte
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const double ratio = values.cycles > 0 ? Sum(column, values) / values.cycles : 0;
    switch (column.form) {
      case Form::kTotalTime:
        out[i] = values.total_us;
        break;
      case Form::kCycles:
        out[i] = values.cycles;
        break;
      case Form::kTime:
        out[i] = values.total_us * ratio;
        break;
      case Form::kRatio:
        out[i] = ratio;
        break;
      case Form::kSum:
        out[i] = Sum(column, values);
        break;
      case Form::kBandwidth:
        out[i] = ratio * base_hz_ / kBytesPerGb;
        break;
      case Form::kMissRate: {
        const auto value = [&](const Term& term) {
          return term.counter < 0 ? 0.0 : values.counters[static_cast<size_t>(term.counter)];
        };
        const double misses = value(column.terms[0]);
        const double requests = value(column.terms[1]);
        out[i] = misses > 0 && requests > 0 ? misses / requests : 0;
        break;
      }
    }
  }
}

double TotalTimeUs(double cycles, double mhz, uint32_t blocks, int64_t cores) {
  if (blocks == 0 || cores <= 0 || mhz <= 0) return 0;
  const int64_t rounds = (int64_t{blocks} + cores - 1) / cores;
  return cycles / mhz / blocks * static_cast<double>(rounds);
}

}  // namespace steplens::readers::prof
