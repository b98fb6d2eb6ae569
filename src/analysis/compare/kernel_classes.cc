#include "analysis/compare/kernel_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;
using store::kNone;
using store::kNoSlice;

using Words = std::span<const std::string_view>;
constexpr std::array<std::string_view, 6> kAttentionOps{"flash_attention",     "fusion_attention",
                                                        "flashattn",           "xformers_flash",
                                                        "efficient_attention", "flash2attn"};
constexpr std::array<std::string_view, 1> kConvOps{"aten::conv"};
constexpr std::array<std::string_view, 4> kMatmulOps{"aten::addmm", "aten::bmm", "aten::mm",
                                                     "aten::matmul"};
constexpr std::array<std::string_view, 5> kGpuCubeKernels{"gemm", "conv", "cutlass", "wgrad",
                                                          "gemvx"};
constexpr std::array<std::string_view, 3> kGpuAttentionKernels{"flash", "fmha", "attn"};
constexpr std::array<std::string_view, 3> kTransKernels{"cast", "transdata", "transpose"};
constexpr std::array<std::string_view, 3> kFusedKernels{"allgathermatmul", "matmulreducescatter",
                                                        "matmulallreduce"};
constexpr std::array<std::string_view, 4> kBackwardWords{"bwd", "backward", "back", "grad"};
constexpr std::array<std::string_view, 4> kGpuCopies{"htod", "dtod", "dtoh", "memset (device)"};

// One kernel, as the rules look at it.
struct ClassKernel {
  std::string name;  // lower case, both
  std::string type;
  std::string_view shown_name;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  int64_t launch_ns = 0;  // 0: not known
  store::TrackId launch_track = store::kNoTrack;
  int64_t order = 0;  // among kernels whose launches are compared
  bool is_cube = false;
  double fused_computing_us = 0;
};

// A metric of the kernels by its header; NaN where the input has none.
class MetricColumn {
 public:
  MetricColumn(const store::TraceStore& store, std::string_view header) {
    for (const store::DynamicColumn& column : store.kernel_metrics) {
      if (column.name == header && !column.is_text()) column_ = &column;
    }
  }
  bool exists() const { return column_ != nullptr; }
  double operator[](uint32_t row) const {
    return column_ != nullptr && row < column_->size() ? column_->numbers[row] : std::nan("");
  }

 private:
  const store::DynamicColumn* column_ = nullptr;
};

double OrZero(double value) { return std::isnan(value) ? 0 : value; }

// An operator whose kernels are attention, convolution or matrix products.
struct CubeOp {
  enum class Kind : uint8_t { kAttention, kConv, kMatmul };
  Kind kind;
  bool is_backward;
  int64_t begin_ns;
  int64_t end_ns;
  store::TrackId track;
};

std::vector<CubeOp> FindCubeOps(const Side& side, bool compat) {
  std::vector<CubeOp> ops;
  std::unordered_map<std::string_view, std::string> lower_of;
  for (const HostEvent& op : side.ops) {
    const auto [known, is_new] = lower_of.try_emplace(op.name);
    if (is_new) known->second = LowerCase(op.name);
    const std::string& lower = known->second;
    CubeOp::Kind kind{};
    if (HasWord(lower, kAttentionOps)) {
      kind = CubeOp::Kind::kAttention;
    } else if (HasWord(lower, kConvOps)) {
      kind = CubeOp::Kind::kConv;
    } else if (HasWord(lower, kMatmulOps)) {
      kind = CubeOp::Kind::kMatmul;
    } else {
      continue;
    }
    bool is_backward = HasWord(lower, kBackwardWords);
    if (kind == CubeOp::Kind::kConv && !(compat && side.is_db)) {
      is_backward = is_backward ||
                    (side.backward_thread != store::kNoTrack && op.track == side.backward_thread);
    }
    ops.push_back({kind, is_backward, op.begin_ns, op.end_ns, op.track});
  }
  return ops;
}

// Whether the type says PMU data are there to tell cubes from vectors.
class CubeRule {
 public:
  CubeRule(const Side& side, bool compat)
      : side_(side),
        compat_(compat),
        mac_(side.store, "mac_time(us)"),
        aic_mac_(side.store, "aic_mac_time(us)"),
        aicore_(side.store, "aicore_time(us)"),
        vector_(side.store, "aiv_vec_time(us)") {}

  bool HasMetrics() const { return mac_.exists() || vector_.exists(); }
  bool HasPmu() const { return aicore_.exists() || aic_mac_.exists(); }
  // A row of the csv that the reference leaves out.
  bool IsLeftOut(uint32_t row) const { return std::isnan(mac_[row]) && std::isnan(vector_[row]); }
  bool IsCube(uint32_t row) const {
    if (compat_ && !side_.is_db) return OrZero(mac_[row]) > 0 || OrZero(aicore_[row]) > 0;
    if (HasPmu()) {
      return OrZero(aicore_[row]) > 0 || OrZero(aic_mac_[row]) > 0 || OrZero(mac_[row]) > 0;
    }
    const store::SliceId slice = side_.view.kernel_slices().slice_of()[row];
    std::string_view type = side_.store.Text(side_.store.kernels.core[row]);
    if (slice != kNoSlice && (compat_ || type.empty())) {
      type = side_.store.Text(side_.store.slices.category[static_cast<size_t>(slice)]);
    }
    return type == "KERNEL_AICORE" || type == "KERNEL_MIX_AIC" ||
           (!compat_ && (type == "AI_CORE" || type == "MIX_AIC"));
  }

 private:
  const Side& side_;
  const bool compat_;
  MetricColumn mac_, aic_mac_, aicore_, vector_;
};

// When the host asked for what starts at a time on the device; of several arrows the last one.
std::unordered_map<int64_t, const HostLaunch*> LaunchTimes(const Side& side) {
  std::unordered_map<int64_t, const HostLaunch*> launch_of;
  for (const HostLaunch& launch : side.launches) {
    for (const uint32_t event : launch.events) {
      launch_of[side.events[event].begin_ns] = &launch;
    }
  }
  return launch_of;
}

void SetLaunch(const std::unordered_map<int64_t, const HostLaunch*>& launch_of,
               ClassKernel& kernel) {
  const auto launch = launch_of.find(kernel.begin_ns);
  if (launch == launch_of.end()) return;
  kernel.launch_ns = launch->second->host_ns;
  kernel.launch_track = launch->second->track;
  kernel.order = kernel.launch_ns;
}

std::vector<ClassKernel> NpuKernels(const Side& side, const SheetOptions& options,
                                    const CubeRule& rule) {
  const store::TraceStore& store = side.store;
  const store::KernelTable& kernels = store.kernels;
  const MetricColumn mac(store, "aic_mac_time(us)");
  const MetricColumn mte2(store, "aic_mte2_time(us)");
  const MetricColumn vector(store, "aiv_time(us)");
  const auto launch_of = LaunchTimes(side);
  const bool is_text = options.compat && !side.is_db;
  std::unordered_map<int64_t, int64_t> op_of_connection;
  if (options.compat && side.is_db) {
    for (const HostEvent& op : side.ops) {
      for (const uint32_t event : side.EventsOf(op)) {
        op_of_connection.emplace(side.events[event].begin_ns, op.begin_ns);
      }
    }
  }
  std::vector<ClassKernel> list;
  for (const uint32_t row : ComputeKernels(side)) {
    if (is_text && rule.IsLeftOut(row)) continue;
    if (!side.IsDeviceTime(kernels.begin_ns[row])) continue;
    ClassKernel kernel;
    kernel.shown_name = store.Text(kernels.name[row]);
    kernel.name = LowerCase(kernel.shown_name);
    kernel.type = LowerCase(store.Text(kernels.type[row]));
    if (!options.compat && kernel.type.empty()) kernel.type = kernel.name;
    kernel.begin_ns = kernels.begin_ns[row];
    kernel.dur_ns = kernels.dur_ns[row];
    kernel.is_cube = rule.IsCube(row);
    kernel.fused_computing_us = std::max(OrZero(mac[row]), OrZero(mte2[row])) + OrZero(vector[row]);
    SetLaunch(launch_of, kernel);
    if (options.compat && side.is_db) {
      const auto op = op_of_connection.find(kernel.begin_ns);
      kernel.launch_ns = op == op_of_connection.end() ? 0 : op->second;
      kernel.order = kernels.correlation[row];
    }
    list.push_back(std::move(kernel));
  }
  return list;
}

std::vector<ClassKernel> GpuKernels(const Side& side, const SheetOptions& options) {
  const store::SliceTable& slices = side.store.slices;
  const auto launch_of = LaunchTimes(side);
  std::vector<ClassKernel> list;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (side.view.slice_kinds()[slices.category[i]] != SliceKind::kKernel) continue;
    if (!side.IsDeviceTime(slices.begin_ns[i])) continue;
    ClassKernel kernel;
    kernel.shown_name = side.store.Text(slices.name[i]);
    kernel.name = LowerCase(kernel.shown_name);
    const bool is_communication =
        options.compat ? kernel.name.starts_with("nccl") : IsCommunicationKernel(kernel.shown_name);
    if (is_communication || (options.compat && IsGpuCopyName(kernel.name))) continue;
    kernel.begin_ns = slices.begin_ns[i];
    kernel.dur_ns = slices.dur_ns[i];
    kernel.is_cube = HasWord(kernel.name, kGpuCubeKernels) ||
                     (!options.compat && HasWord(kernel.name, kGpuAttentionKernels));
    SetLaunch(launch_of, kernel);
    list.push_back(std::move(kernel));
  }
  return list;
}

class Classifier {
 public:
  Classifier(const Side& side, const SheetOptions& options, Overall& overall,
             std::vector<ClassedKernel>* works)
      : side_(side),
        compat_(options.compat),
        ops_(FindCubeOps(side, options.compat)),
        overall_(overall),
        works_(works) {}

  void Add(const ClassKernel& kernel) {
    if (!side_.is_gpu && AddSpecial(kernel)) return;
    if (kernel.launch_ns > 0 && AddByOperator(kernel)) return;
    if (!side_.is_gpu && AddByType(kernel)) return;
    if (compat_ || !side_.is_gpu || !AddByGpuName(kernel)) AddByCore(kernel);
  }

 private:
  bool AddSpecial(const ClassKernel& kernel) {
    if (kernel.type.find("pagedattention") != std::string::npos) {
      Put(KernelClass::kPagedAttention, overall_.paged_attention, kernel);
      return true;
    }
    if (kernel.name.starts_with("aclnninplacecopy") &&
        kernel.name.find("tensormove") != std::string::npos) {
      Put(KernelClass::kTensorMove, overall_.tensor_move, kernel);
      return true;
    }
    const bool is_fused =
        std::find(kFusedKernels.begin(), kFusedKernels.end(), kernel.name) != kFusedKernels.end();
    if (is_fused) AddFused(kernel);
    return is_fused;
  }

  void AddFused(const ClassKernel& kernel) {
    auto found =
        std::find_if(overall_.fused.begin(), overall_.fused.end(),
                     [&](const FusedKernel& fused) { return fused.name == kernel.shown_name; });
    if (found == overall_.fused.end()) {
      found = overall_.fused.insert(overall_.fused.end(),
                                    FusedKernel{std::string(kernel.shown_name), {}, 0, 0});
    }
    Put(KernelClass::kFused, found->time, kernel);
    found->computing_us += kernel.fused_computing_us;
    found->communication_ns += FusedCommunication(kernel);
  }

  // The tasks C_CORE_SQE inside the kernel come in pairs: one when data are asked for, one when
  // they are there.
  int64_t FusedCommunication(const ClassKernel& kernel) {
    if (!has_c_core_tasks_) CollectCCoreTasks();
    const int64_t end_ns = EndNs(kernel.begin_ns, kernel.dur_ns);
    while (next_c_core_ < c_core_tasks_.size() &&
           c_core_tasks_[next_c_core_].end_ns < kernel.begin_ns) {
      ++next_c_core_;
    }
    int64_t sum_ns = 0;
    int64_t first_ns = kNone;
    while (next_c_core_ < c_core_tasks_.size() && c_core_tasks_[next_c_core_].end_ns <= end_ns) {
      const int64_t now_ns = c_core_tasks_[next_c_core_++].end_ns;
      if (first_ns == kNone) {
        first_ns = now_ns;
      } else {
        sum_ns = AddNs(sum_ns, SubtractSaturating(now_ns, first_ns));
        first_ns = kNone;
      }
    }
    return sum_ns;
  }
  void CollectCCoreTasks() {
    has_c_core_tasks_ = true;
    const auto c_core = side_.store.strings.Find("C_CORE_SQE");
    if (!c_core) return;
    const store::SliceTable& slices = side_.store.slices;
    for (size_t i = 0; i < slices.size(); ++i) {
      if (slices.category[i] != *c_core) continue;
      c_core_tasks_.push_back({slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])});
    }
    SortIntervals(c_core_tasks_);
  }

  // The reference's search: operators come in order of their starts, kernels in that of their
  // launches, and one that is over when a kernel is launched is not looked at again.
  const CubeOp* NextOp(int64_t launch_ns) {
    while (next_op_ < ops_.size() && ops_[next_op_].end_ns < launch_ns) ++next_op_;
    const bool is_inside = next_op_ < ops_.size() && ops_[next_op_].begin_ns <= launch_ns;
    return is_inside ? &ops_[next_op_] : nullptr;
  }
  // The outermost operator of the thread around a time.
  const CubeOp* OpAround(store::TrackId track, int64_t ns) {
    if (outermost_.empty()) {
      for (const CubeOp& op : ops_) {
        std::vector<CubeOp>& of_track = outermost_[op.track];
        if (of_track.empty() || of_track.back().end_ns <= op.begin_ns) of_track.push_back(op);
      }
    }
    const std::vector<CubeOp>& of_track = outermost_[track];
    const auto after =
        std::upper_bound(of_track.begin(), of_track.end(), ns,
                         [](int64_t time, const CubeOp& op) { return time < op.begin_ns; });
    if (after == of_track.begin() || (after - 1)->end_ns < ns) return nullptr;
    return &*(after - 1);
  }

  bool AddByOperator(const ClassKernel& kernel) {
    const CubeOp* op =
        compat_ ? NextOp(kernel.launch_ns) : OpAround(kernel.launch_track, kernel.launch_ns);
    if (op == nullptr) return false;
    KernelClass kind = KernelClass::kMatmul;
    if (op->kind == CubeOp::Kind::kAttention) kind = Attention(op->is_backward);
    if (op->kind == CubeOp::Kind::kConv) kind = Conv(op->is_backward);
    PutWork(kind, kernel, kernel.is_cube);
    return true;
  }

  bool AddByType(const ClassKernel& kernel) {
    const std::string& type = kernel.type;
    const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
    const bool knows_infer = !(compat_ && side_.is_db);
    if (has("flashattention") || (knows_infer && has("fusedinferattention"))) {
      const bool is_backward = has("bwd") || has("grad");
      PutWork(Attention(is_backward), kernel, true);
      return true;
    }
    if (type.starts_with("conv")) {
      const bool is_backward = HasWord(type, kBackwardWords);
      PutWork(Conv(is_backward), kernel, true);
      return true;
    }
    if (has("matmul")) {
      PutWork(KernelClass::kMatmul, kernel, true);
      return true;
    }
    return false;
  }

  // A kernel of attention whose launch is not known.
  bool AddByGpuName(const ClassKernel& kernel) {
    if (!HasWord(kernel.name, kGpuAttentionKernels)) return false;
    const bool is_backward = HasWord(kernel.name, kBackwardWords);
    PutWork(Attention(is_backward), kernel, true);
    return true;
  }

  void AddByCore(const ClassKernel& kernel) {
    if (kernel.is_cube) return Put(KernelClass::kCube, overall_.cube, kernel);
    const bool is_trans = !side_.is_gpu && HasWord(kernel.name, kTransKernels);
    if (is_trans) return Put(KernelClass::kVectorTrans, overall_.vector_trans, kernel);
    Put(KernelClass::kVectorOther, overall_.vector_other, kernel);
  }

  static KernelClass Attention(bool is_backward) {
    return is_backward ? KernelClass::kAttentionBackward : KernelClass::kAttentionForward;
  }
  static KernelClass Conv(bool is_backward) {
    return is_backward ? KernelClass::kConvBackward : KernelClass::kConvForward;
  }
  // Attention, convolution or matrix products, on one of the two kinds of cores.
  void PutWork(KernelClass kind, const ClassKernel& kernel, bool is_cube) {
    CubeAndVector* part = &overall_.matmul;
    if (kind == KernelClass::kAttentionForward) part = &overall_.attention_forward;
    if (kind == KernelClass::kAttentionBackward) part = &overall_.attention_backward;
    if (kind == KernelClass::kConvForward) part = &overall_.conv_forward;
    if (kind == KernelClass::kConvBackward) part = &overall_.conv_backward;
    Put(kind, is_cube ? part->cube : part->vector, kernel);
  }
  void Put(KernelClass kind, TimeAndCount& time, const ClassKernel& kernel) {
    time.Add(kernel.dur_ns);
    if (works_ != nullptr) works_->push_back({kind, kernel.begin_ns, kernel.dur_ns});
  }

  const Side& side_;
  const bool compat_;
  std::vector<CubeOp> ops_;
  size_t next_op_ = 0;
  std::map<store::TrackId, std::vector<CubeOp>> outermost_;
  std::vector<Interval> c_core_tasks_;
  size_t next_c_core_ = 0;
  bool has_c_core_tasks_ = false;
  Overall& overall_;
  std::vector<ClassedKernel>* works_;
};

}  // namespace

bool IsGpuCopyName(std::string_view lower) { return HasWord(lower, kGpuCopies); }

std::string_view ClassName(KernelClass kind) {
  constexpr std::array<std::string_view, 11> kNames{"attention_forward",
                                                    "attention_backward",
                                                    "conv_forward",
                                                    "conv_backward",
                                                    "matmul",
                                                    "paged_attention",
                                                    "vector_trans",
                                                    "vector_other",
                                                    "cube",
                                                    "tensor_move",
                                                    "fused"};
  return kNames[static_cast<size_t>(kind)];
}

void ClassifyKernels(const Side& side, const SheetOptions& options, Overall& overall,
                     std::vector<ClassedKernel>* works) {
  const CubeRule rule(side, options.compat);
  if (!side.is_gpu) {
    const bool is_text = options.compat && !side.is_db;
    if (is_text && side.has_tables && !rule.HasMetrics()) overall.hides_details = true;
    if (is_text && (!side.has_tables || !rule.HasMetrics())) return;
  }
  std::vector<ClassKernel> kernels =
      side.is_gpu ? GpuKernels(side, options) : NpuKernels(side, options, rule);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const ClassKernel& a, const ClassKernel& b) { return a.order < b.order; });
  Classifier classifier(side, options, overall, works);
  for (const ClassKernel& kernel : kernels) classifier.Add(kernel);
}

}  // namespace steplens::analysis::compare
