#include "store/slice_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace steplens::store {
namespace {

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// `prefix` is in lower case.
bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char want, char got) { return want == Lower(got); });
}

struct NamedKind {
  std::string_view name;
  SliceKind kind;
};

// Names that stand alone: those of the host, and of a back end that follows no pattern.
constexpr std::array kWholeNames = {
    NamedKind{"cpu_op", SliceKind::kHostOp},
    NamedKind{"Operator", SliceKind::kHostOp},
    NamedKind{"user_annotation", SliceKind::kAnnotation},
    NamedKind{"python_function", SliceKind::kPython},
    NamedKind{"enqueue", SliceKind::kEnqueue},
    NamedKind{"dequeue", SliceKind::kDequeue},
    NamedKind{"kernel", SliceKind::kKernel},
    NamedKind{"Kernel", SliceKind::kKernel},
    NamedKind{"mtia_ccp_events", SliceKind::kKernel},
    NamedKind{"Memcpy", SliceKind::kMemcpy},
    NamedKind{"Memset", SliceKind::kMemset},
    NamedKind{"runtime", SliceKind::kRuntime},
    NamedKind{"Runtime", SliceKind::kRuntime},
    NamedKind{"hpu_op", SliceKind::kRuntime},
    NamedKind{"driver", SliceKind::kDriver},
    NamedKind{"collective_comm", SliceKind::kCollective},
    NamedKind{"mtia_insight", SliceKind::kDeviceCounters},
    NamedKind{"mtia_counters", SliceKind::kDeviceCounters},
    NamedKind{"xpu_scope_profiler", SliceKind::kDeviceCounters},
};

// What follows the name of a back end.
constexpr std::array kSuffixes = {
    NamedKind{"_kernel", SliceKind::kKernel},
    NamedKind{"_memcpy", SliceKind::kMemcpy},
    NamedKind{"_memset", SliceKind::kMemset},
    NamedKind{"_runtime", SliceKind::kRuntime},
    NamedKind{"_driver", SliceKind::kDriver},
    NamedKind{"_user_annotation", SliceKind::kDeviceAnnotation},
    NamedKind{"_sync", SliceKind::kDeviceSync},
    NamedKind{"_event", SliceKind::kDeviceSync},
    NamedKind{"_profiler_range", SliceKind::kDeviceCounters},
    NamedKind{"_pm_counter", SliceKind::kDeviceCounters},
};

bool IsLetterOrDigit(char c) {
  return (Lower(c) >= 'a' && Lower(c) <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

SliceKind KindOfCategory(std::string_view category) {
  for (const auto& [name, kind] : kWholeNames) {
    if (category == name) return kind;
  }
  // The first underscore ends the name of the back end.
  const size_t end = category.find('_');
  if (end == 0 || end == std::string_view::npos) return SliceKind::kOther;
  if (!std::all_of(category.begin(), category.begin() + static_cast<std::ptrdiff_t>(end),
                   IsLetterOrDigit)) {
    return SliceKind::kOther;
  }
  const std::string_view what = category.substr(end);
  for (const auto& [suffix, kind] : kSuffixes) {
    if (what.size() == suffix.size() && StartsWithIgnoreCase(what, suffix)) return kind;
  }
  return SliceKind::kOther;
}

bool IsCommunicationKernel(std::string_view name) {
  // Of NVIDIA and AMD, Ascend and MTIA, Ascend, Intel, Moore Threads, Enflame, Cambricon, Kunlun.
  constexpr std::array<std::string_view, 10> kLibraries{"nccl", "rccl", "hccl", "hcom_", "oneccl",
                                                        "xccl", "mccl", "eccl", "cncl",  "bkcl"};
  return std::any_of(kLibraries.begin(), kLibraries.end(), [name](std::string_view library) {
    return StartsWithIgnoreCase(name, library);
  });
}

bool IsCopyKernel(std::string_view name) {
  constexpr std::string_view kDma = "dma";
  if (!name.starts_with(kDma)) return false;
  return name.size() == kDma.size() || name[kDma.size()] < 'a' || name[kDma.size()] > 'z';
}

}  // namespace steplens::store
