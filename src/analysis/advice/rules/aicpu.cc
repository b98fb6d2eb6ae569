#include "analysis/advice/rules/aicpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "analysis/advice/rules/rules.h"
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
  const store::KernelTable& kernels = rank.store().kernels;
  int64_t sum_ns = 0;
  std::vector<uint32_t> found;
  for (const AicpuKernel& one : ListAicpuKernels(rank.store())) {
    if (!rank.IsInSteps(kernels.begin_ns[one.kernel])) continue;
    sum_ns = AddNs(sum_ns, kernels.dur_ns[one.kernel]);
    found.push_back(one.kernel);
  }
  if (found.empty()) return {};
  const uint32_t longest = *std::max_element(
      found.begin(), found.end(),
      [&](uint32_t a, uint32_t b) { return kernels.dur_ns[a] < kernels.dur_ns[b]; });
  Finding finding =
      rank.Make(RuleId::kAicpu, {"finding.aicpu", {{"count", std::to_string(found.size())}}},
                {"finding.aicpu.reason"}, {"finding.aicpu.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().computing_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {rank.PlaceOfKernel(longest)};
  finding.evidence = {
      {{"evidence.kernels",
        {{"count", std::to_string(found.size())}, {"time", SentenceTime(rank.PerStepUs(sum_ns))}}},
       fmt::format("SELECT * FROM kernels WHERE rank = {} AND core = 'AI_CPU'", rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
