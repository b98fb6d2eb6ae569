#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "base/json.h"

namespace steplens::analysis::verify {
namespace {

constexpr std::string_view kStepOperator = "ProfilerStep#";

// One operator call, as a slice or as a row of operator_details; `row` counts from 0.
struct OpCall {
  StringId name;
  int64_t host_total_ns;
  size_t row;
};

bool BeforeByValue(const OpCall& a, const OpCall& b) {
  return std::tie(a.name, a.host_total_ns) < std::tie(b.name, b.host_total_ns);
}
bool SameValue(const OpCall& a, const OpCall& b) {
  return a.name == b.name && a.host_total_ns == b.host_total_ns;
}

// The operators of the trace in file order; the marks of the steps are none.
std::vector<OpCall> CallsInTrace(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::vector<OpCall> calls;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!context.IsHostOp(i)) continue;
    if (context.Text(slices.name[i]).find(kStepOperator) != std::string_view::npos) continue;
    calls.push_back({slices.name[i], slices.dur_ns[i], i});
  }
  return calls;
}

// Why nothing can be held against operator_details: there is none, or it has names and shapes
// alone, as MindSpore's. Empty if it has times.
std::string_view WithoutTimes(const Context& context) {
  const auto times = context.store.operator_details.host_total_ns.span();
  if (times.empty()) return "no operator_details";
  const bool has_any =
      std::any_of(times.begin(), times.end(), [](int64_t ns) { return ns != store::kNone; });
  return has_any ? std::string_view() : "operator_details has no times";
}

std::vector<OpCall> CallsInFile(const Context& context) {
  const store::OperatorDetailTable& details = context.store.operator_details;
  std::vector<OpCall> calls;
  calls.reserve(details.size());
  for (size_t i = 0; i < details.size(); ++i) {
    calls.push_back({details.name[i], details.host_total_ns[i], i});
  }
  return calls;
}

// What sorted list `a` has and sorted list `b` has not; equal calls are matched one to one.
std::vector<OpCall> Difference(const std::vector<OpCall>& a, const std::vector<OpCall>& b) {
  std::vector<OpCall> only_in_a;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_in_a),
                      BeforeByValue);
  return only_in_a;
}

// Rows of operator_details come in the order in which the operators started; those that start at
// the same time come in any order.
void CheckStartOrder(const Context& context, std::vector<OpCall> calls, Verdict& verdict) {
  std::vector<OpCall> rows = CallsInFile(context);
  const auto begin_ns = [&](const OpCall& call) { return context.store.slices.begin_ns[call.row]; };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const OpCall& a, const OpCall& b) { return begin_ns(a) < begin_ns(b); });
  for (size_t first = 0; first < calls.size();) {
    size_t last = first + 1;
    while (last < calls.size() && begin_ns(calls[last]) == begin_ns(calls[first])) ++last;
    std::sort(&calls[first], calls.data() + last, BeforeByValue);
    std::sort(&rows[first], rows.data() + last, BeforeByValue);
    for (; first < last; ++first) {
      verdict.Row(SameValue(rows[first], calls[first]), [&] {
        return fmt::format("operator_details row {} is {}, expected {}, which starts at {}",
                           rows[first].row + 1, context.Text(rows[first].name),
                           context.Text(calls[first].name), UsText(begin_ns(calls[first])));
      });
    }
  }
}

// The host writes an operator when it ends.
void CheckEndOrder(const Context& context, Verdict& verdict) {
  const store::SliceTable& slices = context.store.slices;
  int64_t last_end_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!context.IsHostOp(i)) continue;
    const int64_t end_ns = EndNs(slices.begin_ns[i], slices.dur_ns[i]);
    verdict.Row(end_ns >= last_end_ns, [&] {
      return fmt::format("trace: {} ends at {}, before the operator written ahead of it ({})",
                         context.Text(slices.name[i]), UsText(end_ns), UsText(last_end_ns));
    });
    last_end_ns = std::max(last_end_ns, end_ns);
  }
}

// Device work launched by operators: the slices where async_npu arrows end. What a step launched
// outside of all operators (events, copies) is in no row of operator_details.
std::vector<store::SliceId> LaunchedWork(const Context& context) {
  const store::FlowTable& flows = context.store.flows;
  std::vector<store::SliceId> reached;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (context.Text(flows.kind[i]) != "async_npu") continue;
    const store::SliceId from = context.rank.flow_ends().from_slice[i];
    const bool is_of_step = from != store::kNoSlice &&
                            context.Text(context.store.slices.name[static_cast<size_t>(from)])
                                .starts_with(kStepOperator);
    const store::SliceId slice = context.rank.flow_ends().to_slice[i];
    if (slice != store::kNoSlice && !is_of_step) reached.push_back(slice);
  }
  return reached;
}

int64_t SumNs(const store::Column<int64_t>& column) {
  int64_t sum_ns = 0;
  for (const int64_t value_ns : column) {
    if (value_ns != store::kNone) sum_ns = AddNs(sum_ns, value_ns);
  }
  return sum_ns;
}

// Columns of operator_details added up over the rows of a name.
struct NameSums {
  int64_t rows = 0;
  int64_t host_known = 0;
  int64_t device_known = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;

  void Add(int64_t self_ns, int64_t total_ns) {
    ++rows;
    if (self_ns != store::kNone) {
      ++host_known;
      host_self_ns = AddNs(host_self_ns, self_ns);
    }
    if (total_ns != store::kNone) {
      ++device_known;
      device_total_ns = AddNs(device_total_ns, total_ns);
    }
  }
};

bool IsAiCoreTask(const std::string& args) {
  const auto document = JsonDocument::Parse(args, "args");
  return document.ok() && document->root()["Task Type"].AsString() == "AI_CORE";
}

}  // namespace

CheckResult CheckHostOps(const Context& context) {
  Verdict verdict(context, "8",
                  "operator_details holds the operators of the trace, by name and host duration");
  if (const auto reason = WithoutTimes(context); !reason.empty()) {
    return verdict.NotApplicable(std::string(reason));
  }
  std::vector<OpCall> rows = CallsInFile(context);
  std::vector<OpCall> calls = CallsInTrace(context);
  if (calls.empty()) return verdict.NotApplicable("no cpu_op slices in the trace");
  std::sort(rows.begin(), rows.end(), BeforeByValue);
  std::sort(calls.begin(), calls.end(), BeforeByValue);
  const std::vector<OpCall> only_in_file = Difference(rows, calls);
  verdict.Held(rows.size() - only_in_file.size());
  for (const OpCall& row : only_in_file) {
    verdict.Row(false, [&] {
      return fmt::format("operator_details row {} ({}, {}): no such operator in the trace",
                         row.row + 1, context.Text(row.name), UsText(row.host_total_ns));
    });
  }
  for (const OpCall& call : Difference(calls, rows)) {
    verdict.Row(false, [&] {
      return fmt::format("trace: {} at {}, {}: no such row in operator_details",
                         context.Text(call.name), UsText(context.store.slices.begin_ns[call.row]),
                         UsText(call.host_total_ns));
    });
  }
  return verdict.Finish("operators");
}

CheckResult CheckHostOpOrder(const Context& context) {
  Verdict verdict(
      context, "8.order",
      "operator_details is in start order, the operators of the trace are in end order");
  if (const auto reason = WithoutTimes(context); !reason.empty()) {
    return verdict.NotApplicable(std::string(reason));
  }
  const size_t rows = context.store.operator_details.size();
  std::vector<OpCall> calls = CallsInTrace(context);
  if (calls.size() != rows) {
    return verdict.NotApplicable("operator_details and trace differ in the number of operators");
  }
  CheckStartOrder(context, std::move(calls), verdict);
  CheckEndOrder(context, verdict);
  return verdict.Finish("operators in both orders");
}

CheckResult CheckHostOpTimes(const Context& context) {
  Verdict verdict(context, "8.times",
                  "Host Self and Device Total Duration are what nesting and launches on the "
                  "timeline say, summed by name");
  const store::OperatorDetailTable& details = context.store.operator_details;
  if (details.size() == 0) return verdict.NotApplicable("no operator_details");
  std::map<StringId, NameSums> found;
  std::map<StringId, NameSums> expected;
  for (size_t i = 0; i < details.size(); ++i) {
    found[details.name[i]].Add(details.host_self_ns[i], details.device_total_ns[i]);
  }
  ForEachHostOp(context.store, [&](const HostOp& op) {
    expected[context.store.slices.name[static_cast<size_t>(op.slice)]].Add(op.host_self_ns,
                                                                           op.device_total_ns);
  });
  const auto tasks = static_cast<int64_t>(LaunchedWork(context).size());
  for (const auto& [name, sums] : found) {
    const NameSums& from_trace = expected[name];
    if (from_trace.rows != sums.rows) continue;  // rule 8 speaks of those
    const auto where = [&](std::string_view column) {
      return fmt::format("operator_details: sum of {} of {}", column, context.Text(name));
    };
    if (sums.host_known == sums.rows) {
      verdict.Near(sums.host_self_ns, from_trace.host_self_ns, sums.rows,
                   [&] { return where("Host Self Duration"); });
    }
    if (sums.device_known == sums.rows && tasks > 0) {
      verdict.Near(sums.device_total_ns, from_trace.device_total_ns, tasks,
                   [&] { return where("Device Total Duration"); });
    }
  }
  return verdict.Finish("sums");
}

CheckResult CheckDeviceSelf(const Context& context) {
  Verdict verdict(context, "9",
                  "Device Self Duration sums up to the device work that operators launched");
  if (const auto reason = WithoutTimes(context); !reason.empty()) {
    return verdict.NotApplicable(std::string(reason));
  }
  const std::vector<store::SliceId> reached = LaunchedWork(context);
  if (reached.empty()) return verdict.NotApplicable("no async_npu flows in the trace");
  int64_t reached_ns = 0;
  for (const store::SliceId slice : reached) {
    reached_ns = AddNs(reached_ns, context.store.slices.dur_ns[static_cast<size_t>(slice)]);
  }
  // The trace has up to eight decimals of a microsecond, of which the store keeps three.
  verdict.Near(SumNs(context.store.operator_details.device_self_ns), reached_ns,
               static_cast<int64_t>(reached.size()),
               [] { return std::string("operator_details: sum of Device Self Duration"); });
  verdict.Note(fmt::format("{} launched tasks", reached.size()));
  return verdict.Finish("sum");
}

CheckResult CheckDeviceSelfAiCore(const Context& context) {
  Verdict verdict(
      context, "9.aicore",
      "Device Self Duration With AICore sums up to the launched work of task type AI_CORE");
  if (const auto reason = WithoutTimes(context); !reason.empty()) {
    return verdict.NotApplicable(std::string(reason));
  }
  if (!context.options.args_of) return verdict.NotApplicable("the args of slices are not at hand");
  const std::vector<store::SliceId> reached = LaunchedWork(context);
  if (reached.empty()) return verdict.NotApplicable("no async_npu flows in the trace");
  int64_t reached_ns = 0;
  int64_t tasks = 0;
  for (const store::SliceId slice : reached) {
    if (!IsAiCoreTask(context.options.args_of(context.store, slice))) continue;
    reached_ns = AddNs(reached_ns, context.store.slices.dur_ns[static_cast<size_t>(slice)]);
    ++tasks;
  }
  verdict.Near(SumNs(context.store.operator_details.device_self_aicore_ns), reached_ns, tasks, [] {
    return std::string("operator_details: sum of Device Self Duration With AICore");
  });
  verdict.Note(fmt::format("{} launched AI_CORE tasks", tasks));
  return verdict.Finish("sum");
}

}  // namespace steplens::analysis::verify
