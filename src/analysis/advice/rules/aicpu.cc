#include "analysis/advice/rules/aicpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "analysis/advice/rules/rules.h"
#include "analysis/any_case.h"
#include "analysis/cells.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr int64_t kLongAicpuNs = 20000;

// Data types an AI Core kernel of the type takes and gives, without blanks at the ends. The whole
// text of all tensors is compared, as the reference does it.
struct TypeClass {
  std::string_view type;
  std::string_view inputs;
  std::string_view outputs;
};
constexpr std::string_view kCastTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,";
constexpr std::string_view kMulTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,int8,";
constexpr std::string_view kOtherTypes =
    ",float,float32,float16,bool,int32,uint32,int64,uint64,uint8,dt_bf16,int8,int16,uint16,";
constexpr std::array<TypeClass, 5> kTypeClasses{{
    {"cast", kCastTypes, kCastTypes},
    {"tensorequal", ",float,float32,float16,bool,int32,int8,uint8,", ",bool,"},
    {"equal", ",float,float32,float16,bool,int32,int8,uint8,int64,", ",bool,"},
    {"nonzero", ",float16,bool,dt_bf16,", ",int64,"},
    {"mul", kMulTypes, kMulTypes},
}};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool IsListed(std::string_view list, const std::string& lower_type) {
  return list.find("," + lower_type + ",") != list.npos;
}

// Why an AI CPU kernel is listed; empty if it is not.
std::string_view AicpuReason(std::string_view type, std::string_view inputs,
                             std::string_view outputs, int64_t dur_ns) {
  const std::string lower = Lower(type);
  for (const char* bad : {"index", "indexput", "indexputv2", "nonzero"}) {
    if (lower == bad) return "replace the code that needs it";
  }
  TypeClass lists{"", kOtherTypes, kOtherTypes};
  for (const TypeClass& known : kTypeClasses) {
    if (known.type == lower) lists = known;
  }
  if (!IsListed(lists.inputs, Lower(inputs)) && !IsListed(lists.outputs, Lower(outputs))) {
    return "convert its data types";
  }
  return dur_ns >= kLongAicpuNs ? "takes 20 us or more" : "";
}

// What replaces the type of the longest one, and what to do about its data types.
Message AicpuAdvice(const store::TraceStore& store, uint32_t longest, bool has_double) {
  const std::string type = Lower(store.Text(store.kernels.type[longest]));
  Message advice{"finding.aicpu.advice"};
  if (type == "index") advice = {"finding.aicpu.index"};
  if (type == "indexput" || type == "indexputv2") advice = {"finding.aicpu.index_put"};
  if (type == "argmin") advice = {"finding.aicpu.argmin"};
  if (type == "nonzero") advice = {"finding.aicpu.nonzero"};
  return has_double ? Message{"finding.aicpu.double", {{"advice", advice}}} : advice;
}

// The stacks of the operators that launched kernels, by row of kernels.
std::map<uint32_t, std::string> LaunchStacks(const RankEvidence& rank,
                                             const std::vector<uint32_t>& kernels) {
  const store::TraceStore& store = rank.store();
  std::map<uint32_t, std::string> out;
  if (store.host_ops.size() == 0) return out;
  const HostOpFinder finder(store);
  std::map<int64_t, std::pair<store::TrackId, int64_t>> launch_of;  // by the kernel's start
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.Text(store.flows.kind[i]) == "async_npu")
      launch_of[store.flows.to_ns[i]] = {store.flows.from_track[i], store.flows.from_ns[i]};
  }
  for (const uint32_t kernel : kernels) {
    const auto launch = launch_of.find(store.kernels.begin_ns[kernel]);
    if (launch == launch_of.end()) continue;
    const store::SliceId op = finder.Find(launch->second.first, launch->second.second);
    if (op == store::kNoSlice) continue;
    const uint32_t detail = FindHostOpDetail(store, op);
    if (detail != store::kNoId) out[kernel] = store.Text(store.host_ops.call_stack[detail]);
  }
  return out;
}

table::Table AicpuTable(const RankEvidence& rank, const std::vector<uint32_t>& found) {
  const store::TraceStore& store = rank.store();
  const store::KernelTable& k = store.kernels;
  const std::map<uint32_t, std::string> stacks = LaunchStacks(rank, found);
  TableRows rows(
      rank.DetailName(RuleId::kAicpu),
      {TextColumn("op_name"), TextColumn("op_type"), TimeColumn("task_duration(us)"),
       TextColumn("input_shapes"), TextColumn("input_data_types"), TextColumn("input_formats"),
       TextColumn("output_shapes"), TextColumn("output_data_types"), TextColumn("output_formats"),
       TextColumn("stack_info")});
  for (const uint32_t i : found) {
    const auto stack = stacks.find(i);
    rows.Add(store.Text(k.name[i]), store.Text(k.type[i]), k.dur_ns[i],
             store.Text(k.input_shapes[i]), store.Text(k.input_types[i]),
             store.Text(k.input_formats[i]), store.Text(k.output_shapes[i]),
             store.Text(k.output_types[i]), store.Text(k.output_formats[i]),
             stack == stacks.end() ? std::string() : stack->second);
  }
  return rows.Take();
}

}  // namespace

std::vector<AicpuKernel> ListAicpuKernels(const store::TraceStore& store) {
  std::vector<AicpuKernel> out;
  const store::KernelTable& k = store.kernels;
  for (uint32_t i = 0; i < k.size(); ++i) {
    if (store.Text(k.core[i]) != "AI_CPU" || k.dur_ns[i] == store::kNone) continue;
    const std::string_view reason = AicpuReason(store.Text(k.type[i]), store.Text(k.input_types[i]),
                                                store.Text(k.output_types[i]), k.dur_ns[i]);
    if (!reason.empty()) out.push_back({i, reason});
  }
  return out;
}

std::vector<Finding> FindAicpuOperators(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::KernelTable& kernels = store.kernels;
  int64_t sum_ns = 0;
  int64_t kernel_ns = 0;
  bool has_double = false;
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (kernels.dur_ns[i] == store::kNone || !rank.IsKernelInSteps(i)) continue;
    kernel_ns = AddNs(kernel_ns, kernels.dur_ns[i].value());
    if (store.Text(kernels.core[i]) != "AI_CPU") continue;
    sum_ns = AddNs(sum_ns, kernels.dur_ns[i].value());
    found.push_back(i);
    has_double = has_double || ContainsInAnyCase(store.Text(kernels.input_types[i]), "double");
  }
  if (found.empty()) return {};
  std::stable_sort(found.begin(), found.end(),
                   [&](uint32_t a, uint32_t b) { return kernels.dur_ns[a] > kernels.dur_ns[b]; });
  if (NsToUs(kernels.dur_ns[found.front()].value()) < rank.thresholds().aicpu_kernel_us) return {};
  Finding finding =
      rank.Make(RuleId::kAicpu, {"finding.aicpu", {{"count", std::to_string(found.size())}}},
                {"finding.aicpu.reason"}, AicpuAdvice(store, found.front(), has_double));
  finding.saving = rank.AtMost(sum_ns, rank.times().computing_ns);
  finding.confidence = Confidence::kEstimated;
  // Without steps there is no step to have a share of: that of all kernels counts.
  constexpr double kHighShare = 0.05;
  if (rank.view().steps().empty() &&
      Share(static_cast<double>(sum_ns), static_cast<double>(kernel_ns)) >= kHighShare) {
    finding.least_priority = Priority::kHigh;
  }
  finding.places = {rank.PlaceOfKernel(found.front())};
  finding.details = {AicpuTable(rank, found)};
  finding.evidence = {
      {{"evidence.kernels",
        {{"count", std::to_string(found.size())}, {"time", SentenceTime(rank.PerStepUs(sum_ns))}}},
       fmt::format("SELECT * FROM kernels WHERE rank = {} AND core = 'AI_CPU'", rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
