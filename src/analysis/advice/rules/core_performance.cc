#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/advice/rules/kernel_counters.h"
#include "analysis/advice/rules/kernel_shapes.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/any_case.h"
#include "analysis/cells.h"
#include "analysis/time_math.h"

// How well matrix products, attention and vector kernels use their units: kernels of one name and
// shape are judged together, by the means of their counters.

namespace steplens::analysis {
namespace {

enum class CoreClass : uint8_t { kCube, kAttention, kVector };

// Kernels of one name and shapes.
struct AlikeKernels {
  CoreClass core_class = CoreClass::kCube;
  uint32_t first = 0;
  int64_t count = 0;
  int64_t sum_ns = 0;
  double mac = 0;  // sums, divided by count when all are in
  double vec = 0;
  double mte2 = 0;
  double mte3 = 0;
  double fixpipe = 0;
};

// What was found about one group.
struct CoreVerdict {
  enum class Kind : uint8_t { kOptimisable, kBound, kNotAffine };
  Kind kind = Kind::kBound;
  std::string what;     // the pipe, "D and S", ...
  double headroom = 0;  // kOptimisable: share
};

class CoreJudge {
 public:
  explicit CoreJudge(const RankEvidence& rank)
      : rank_(rank), store_(rank.store()), counters_(store_), limits_(rank.thresholds()) {}

  std::vector<Finding> Judge() {
    if (counters_.empty()) return {};
    Group();
    std::vector<Finding> findings;
    for (const CoreClass core_class :
         {CoreClass::kCube, CoreClass::kAttention, CoreClass::kVector}) {
      AddClass(core_class, findings);
    }
    return findings;
  }

 private:
  struct Judged {
    const AlikeKernels* kernels = nullptr;
    CoreVerdict verdict{};
  };

  void Group() {
    const store::KernelTable& k = store_.kernels;
    std::map<std::tuple<StringId, StringId, StringId>, AlikeKernels> groups;
    std::map<StringId, int64_t> by_type;
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < k.size(); ++i) {
      if (k.begin_ns[i] == store::kNone || k.dur_ns[i] == store::kNone || k.dur_ns[i] <= 0)
        continue;
      if (!rank_.IsKernelInSteps(i)) continue;
      total_ns = AddNs(total_ns, k.dur_ns[i].value());
      int64_t& type_ns = by_type[k.type[i]];
      type_ns = AddNs(type_ns, k.dur_ns[i].value());
      CoreClass core_class{};
      if (store_.Text(k.input_shapes[i]).empty() || !ClassOf(i, core_class)) continue;
      AlikeKernels& same = groups[{k.name[i], k.input_shapes[i], k.output_shapes[i]}];
      if (same.count++ == 0) {
        same.core_class = core_class;
        same.first = i;
      }
      same.sum_ns = AddNs(same.sum_ns, k.dur_ns[i].value());
      same.mac += counters_.Pipe("mac", i);
      same.vec += counters_.Pipe("vec", i);
      same.mte2 += counters_.Pipe("mte2", i);
      same.mte3 += counters_.Pipe("mte3", i);
      same.fixpipe += counters_.Pipe("fixpipe", i);
    }
    for (auto& [key, same] : groups) {
      const auto count = static_cast<double>(same.count);
      for (double* sum : {&same.mac, &same.vec, &same.mte2, &same.mte3, &same.fixpipe})
        *sum /= count;
      constexpr int64_t kLongNs = 1'000'000'000;
      const int64_t type_ns = by_type[k.type[same.first]];
      const bool is_small = static_cast<double>(type_ns) <
                            limits_.core_performance_vector_share * static_cast<double>(total_ns);
      if (same.core_class == CoreClass::kVector && is_small && type_ns < kLongNs) continue;
      groups_.push_back(same);
    }
  }

  bool ClassOf(uint32_t row, CoreClass& out) const {
    const std::string_view type = store_.Text(store_.kernels.type[row]);
    const std::string_view core = store_.Text(store_.kernels.core[row]);
    if (type == "FlashAttentionScore" || type == "FlashAttentionScoreGrad") {
      out = CoreClass::kAttention;
      return true;
    }
    if (core == "AI_CORE" && ContainsInAnyCase(type, "matmul")) {
      out = CoreClass::kCube;
      return true;
    }
    out = CoreClass::kVector;
    return core == "AI_VECTOR_CORE" || core == "MIX_AIV";
  }

  // Nothing where the group is too small or its counters are missing.
  std::optional<CoreVerdict> VerdictOf(const AlikeKernels& same) const {
    switch (same.core_class) {
      case CoreClass::kCube:
        return CubeVerdict(same);
      case CoreClass::kAttention:
        return AttentionVerdict(same);
      case CoreClass::kVector:
        return VectorVerdict(same);
    }
    return std::nullopt;
  }

  static CoreVerdict Headroom(double gap) {
    return {CoreVerdict::Kind::kOptimisable, "", std::max(0.0, gap)};
  }

  std::optional<CoreVerdict> CubeVerdict(const AlikeKernels& same) const {
    const store::KernelTable& k = store_.kernels;
    const TensorShapes in = ParseShapes(store_.Text(k.input_shapes[same.first]));
    const TensorShapes out = ParseShapes(store_.Text(k.output_shapes[same.first]));
    const double bytes = TensorBytes(in, store_.Text(k.input_types[same.first])) +
                         TensorBytes(out, store_.Text(k.output_types[same.first]));
    if (bytes < limits_.core_performance_cube_mb * 1024 * 1024 || in.size() < 2) return {};
    if (!HasAlignedInner(in)) return CoreVerdict{CoreVerdict::Kind::kNotAffine, "inner"};
    const bool by_mac = same.mac >= limits_.core_performance_cube_mac;
    const bool by_mte2 = same.mte2 >= limits_.core_performance_cube_mte2;
    if (by_mac || by_mte2) {
      return CoreVerdict{CoreVerdict::Kind::kBound, by_mac && by_mte2 ? "mac + mte2"
                                                    : by_mac          ? "mac"
                                                                      : "mte2"};
    }
    if (same.mac <= 0 && same.mte2 <= 0) return {};
    return Headroom(std::min(limits_.core_performance_cube_mac - same.mac,
                             limits_.core_performance_cube_mte2 - same.mte2));
  }

  bool HasAlignedInner(const TensorShapes& in) const {
    const auto inner = static_cast<int64_t>(limits_.core_performance_cube_inner);
    const auto fits = [&](int64_t size) { return inner <= 0 || size % inner == 0; };
    // NZ: the two middle axes are one axis of the matrix.
    if (in[0].size() == 4 && in[1].size() == 4)
      return fits(in[0][1] * in[0][2]) && fits(in[1][1] * in[1][2]);
    return !in[0].empty() && !in[1].empty() && fits(in[0].back()) && fits(in[1].back());
  }

  std::optional<CoreVerdict> AttentionVerdict(const AlikeKernels& same) const {
    const store::KernelTable& k = store_.kernels;
    const TensorShapes in = ParseShapes(store_.Text(k.input_shapes[same.first]));
    const TensorShapes out = ParseShapes(store_.Text(k.output_shapes[same.first]));
    if (in.empty() || in[0].size() < 3) return {};
    const bool is_varlen = ContainsInAnyCase(store_.Text(k.name[same.first]), "varlen");
    int64_t head = in[0].size() == 4 ? in[0][3] : in[0][2];
    int64_t sequence = 0;
    if (!is_varlen && !out.empty() && out[0].size() >= 3) {
      sequence = out[0][2];
      if (in[0].size() == 3 && out[0][1] > 0) head = in[0][2] / out[0][1];
    }
    const auto inner = static_cast<int64_t>(limits_.core_performance_fa_inner);
    const bool bad_head = inner > 0 && head % inner != 0;
    const bool bad_sequence = inner > 0 && sequence % inner != 0;
    if (bad_head || bad_sequence) {
      return CoreVerdict{CoreVerdict::Kind::kNotAffine, bad_head && bad_sequence ? "D + S"
                                                        : bad_head               ? "D"
                                                                                 : "S"};
    }
    const bool is_grad = store_.Text(k.type[same.first]).ends_with("Grad");
    const double second = is_grad ? same.fixpipe : same.vec;
    const double second_limit =
        is_grad ? limits_.core_performance_fa_fixpipe : limits_.core_performance_fa_vec;
    const std::string second_name = is_grad ? "fixpipe" : "vec";
    const bool by_mte2 = same.mte2 >= limits_.core_performance_fa_mte2;
    const bool by_second = second >= second_limit;
    if (by_mte2 || by_second) {
      return CoreVerdict{CoreVerdict::Kind::kBound, by_mte2 && by_second ? "mte2 + " + second_name
                                                    : by_mte2            ? "mte2"
                                                                         : second_name};
    }
    if (same.mte2 <= 0 && second <= 0) return {};
    return Headroom(std::min(limits_.core_performance_fa_mte2 - same.mte2, second_limit - second));
  }

  std::optional<CoreVerdict> VectorVerdict(const AlikeKernels& same) const {
    const std::array<std::pair<double, const char*>, 3> pipes{
        {{same.vec, "vec"}, {same.mte2, "mte2"}, {same.mte3, "mte3"}}};
    const auto most = *std::max_element(pipes.begin(), pipes.end());
    if (most.first <= 0) return {};
    if (most.first >= limits_.core_performance_vector_pipe)
      return CoreVerdict{CoreVerdict::Kind::kBound, most.second};
    if (same.vec + same.mte2 + same.mte3 >= limits_.core_performance_vector_sum)
      return CoreVerdict{CoreVerdict::Kind::kBound, "vec + mte2 + mte3"};
    return Headroom(limits_.core_performance_vector_pipe - most.first);
  }

  void AddClass(CoreClass core_class, std::vector<Finding>& findings) const {
    std::vector<Judged> judged;
    for (const AlikeKernels& same : groups_) {
      if (same.core_class != core_class) continue;
      if (auto verdict = VerdictOf(same)) judged.push_back({&same, std::move(*verdict)});
    }
    if (judged.empty()) return;
    std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
      return a.kernels->sum_ns > b.kernels->sum_ns;
    });
    findings.push_back(MakeClass(core_class, judged));
  }

  Message VerdictMessage(const CoreVerdict& verdict) const {
    switch (verdict.kind) {
      case CoreVerdict::Kind::kBound:
        return {"finding.core.bound", {{"pipe", verdict.what}}};
      case CoreVerdict::Kind::kOptimisable:
        return {"finding.core.headroom",
                {{"percent", fmt::format("{:.1f}", 100 * verdict.headroom)}}};
      case CoreVerdict::Kind::kNotAffine:
        break;
    }
    if (verdict.what == "inner") {
      return {"finding.core.inner",
              {{"size", fmt::format("{:.0f}", limits_.core_performance_cube_inner)}}};
    }
    return {"finding.core.attention",
            {{"axes", verdict.what},
             {"size", fmt::format("{:.0f}", limits_.core_performance_fa_inner)}}};
  }

  table::Table DetailTable(CoreClass core_class, const std::vector<Judged>& judged) const {
    const store::KernelTable& k = store_.kernels;
    TableRows rows(fmt::format("{} rank {}", ClassName(core_class), rank_.rank()),
                   {TextColumn("name"), TextColumn("shape"), TextColumn("dtype"),
                    TextColumn("Type"), TextColumn("Description"), TextColumn("DescriptionZh"),
                    IntColumn("count"), TimeColumn("duration(us)"), NumberColumn("mac_ratio", 3),
                    NumberColumn("vec_ratio", 3), NumberColumn("mte2_ratio", 3),
                    NumberColumn("mte3_ratio", 3), NumberColumn("fixpipe_ratio", 3)});
    constexpr std::array<const char*, 3> kKinds{"optimizable", "bound", "not affine"};
    for (const Judged& one : judged) {
      const AlikeKernels& same = *one.kernels;
      rows.Add(store_.Text(k.name[same.first]), store_.Text(k.input_shapes[same.first]),
               store_.Text(k.input_types[same.first]),
               kKinds[static_cast<size_t>(one.verdict.kind)], English(VerdictMessage(one.verdict)),
               Chinese(VerdictMessage(one.verdict)), same.count, same.sum_ns, same.mac, same.vec,
               same.mte2, same.mte3, same.fixpipe);
    }
    return rows.Take();
  }

  static std::string_view ClassName(CoreClass core_class) {
    return core_class == CoreClass::kCube        ? "cube"
           : core_class == CoreClass::kAttention ? "attention"
                                                 : "vector";
  }

  Message SubjectOf(CoreClass core_class) const {
    return {core_class == CoreClass::kCube        ? "finding.core.cube"
            : core_class == CoreClass::kAttention ? "finding.core.fa"
                                                  : "finding.core.vector"};
  }

  // The sentence names the group of each kind that takes longest.
  Message ReasonOf(const std::vector<Judged>& judged) const {
    const Judged& first = judged.front();
    const AlikeKernels& same = *first.kernels;
    return {"finding.core.reason",
            {{"count", std::to_string(judged.size())},
             {"name", std::string(store_.Text(store_.kernels.name[same.first]))},
             {"verdict", VerdictMessage(first.verdict)}}};
  }

  double LimitOf(CoreClass core_class) const {
    return core_class == CoreClass::kVector ? limits_.core_performance_vector_pipe
                                            : limits_.core_performance_cube_mac;
  }

  Finding MakeClass(CoreClass core_class, const std::vector<Judged>& judged) const {
    double income_ns = 0;
    int64_t sum_ns = 0;
    for (const Judged& one : judged) {
      sum_ns = AddNs(sum_ns, one.kernels->sum_ns);
      if (one.verdict.kind == CoreVerdict::Kind::kOptimisable) {
        income_ns += static_cast<double>(one.kernels->sum_ns) *
                     Share(one.verdict.headroom, LimitOf(core_class));
      }
    }
    Finding finding = rank_.Make(RuleId::kCorePerformance, SubjectOf(core_class), ReasonOf(judged),
                                 {core_class == CoreClass::kVector ? "finding.core.vector_advice"
                                                                   : "finding.core.cube_advice"});
    finding.saving = rank_.AtMost(static_cast<int64_t>(income_ns), sum_ns);
    finding.effort = Effort::kModel;
    finding.places = {rank_.PlaceOfKernel(judged.front().kernels->first)};
    finding.details = {DetailTable(core_class, judged)};
    finding.evidence = {
        {{"evidence.kernels",
          {{"count", std::to_string(judged.size())},
           {"time", SentenceTime(rank_.PerStepUs(sum_ns))}}},
         fmt::format("SELECT * FROM kernels WHERE rank = {} ORDER BY dur_ns DESC", rank_.rank())}};
    return finding;
  }

  const RankEvidence& rank_;
  const store::TraceStore& store_;
  const KernelCounters counters_;
  const RuleThresholds& limits_;
  std::vector<AlikeKernels> groups_;
};

}  // namespace

std::vector<Finding> JudgeCorePerformance(const RankEvidence& rank) {
  return CoreJudge(rank).Judge();
}

}  // namespace steplens::analysis
