#include "analysis/kernels/kernel_paths.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <tuple>

#include "analysis/any_case.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/classify/text_memo.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

template <size_t n>
bool ContainsAny(std::string_view text, const std::array<std::string_view, n>& lower_words) {
  return std::any_of(lower_words.begin(), lower_words.end(),
                     [&](std::string_view word) { return ContainsInAnyCase(text, word); });
}

bool IsFlashOp(std::string_view name) {
  return ContainsAny(name, std::to_array<std::string_view>({"flash_attention", "fusion_attention",
                                                            "flashattn", "xformers_flash",
                                                            "efficient_attention", "flsh2atten"}));
}
bool IsMatmulOp(std::string_view name) {
  return ContainsAny(name, std::to_array<std::string_view>(
                               {"aten::addmm", "aten::bmm", "aten::mm", "aten::matmul"}));
}
bool IsConvOp(std::string_view name) { return StartsInAnyCase(name, "aten::conv"); }
// cuDNN's and MIOpen's own operators, which older traces have beside aten's.
bool IsGpuConvOp(std::string_view name) {
  return ContainsInAnyCase(name, "cudnn_conv") || ContainsInAnyCase(name, "miopen_conv");
}
bool IsCubeOp(std::string_view name) {
  return IsFlashOp(name) || IsMatmulOp(name) || IsConvOp(name) || IsGpuConvOp(name);
}
bool IsBackwardOp(std::string_view name) {
  return ContainsAny(name, std::to_array<std::string_view>({"bwd", "back", "grad"}));
}
bool IsTransType(std::string_view type) {
  return ContainsAny(type, std::to_array<std::string_view>({"cast", "transdata", "transpose"}));
}

// The launching cube operator of device work, by the time the work starts.
class CubeOps {
 public:
  explicit CubeOps(const TraceStore& store) {
    const SliceKinds kinds(store);
    TextMemo is_cube_op(store, IsCubeOp);
    index_ = BuildTrackIndex(store, [&](size_t row) {
      return kinds[store.slices.category[row]] == SliceKind::kHostOp &&
             is_cube_op(store.slices.name[row]);
    });
    if (index_.order.empty()) return;
    nesting_ = ComputeNesting(store, index_);
    ForEachOperatorLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
      const SliceId op = nesting_.InnermostAt(store, index_, launch.owner_track, launch.owner_ns);
      if (op == kNoSlice) return;
      const auto device = static_cast<size_t>(launch.device);
      launches_.push_back({store.slices.begin_ns[device], store.slices.name[device], op});
    });
    std::sort(launches_.begin(), launches_.end());
  }

  // The operator that launched the kernel of this name that starts then; kNoSlice if it was none.
  SliceId Find(int64_t begin_ns, StringId name) const {
    const auto found =
        std::lower_bound(launches_.begin(), launches_.end(), Entry{begin_ns, name, SliceId{0}});
    const bool fits =
        found != launches_.end() && found->begin_ns == begin_ns && found->name == name;
    return fits ? found->op : kNoSlice;
  }

 private:
  struct Entry {
    int64_t begin_ns;
    StringId name;
    SliceId op;
    bool operator<(const Entry& other) const {
      return std::tie(begin_ns, name, op) < std::tie(other.begin_ns, other.name, other.op);
    }
  };
  TrackIndex index_;
  Nesting nesting_;
  std::vector<Entry> launches_;  // by time
};

// The thread that the first forward-backward arrow leads to.
TrackId BackwardThread(const TraceStore& store) {
  const auto kind = store.strings.Find("fwdbwd");
  TrackId thread = store::kNoTrack;
  if (!kind) return thread;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind || store.flows.to_ns[i] >= first_ns) continue;
    first_ns = store.flows.to_ns[i];
    thread = store.flows.to_track[i];
  }
  return thread;
}

// What the metric columns say of the units a kernel used.
class Units {
 public:
  explicit Units(const TraceStore& store) {
    for (const store::DynamicColumn& column : store.kernel_metrics) {
      if (column.is_text()) continue;
      const std::string_view name = column.name;
      const bool is_mac = name.find("mac_time") != name.npos;
      const bool is_cube =
          is_mac || name.starts_with("aicore_time") || name.find("cube_time") != name.npos;
      if (is_cube) cube_.push_back(column.numbers.span());
      if (is_mac || name.find("vec_time") != name.npos) known_.push_back(column.numbers.span());
    }
  }
  // Whether any kernel has the time of its vector or matrix unit.
  bool IsKnown() const {
    return std::any_of(known_.begin(), known_.end(), [](std::span<const double> column) {
      return std::any_of(column.begin(), column.end(), [](double us) { return us >= 0; });
    });
  }
  bool IsKnown(size_t kernel) const {
    return std::any_of(known_.begin(), known_.end(), [&](std::span<const double> column) {
      return kernel < column.size() && column[kernel] >= 0;
    });
  }
  bool IsCube(size_t kernel) const {
    return std::any_of(cube_.begin(), cube_.end(), [&](std::span<const double> column) {
      return kernel < column.size() && column[kernel] > 0;
    });
  }

 private:
  std::vector<std::span<const double>> cube_;
  std::vector<std::span<const double>> known_;
};

KernelPath OfLaunchingOp(const TraceStore& store, SliceId op, TrackId backward_thread,
                         bool is_cube) {
  const auto row = static_cast<size_t>(op);
  const std::string_view name = store.Text(store.slices.name[row]);
  KernelPath path;
  path.is_cube = is_cube;
  path.is_backward = IsBackwardOp(name);
  if (IsFlashOp(name)) {
    path.kind = KernelClass::kFlashAttention;
  } else if (IsMatmulOp(name)) {
    path.kind = KernelClass::kMatmul;
    path.is_backward = false;  // matmuls are not divided
  } else {
    path.kind = KernelClass::kConv;
    path.is_backward |= store.slices.track[row] == backward_thread;
  }
  return path;
}

KernelPath OfType(std::string_view type, bool is_cube) {
  KernelPath path;
  path.is_cube = true;
  if (ContainsInAnyCase(type, "flashattention")) {
    path.kind = KernelClass::kFlashAttention;
    path.is_backward = IsBackwardOp(type);
  } else if (StartsInAnyCase(type, "conv")) {
    path.kind = KernelClass::kConv;
    path.is_backward = IsBackwardOp(type);
  } else if (ContainsInAnyCase(type, "matmul")) {
    path.kind = KernelClass::kMatmul;
  } else if (is_cube) {
    path.kind = KernelClass::kOtherCube;
  } else {
    path.kind = KernelClass::kOtherVector;
    path.is_cube = false;
    path.is_trans = IsTransType(type);
  }
  return path;
}

KernelPath OfGpuName(std::string_view name) {
  KernelPath path;
  path.is_backward =
      IsBackwardOp(name) || ContainsInAnyCase(name, "wgrad") || ContainsInAnyCase(name, "dgrad");
  if (ContainsInAnyCase(name, "flash") || ContainsInAnyCase(name, "fmha")) {
    path.kind = KernelClass::kFlashAttention;
  } else if (ContainsInAnyCase(name, "conv")) {
    path.kind = KernelClass::kConv;
  } else {
    path.is_backward = false;
    path.kind = ContainsInAnyCase(name, "gemm") ? KernelClass::kMatmul : KernelClass::kOther;
  }
  return path;
}

}  // namespace

std::vector<std::string_view> KernelPath::Levels() const {
  const std::string_view pass = is_backward ? "Backward" : "Forward";
  const std::string_view unit = is_cube ? "Cube" : "Vector";
  std::vector<std::string_view> levels;
  switch (kind) {
    case KernelClass::kNone:
      return {};
    case KernelClass::kPagedAttention:
      return {"Paged Attention"};
    case KernelClass::kTensorMove:
      return {"SDMA", "Tensor Move"};
    case KernelClass::kFlashAttention:
      levels = {"Flash Attention", pass, unit};
      break;
    case KernelClass::kConv:
      levels = {"Conv", pass, unit};
      break;
    case KernelClass::kMatmul:
      levels = {"Matmul", unit};
      break;
    case KernelClass::kOtherCube:
      return {"Other Cube"};
    case KernelClass::kOtherVector:
      return {"Other Vector", is_trans ? "Trans" : "No Trans"};
    case KernelClass::kOther:
      return {"Other Kernels"};
  }
  if (!knows_unit) levels.pop_back();
  return levels;
}

std::string JoinPath(const std::vector<std::string_view>& levels) {
  std::string path;
  for (const std::string_view level : levels) {
    if (!path.empty()) path += " > ";
    path += level;
  }
  return path;
}

KernelPaths ClassifyKernels(const TraceStore& store) {
  KernelPaths out;
  const bool is_ascend = DetectPlatform(store, ClassifyTracks(store)) == Platform::kAscend;
  const Units units(store);
  if (store.kernels.size() == 0 || (is_ascend && !units.IsKnown())) return out;
  out.is_known = true;
  out.of_kernel.resize(store.kernels.size());
  const CubeOps cube_ops(store);
  const TrackId backward_thread = BackwardThread(store);
  TextMemo is_collective(store, IsCommunicationCore);
  TextMemo is_nccl(store, IsCommunicationKernel);
  TextMemo is_device_side(store, IsDeviceSideOfCollective);
  const store::KernelTable& kernels = store.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const StringId name = kernels.name[i];
    if (is_collective(kernels.core[i]) || is_device_side(name)) continue;
    if (is_ascend ? !units.IsKnown(i) : is_nccl(name)) continue;
    const std::string_view name_text = store.Text(name);
    const bool is_cube = units.IsCube(i);
    const SliceId op = cube_ops.Find(kernels.begin_ns[i], name);
    KernelPath& path = out.of_kernel[i];
    if (ContainsInAnyCase(store.Text(kernels.type[i]), "pagedattention")) {
      path.kind = KernelClass::kPagedAttention;
    } else if (StartsInAnyCase(name_text, "aclnninplacecopy") &&
               ContainsInAnyCase(name_text, "tensormove")) {
      path.kind = KernelClass::kTensorMove;
    } else if (op != kNoSlice) {
      path = OfLaunchingOp(store, op, backward_thread, is_cube);
    } else {
      path = is_ascend ? OfType(store.Text(kernels.type[i]), is_cube) : OfGpuName(name_text);
    }
    path.knows_unit = is_ascend;
  }
  return out;
}

}  // namespace steplens::analysis
