#include "analysis/advice/rules/replaceable.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/advice/rules/sequence_rules.h"
#include "analysis/classify/classify.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

const std::vector<Replacement>& AffinityRules() {
  static const std::vector<Replacement> rules = {
      {"gelu", "torch_npu.fast_gelu"},
      {"linear", "torch_npu.npu_linear"},
      {"mish", "torch_npu.npu_mish"},
      {"silu", "torch_npu.npu_silu"},
      {"mul sigmoid", "torch_npu.npu_silu"},
      {"sigmoid mul", "torch_npu.npu_silu"},
      {"add reciprocal mul", "optimizer.clip_grad_norm_fused_"},
      {"softmax mul? masked_fill_|add", "torch_npu.npu_scaled_masked_softmax"},
      {"permute|transpose contiguous? reshape|view", "torch_npu.npu_confusion_transpose"},
      {"reshape|view contiguous? permute|transpose", "torch_npu.npu_confusion_transpose"},
      {"chunk|slice neg cat mul*2 add", "torch_npu.npu_rotary_mul"},
      {"matmul add? mul? masked_fill_? softmax matmul", "torch_npu.npu_fusion_attention"},
      {"matmul add? mul? masked_fill_? softmax dropout matmul", "torch_npu.npu_fusion_attention"},
      {"pow? mean? add? rsqrt mul type_as?", "torch_npu.npu_rms_norm"},
      {"slice|chunk silu mul", "torch_npu.npu_swiglu"},
      {"slice|chunk mul silu", "torch_npu.npu_swiglu"},
      {"slice|chunk sigmoid mul mul", "torch_npu.npu_swiglu"},
      {"slice|chunk mul sigmoid mul", "torch_npu.npu_swiglu"},
      {"slice|chunk mul mul sigmoid", "torch_npu.npu_swiglu"},
      {"slice|chunk gelu mul", "torch_npu.npu_geglu", "needs a newer CANN"},
      {"slice|chunk mul gelu", "torch_npu.npu_geglu", "needs a newer CANN"},
  };
  return rules;
}

const std::vector<Replacement>& FusionRules() {
  static const std::vector<Replacement> rules = {
      {"Cast LayerNorm Cast", "LayerNorm"},
      {"Transpose Transpose GatherElement Transpose", "GatherElements"},
      {"Mul Slice Neg Slice ConcatD Cast? Mul Add", "RotaryMul"},
      {"Mul AsStrided Neg AsStrided ConcatD Cast? Mul Add", "RotaryMul"},
      {"Cast Square MemSet ReduceMean Add Rsqrt Mul Cast Mul", "RMSNorm"},
      {"Cast Square ReduceMeanD Add Rsqrt Cast Cast Mul Cast Cast Mul Cast", "RMSNorm"},
  };
  return rules;
}

// What the advisor asks: the fused APIs of all versions so far. An order that a model may write
// both ways is written both ways.
const std::vector<Replacement>& AdvisorApis() {
  static const std::vector<Replacement> rules = {
      {"gelu", "torch_npu.fast_gelu", "is numerically different"},
      {"add reciprocal mul", "optimizer.clip_grad_norm_fused_", "needs an NpuFused optimizer"},
      {"softmax mul? masked_fill_|masked_fill|add", "torch_npu.npu_scaled_masked_softmax",
       "the last axis must be a multiple of 32 from 32 to 8192"},
      {"mul masked_fill_|masked_fill softmax", "torch_npu.npu_scaled_masked_softmax",
       "the last axis must be a multiple of 32 from 32 to 8192"},
      {"permute|transpose contiguous? reshape|view", "torch_npu.npu_confusion_transpose"},
      {"reshape|view contiguous? permute|transpose", "torch_npu.npu_confusion_transpose"},
      {"chunk|slice neg cat mul*2 add", "torch_npu.npu_rotary_mul"},
      {"matmul add? mul? masked_fill_? softmax dropout? matmul", "torch_npu.npu_fusion_attention"},
      {"matmul add? mul? add? softmax dropout? matmul", "torch_npu.npu_fusion_attention"},
      {"pow? mean? add? rsqrt mul type_as?", "torch_npu.npu_rms_norm", "fp16, bf16 or fp32"},
      {"slice|chunk silu mul", "torch_npu.npu_swiglu", "fp16, bf16 or fp32"},
      {"slice|chunk mul silu", "torch_npu.npu_swiglu", "fp16, bf16 or fp32"},
      {"slice|chunk sigmoid mul mul", "torch_npu.npu_swiglu", "fp16, bf16 or fp32"},
      {"slice|chunk mul sigmoid mul", "torch_npu.npu_swiglu", "fp16, bf16 or fp32"},
      {"slice|chunk mul mul sigmoid", "torch_npu.npu_swiglu", "fp16, bf16 or fp32"},
      {"slice|chunk gelu mul", "torch_npu.npu_geglu", "CANN 8.0 or newer"},
      {"slice|chunk mul gelu", "torch_npu.npu_geglu", "CANN 8.0 or newer"},
      {"group_norm silu", "torch_npu.npu_group_norm_silu", "CANN 8.0 or newer"},
      {"mul mul add", "torch.addmm"},
      {"add layer_norm", "torch_npu.npu_add_layer_norm", "CANN 8.0 or newer"},
      {"matmul add", "mindspeed.ops.npu_matmul_add", "gradient accumulation of MindSpeed"},
      {"argsort argsort index_select", "mindspeed.ops.npu_moe_token_permute"},
      {"index_select mul reduce_sum", "mindspeed.ops.npu_moe_token_unpermute"},
  };
  return rules;
}

// Sequences of kernels that one kernel does the work of.
const std::vector<Replacement>& AdvisorFusions() {
  static const std::vector<Replacement> rules = {
      {"Add DropOutDoMask Add", "bias_dropout_add"},
      {"Cast LayerNorm Cast", "LayerNorm"},
      {"Add LayerNorm|LayerNormV3", "AddLayerNorm"},
      {"Gelu Add", "GeluAdd"},
      {"MatMulV2 Swish MatMulV2 Mul MatMulV2", "FFN"},
      {"Transpose Transpose GatherElement Transpose", "GatherElements"},
      {"Slice Slice Swish Mul", "torch_npu.npu_swiglu"},
      {"Cast Mul MaskedFill SoftmaxV2 Cast", "torch_npu.npu_scaled_masked_softmax"},
      {"Cast Square ReduceMeanD Add Rsqrt Mul Cast Mul", "torch_npu.npu_rms_norm"},
      {"Cast Square MemSet ReduceMean Add Rsqrt Mul Cast Mul", "torch_npu.npu_rms_norm"},
      {"Cast Square ReduceMeanD Add Rsqrt Cast Cast Mul Cast Cast Mul Cast",
       "torch_npu.npu_rms_norm"},
      {"Mul Slice Neg Slice ConcatD Cast? Mul Add?", "torch_npu.npu_rotary_mul"},
      {"Mul AsStrided Neg AsStrided ConcatD Mul Add", "torch_npu.npu_rotary_mul"},
      {"BatchMatMul Mul Cast Mul MaskedFill SoftmaxV2 Cast DropOutDoMask AsStrided BatchMatMul "
       "Transpose",
       "torch_npu.npu_fusion_attention"},
      {"Transpose Transpose Transpose Mul Transpose BatchMatMulV2 MaskedFill Cast SoftmaxV2 Cast "
       "DropOutDoMask BatchMatMulV2 Transpose",
       "torch_npu.npu_fusion_attention"},
      {"Transpose BatchMatMulV2 Transpose Transpose BatchMatMulV2 ZerosLike DropOutDoMask Cast "
       "SoftmaxGrad Cast MaskedFill BatchMatMulV2 BatchMatMulV2 Mul",
       "torch_npu.npu_fusion_attention", "its gradient"},
      {"BatchMatMul RealDiv Add Maximum SoftmaxV2 Cast BatchMatMul",
       "torch_npu.npu_fusion_attention"},
      {"BatchMatMulV2 RealDiv Add Cast Maximum Cast SoftmaxV2 AsStrided BatchMatMulV2",
       "torch_npu.npu_fusion_attention"},
      {"BatchMatMulV2 RealDiv Add Cast SoftmaxV2 Cast BroadcastTo BatchMatMulV2",
       "torch_npu.npu_fusion_attention"},
  };
  return rules;
}

std::vector<SequenceRule> Compile(const std::vector<Replacement>& rules) {
  std::vector<SequenceRule> compiled;
  for (const Replacement& rule : rules) compiled.emplace_back(rule.words);
  return compiled;
}

// Names of one run of siblings or of one stream, with what each is.
struct Run {
  std::vector<std::string_view> names;
  std::vector<size_t> rows;
};

std::string Joined(const Run& run, const SequenceMatch& match) {
  std::string text;
  for (size_t i = 0; i < match.count; ++i) {
    if (i > 0) text += "-";
    text += run.names[match.first + i];
  }
  return text;
}

}  // namespace

std::vector<Replacement> AdvisorApiRules(const RuleSettings& settings) {
  std::vector<Replacement> rules = settings.affinity;
  if (!settings.replaces_affinity)
    rules.insert(rules.end(), AdvisorApis().begin(), AdvisorApis().end());
  return rules;
}

std::vector<Replacement> AdvisorFusionRules(const RuleSettings& settings) {
  std::vector<Replacement> rules = settings.fusion;
  rules.insert(rules.end(), AdvisorFusions().begin(), AdvisorFusions().end());
  return rules;
}

std::vector<Replaceable> ListReplaceableApis(const TraceStore& store) {
  return ListReplaceableApis(store, AffinityRules());
}

std::vector<Replaceable> ListFusibleKernels(const TraceStore& store) {
  return ListFusibleKernels(store, FusionRules());
}

std::vector<Replaceable> ListReplaceableApis(const TraceStore& store,
                                             const std::vector<Replacement>& replacements) {
  const HostOpFinder finder(store);
  // Operators with the same parent on the same track, in order of start.
  std::map<std::pair<store::TrackId, store::SliceId>, Run> runs;
  for (const store::SliceId slice : finder.index().order) {
    const auto row = static_cast<size_t>(slice);
    std::string_view name = store.Text(store.slices.name[row]);
    constexpr std::string_view kPrefix = "aten::";
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    Run& run = runs[{store.slices.track[row], finder.nesting().parent[row]}];
    run.names.push_back(name);
    run.rows.push_back(row);
  }
  const std::vector<SequenceRule> rules = Compile(replacements);
  std::vector<Replaceable> out;
  for (const auto& [place, run] : runs) {
    for (const SequenceMatch& match : FindSequences(run.names, rules)) {
      const size_t first = run.rows[match.first];
      const size_t last = run.rows[match.first + match.count - 1];
      const Replacement& rule = replacements[match.rule];
      out.push_back({Joined(run, match),
                     std::string(rule.by),
                     std::string(rule.note),
                     static_cast<int64_t>(place.first),
                     first,
                     last,
                     {store.slices.begin_ns[first],
                      EndNs(store.slices.begin_ns[last], store.slices.dur_ns[last])}});
    }
  }
  return out;
}

std::vector<Replaceable> ListFusibleKernels(const TraceStore& store,
                                            const std::vector<Replacement>& replacements) {
  const std::function<bool(size_t)> is_collective = CollectiveTest(store);
  std::vector<uint32_t> kernels =
      SelectKernels(store, {}, [&](size_t row) { return !is_collective(row); });
  std::stable_sort(kernels.begin(), kernels.end(), [&](uint32_t a, uint32_t b) {
    return store.kernels.begin_ns[a] < store.kernels.begin_ns[b];
  });
  std::map<int64_t, Run> streams;
  for (const uint32_t row : kernels) {
    Run& run = streams[store.kernels.stream[row]];
    run.names.push_back(store.Text(store.kernels.type[row]));
    run.rows.push_back(row);
  }
  const std::vector<SequenceRule> rules = Compile(replacements);
  std::vector<Replaceable> out;
  for (const auto& [stream, run] : streams) {
    for (const SequenceMatch& match : FindSequences(run.names, rules)) {
      const size_t first = run.rows[match.first];
      const size_t last = run.rows[match.first + match.count - 1];
      out.push_back({Joined(run, match),
                     replacements[match.rule].by,
                     "",
                     stream,
                     first,
                     last,
                     {store.kernels.begin_ns[first],
                      EndNs(store.kernels.begin_ns[last], store.kernels.dur_ns[last])}});
    }
  }
  return out;
}

}  // namespace steplens::analysis
