#include "analysis/advice/rules/fusion_passes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/number.h"

namespace steplens::analysis {
namespace {

std::string LowerType(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string_view> CutAt(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(mark, from), text.size());
    parts.push_back(Trim(text.substr(from, end - from)));
    from = end + 1;
  }
  return parts;
}

// Names that stand for several types.
constexpr std::string_view kMm = "BatchMatMulV2|BatchMatMul|MatMul|MatMulV2";
constexpr std::string_view kElementWise =
    "Relu|Pow|Add|Sub|Mul|Div|Abs|Ceil|Log|Sqrt|Exp|LeakyRelu";
constexpr std::string_view kDx = "Conv2DBackpropInputD|Conv2DTransposeD|Deconvolution";

struct PassText {
  const char* pass;
  const char* text;
};
constexpr PassText kPasses[] = {
    {"FlashAttentionFusionPass", "MM#1>Mul>Softmax|SoftmaxV2>MM#2"},
    {"FlashAttentionFusionPass_V2", "MM#1>Mul>TransData>Softmax|SoftmaxV2>MM#2"},
    {"BMMStridedSliceDGeluFusionPass", "MM>StridedSliceD>Relu"},
    {"BMMConfusionTransposeDFusionPass", "MM>ConfusionTransposeD>Relu"},
    {"BMMConfusionTransposeDFusionPass_V2", "MM>ConfusionTransposeD"},
    {"Conv2DAddGroupNormFusionPass", "Conv2D>Add>GroupNorm"},
    {"RMSnormAddFusionPass", "RMSnorm>Add"},
    {"ZConcatv2dFusionPass", "ConcatV2d#1>ConcatV2d#2"},
    {"BatchMatMulReduceMeanFusionPass", "MM>Add>Relu>ReduceMean"},
    {"PadDepthwiseConv2dFusionPass", "PadD>DepthwiseConv2D"},
    {"ConvBatchnormFusionPass", "Conv2d|Conv3d|DepthwiseConv2d>Batchnorm"},
    {"AConv2dMulFusion", "Conv2d|Conv3d>Mul"},
    {"TBEConvAddFusion", "Conv2d|Conv3d>Add"},
    {"ZBNupdateReluV2Conv2DBNreducePass", "BNTrainingUpdate>ReluV2>Conv2D>BNTrainingReduce"},
    {"ASplitConv2dConcatPass", "MM>Cast"},
    {"MatMulBiasAddFusionPass", "MM>BiasAdd|Add"},
    {"Conv2DbpInputBiasAddFusionPass", "Conv2DBackpropInput>BiasAdd"},
    {"BatchMatmulV2ReduceFusionPass", "BatchMatMulV2>ReduceSumD"},
    {"BatchMatmulV2ReduceFusionPass_V2", "BatchMatMulV2>Cast>ReduceSumD"},
    {"Conv3DbpInputBiasAddFusionPass", "Conv3DBackpropInputD>BiasAdd"},
    {"AFullyConnectionReshapePass", "FullyConnection>Reshape"},
    {"GemmTransFusionPass", "Transpose>Gemm"},
    {"Resnet50DbnDwFusionPass", "BNTrainingReduceGrad>Conv2DBackpropFilterD"},
    {"CastReluCastFusionPass", "Cast#1>Relu>Cast#2"},
    {"PadConv2dFusionPass", "PadD|PadDV3>Conv2D"},
    {"Conv2DTransposeBatchnormFusionPass", "Conv2dTranspose>BatchNorm|BNInference"},
    {"ConvCastFusionPass", "Conv2D>Cast"},
    {"ConvCastFusionPass_V2", "Conv2D>TransData>Cast"},
    {"StridedSliceConcatFusionPass", "StridedSliceD#1>ConcatD, StridedSliceD#2>ConcatD"},
    {"TbeConv3dElemwisePass", "Conv3D>EW"},
    {"TbeConv3dDxElemwisePass", "Conv3dBackpropInput>AddN>LeakyReluGrad"},
    {"TbeConv3dDxElemwisePass_V2", "Conv3dBackpropInput>LeakyReluGrad"},
    {"MatMulDropoutDoMaskV3dFusionPass", "MatMul>Dropout_do_mask_v3_d>Add"},
    {"BatchMatMulDropoutDoMaskV3dFusionPass", "BatchMatMul>Dropout_do_mask_v3_d>Add"},
    {"MatmulReduceSumUbFusion", "BatchMatMul>ReduceSum"},
    {"TbeBatchMatMulElementWiseFusionPass", "BatchMatMul|GEMM>EW"},
    {"ATbeMatMulElemwiseFusionPass", "MatMul|GEMM>EW"},
    {"MatmulConfusiontransposeUbFusion", "MatMul>matmul_transpose"},
    {"TbeFullyconnectionElemwiseDequantFusionPass", "BatchMatMul|MatMul|FullyConnection>EW"},
    {"BatchMatmulConfusiontransposeUbFusion", "BatchMatMul>batchmatmul_transpose"},
    {"TbeConvSigmoidMulQuantFusionPass", "Conv>Sigmoid>Mul>Quant, Conv>Mul"},
    {"TbeConv2DReluv2Pass", "Conv2D>ReluV2"},
    {"TbeConvDoubleInFusionPass", "Conv2D>EW#1>EW#2"},
    {"TbeConv2dAddClipMulDivFusionPass", "Conv2D>Add>Clip>Mul>Div"},
    {"TbeConv2dAddClipMulDivFusionPass_V2", "Conv2D>Add>Clip>Mul"},
    {"TbeConv2dAddRelu6MulMulFusionPass", "Conv2D|DepthwiseConv2D>Add>Relu6>Mul#1>Mul#2"},
    {"ConvClipByValueFusionPass", "Conv2D>EW"},
    {"TbeAippConvReluMaxpoolingFusion", "Conv2D>EW>MaxPool|MaxPoolv3"},
    {"TbeReduceElemwiseFusionPass", "EW>CommReduce"},
    {"TbeReadSelectEltwiseFusionPass", "ReadSelect>EW"},
    {"TbeEltwiseWriteSelectFusionPass", "EW>write_select"},
    {"TbeEltwiseFusionPass", "EW#1>EW#2"},
    {"TbeConvBnreduceFusionPass", "Convolution>bn_reduce"},
    {"TbeBnupdateEltwiseFusionPass", "bn_update>EW"},
    {"TbeConv2DBackpropElemwiseFusionPass", "DX>Add|ReluGradV2"},
    {"TbeDxElemwisePass", "DX>LeakyRelu|Prelu"},
    {"TbeConv2dBackpropRequantFusionPass", "DX>AscendRequant"},
    {"TbeConv2DBackpropDequantFusionPass", "DX>AscendDequant"},
    {"TbeDwTransdataFusionPass",
     "TransData#1>Conv2DBackpropFilter, TransData#2>Conv2DBackpropFilter"},
    {"TbeDxTransdataFusionPass",
     "TransData#1>Conv2DBackpropInput, TransData#2>Conv2DBackpropInput"},
    {"TbeEltwiseCastFusionPass", "Relu|Add|Mul|Sqrt>Cast"},
    {"TbeEltwiseCastFusionPass_V2", "Cast>Relu|Add|Mul|Sqrt"},
};

// The text of a dump, line by line: which blocks are open.
class DumpReader {
 public:
  explicit DumpReader(CompiledGraph& out) : out_(out) {}

  void Line(std::string_view line) {
    line = Trim(line);
    if (line.ends_with('{')) {
      line.remove_suffix(1);
      blocks_.emplace_back(Trim(line));
      if (blocks_.back() == "op") out_.nodes.emplace_back();
      return;
    }
    if (line == "}") {
      if (!blocks_.empty()) blocks_.pop_back();
      return;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos || blocks_.empty()) return;
    const std::string_view key = Trim(line.substr(0, colon));
    std::string_view value = Trim(line.substr(colon + 1));
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    if (blocks_.back() == "graph" && key == "name") out_.name = value;
    if (blocks_.back() != "op" || out_.nodes.empty()) return;
    if (key == "name") out_.nodes.back().name = value;
    if (key == "type") out_.nodes.back().type = value;
    if (key == "input")
      inputs_.emplace_back(out_.nodes.size() - 1, value.substr(0, value.rfind(':')));
  }

  void Connect() {
    std::map<std::string_view, uint32_t> by_name;
    for (uint32_t i = 0; i < out_.nodes.size(); ++i) by_name.emplace(out_.nodes[i].name, i);
    std::set<std::pair<uint32_t, uint32_t>> edges;
    for (const auto& [to, name] : inputs_) {
      const auto from = by_name.find(name);
      if (from != by_name.end()) edges.emplace(from->second, static_cast<uint32_t>(to));
    }
    for (const auto& [from, to] : edges) {
      out_.nodes[from].to.push_back(to);
      out_.nodes[to].from.push_back(from);
    }
  }

 private:
  CompiledGraph& out_;  // of the caller, for one call
  std::vector<std::string> blocks_;
  std::vector<std::pair<size_t, std::string>> inputs_;
};

bool HasEdge(const CompiledGraph& graph, uint32_t from, uint32_t to) {
  const std::vector<uint32_t>& next = graph.nodes[from].to;
  return std::find(next.begin(), next.end(), to) != next.end();
}

// Extends a partial match node by node.
class PatternMatcher {
 public:
  PatternMatcher(const CompiledGraph& graph, const FusionPattern& pattern)
      : graph_(graph), pattern_(pattern), chosen_(pattern.types.size(), kUnset) {
    for (const std::vector<std::string>& types : pattern.types) {
      std::set<std::string>& lower = types_.emplace_back();
      for (const std::string& type : types) lower.insert(LowerType(type));
    }
    for (const CompiledGraph::Node& node : graph.nodes) node_types_.push_back(LowerType(node.type));
  }

  std::vector<std::vector<uint32_t>> Match() {
    for (uint32_t node = 0; node < graph_.nodes.size(); ++node) Try(0, node);
    std::vector<std::vector<uint32_t>> out;
    for (auto& [sorted, match] : found_) out.push_back(match);
    return out;
  }

 private:
  static constexpr uint32_t kUnset = static_cast<uint32_t>(-1);

  void Try(size_t place, uint32_t node) {
    if (!types_[place].contains(node_types_[node])) return;
    if (std::find(chosen_.begin(), chosen_.end(), node) != chosen_.end()) return;
    if (!HasTheEdgesOf(place, node)) return;
    chosen_[place] = node;
    Extend();
    chosen_[place] = kUnset;
  }

  // Between the node and those chosen so far are the edges of the pattern and no others.
  bool HasTheEdgesOf(size_t place, uint32_t node) const {
    for (size_t other = 0; other < chosen_.size(); ++other) {
      if (chosen_[other] == kUnset) continue;
      const auto& edges = pattern_.edges;
      const bool forth =
          std::find(edges.begin(), edges.end(), std::pair(place, other)) != edges.end();
      const bool back =
          std::find(edges.begin(), edges.end(), std::pair(other, place)) != edges.end();
      if (HasEdge(graph_, node, chosen_[other]) != forth ||
          HasEdge(graph_, chosen_[other], node) != back) {
        return false;
      }
    }
    return true;
  }

  void Extend() {
    if (std::find(chosen_.begin(), chosen_.end(), kUnset) == chosen_.end()) {
      std::vector<uint32_t> sorted = chosen_;
      std::sort(sorted.begin(), sorted.end());
      found_.emplace(std::move(sorted), chosen_);
      return;
    }
    // The first edge between a chosen node and one that is not.
    for (const auto& [from, to] : pattern_.edges) {
      if (chosen_[from] != kUnset && chosen_[to] == kUnset) {
        for (const uint32_t next : graph_.nodes[chosen_[from]].to) Try(to, next);
        return;
      }
      if (chosen_[from] == kUnset && chosen_[to] != kUnset) {
        for (const uint32_t before : graph_.nodes[chosen_[to]].from) Try(from, before);
        return;
      }
    }
  }

  const CompiledGraph& graph_;
  const FusionPattern& pattern_;
  std::vector<std::set<std::string>> types_;
  std::vector<std::string> node_types_;
  std::vector<uint32_t> chosen_;
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> found_;  // sorted -> in pattern order
};

}  // namespace

CompiledGraph ParseGraphDump(std::string_view text) {
  CompiledGraph graph;
  DumpReader reader(graph);
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    reader.Line(text.substr(from, end - from));
    from = end + 1;
  }
  reader.Connect();
  return graph;
}

FusionPattern ParseFusionPattern(std::string pass, std::string_view text) {
  FusionPattern out{.pass = std::move(pass)};
  std::map<std::string_view, size_t> known;
  for (const std::string_view chain : CutAt(text, ',')) {
    size_t before = 0;
    bool is_first = true;
    for (const std::string_view word : CutAt(chain, '>')) {
      const auto [place, is_new] = known.try_emplace(word, out.types.size());
      if (is_new) {
        std::string_view types = word.substr(0, word.find('#'));
        if (types == "MM") types = kMm;
        if (types == "EW") types = kElementWise;
        if (types == "DX") types = kDx;
        std::vector<std::string>& list = out.types.emplace_back();
        for (const std::string_view type : CutAt(types, '|')) list.emplace_back(type);
      }
      if (!is_first) out.edges.emplace_back(before, place->second);
      before = place->second;
      is_first = false;
    }
  }
  return out;
}

const std::vector<FusionPattern>& KnownFusionPasses() {
  static const std::vector<FusionPattern> passes = [] {
    std::vector<FusionPattern> out;
    for (const PassText& pass : kPasses) out.push_back(ParseFusionPattern(pass.pass, pass.text));
    return out;
  }();
  return passes;
}

std::vector<std::vector<uint32_t>> MatchPattern(const CompiledGraph& graph,
                                                const FusionPattern& pattern) {
  return PatternMatcher(graph, pattern).Match();
}

}  // namespace steplens::analysis
