#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/classify/text_memo.h"
#include "analysis/launches/graph_captures.h"
#include "analysis/launches/launches.h"
#include "analysis/overlap/overlap.h"
#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "base/json.h"

// What holds of the timeline of a GPU, whoever recorded it.

namespace steplens::analysis::verify {
namespace {

using store::SliceId;

constexpr std::string_view kNoGpu = "not a GPU trace";

// Older traces have times in whole microseconds.
constexpr int64_t kResolutionNs = 1000;

std::string SliceText(const Context& context, SliceId slice) {
  const auto i = static_cast<size_t>(slice);
  return fmt::format("{} at {}", context.Text(context.store.slices.name[i]),
                     UsText(context.store.slices.begin_ns[i]));
}

int64_t BeginOf(const Context& context, SliceId slice) {
  return context.store.slices.begin_ns[static_cast<size_t>(slice)];
}

int64_t EndOf(const Context& context, SliceId slice) {
  const auto i = static_cast<size_t>(slice);
  return EndNs(context.store.slices.begin_ns[i], context.store.slices.dur_ns[i]);
}

// Such a launch may ask for a kernel that begins before the one in front of it is done
// (programmatic dependent launch, launches in any order).
bool MayBeginEarly(std::string_view call) {
  return call.find("LaunchKernelEx") != std::string_view::npos ||
         call.find("Ext") != std::string_view::npos;
}

bool LaunchesWork(std::string_view call) {
  return call.find("Launch") != std::string_view::npos &&
         call.find("HostFunc") == std::string_view::npos;
}

// The name of the call that launched a kernel; empty if it was not recorded.
std::string_view LaunchName(const Context& context, SliceId kernel) {
  const SliceId call = context.rank.launch_calls()[static_cast<size_t>(kernel)];
  if (call == store::kNoSlice) return {};
  return context.Text(context.store.slices.name[static_cast<size_t>(call)]);
}

// Kernels of one stream by start. Those of a graph run where its executor put them, not where they
// are recorded: they are left out.
void CheckStream(const Context& context, std::span<const SliceId> slices, Verdict& verdict) {
  const store::SliceTable& table = context.store.slices;
  SliceId before = store::kNoSlice;  // the kernel that ends last of those so far
  for (const SliceId slice : slices) {
    const auto i = static_cast<size_t>(slice);
    if (context.slice_kind(i) != SliceKind::kKernel) continue;
    const std::string_view launch = LaunchName(context, slice);
    if (IsGraphLaunch(launch)) continue;
    if (before == store::kNoSlice) {
      verdict.Held(1);
      before = slice;
      continue;
    }
    const int64_t end_ns = EndOf(context, before);
    const bool follows = end_ns <= AddNs(table.begin_ns[i], kResolutionNs);
    const auto b = static_cast<size_t>(before);
    // Kernels of one launch are a graph's, even if the call was not recorded.
    const bool same_launch =
        table.correlation[i] != store::kNone && table.correlation[i] == table.correlation[b];
    verdict.Row(follows || same_launch || MayBeginEarly(launch), [&] {
      return fmt::format("{}: begins {} before {} ends", SliceText(context, slice),
                         UsText(GapNs(table.begin_ns[i], end_ns)), SliceText(context, before));
    });
    if (EndOf(context, slice) > end_ns) before = slice;
  }
}

// Launches that the trace can be held to: those whose work had the time to begin as late and to
// last as long as any other, so that the end of the recording does not explain its absence.
struct LaunchWork {
  std::vector<bool> has_work;  // by slice: a call with device work of its correlation
  int64_t work = 0;            // pieces of device work with a call
  int64_t due_before_ns = std::numeric_limits<int64_t>::min();
  bool graphs_have_work = false;  // else their kernels were not recorded
};

LaunchWork CollectLaunchWork(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  const std::vector<SliceId>& calls = context.rank.launch_calls();
  LaunchWork out;
  out.has_work.resize(slices.size(), false);
  int64_t longest_delay_ns = 0;
  int64_t longest_ns = 0;
  int64_t end_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < slices.size(); ++i) {
    if (calls[i] == store::kNoSlice) continue;
    const auto call = static_cast<size_t>(calls[i]);
    ++out.work;
    out.has_work[call] = true;
    out.graphs_have_work = out.graphs_have_work || IsGraphLaunch(context.Text(slices.name[call]));
    longest_delay_ns = std::max(longest_delay_ns, GapNs(slices.begin_ns[call], slices.begin_ns[i]));
    longest_ns = std::max(longest_ns, slices.dur_ns[i]);
    end_ns = std::max(end_ns, EndNs(slices.begin_ns[i], slices.dur_ns[i]));
  }
  if (out.work > 0) out.due_before_ns = AddNs(AddNs(end_ns, -longest_delay_ns), -longest_ns);
  return out;
}

// The size that a copy states, in bytes; nothing if it states none.
std::optional<int64_t> StatedBytes(const std::string& args_text) {
  const Result<JsonDocument> args = JsonDocument::Parse(args_text, "args");
  if (!args.ok()) return std::nullopt;
  for (const char* key : {"bytes", "size"}) {
    if (const auto bytes = args->root()[key].AsInt()) return *bytes;
  }
  return std::nullopt;
}

}  // namespace

CheckResult CheckGpuStreams(const Context& context, Verdict& verdict) {
  if (store::IsAscend(context.store.info.source))
    return verdict.NotApplicable(
        "a converted GPU trace does not say which kernels are one graph's");
  for (uint32_t t = 0; t < context.store.tracks.size(); ++t) {
    const store::TrackId track{t};
    if (context.track_kind(track) != TrackKind::kDevice) continue;
    CheckStream(context, context.rank.track_index().slices(track), verdict);
  }
  return verdict.Finish("kernels");
}

CheckResult CheckLaunchOrder(const Context& context) {
  Verdict verdict(context, "kernels.launch_order", "No work of a GPU begins before its launch");
  if (!context.is_gpu()) return verdict.NotApplicable(std::string(kNoGpu));
  const std::vector<SliceId>& calls = context.rank.launch_calls();
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == store::kNoSlice) continue;
    const SliceId work{static_cast<uint32_t>(i)};
    const int64_t call_ns = BeginOf(context, calls[i]);
    const int64_t begin_ns = BeginOf(context, work);
    verdict.Row(call_ns <= AddNs(begin_ns, kResolutionNs), [&] {
      return fmt::format("{}: begins {} before its launch, {}", SliceText(context, work),
                         UsText(GapNs(begin_ns, call_ns)), SliceText(context, calls[i]));
    });
  }
  return verdict.Finish("launched kernels, copies and memsets");
}

CheckResult CheckLaunchedKernels(const Context& context) {
  Verdict verdict(context, "kernels.launches", "Every launch has its kernel on the GPU");
  if (!context.is_gpu()) return verdict.NotApplicable(std::string(kNoGpu));
  const store::SliceTable& slices = context.store.slices;
  const LaunchWork launched = CollectLaunchWork(context);
  const std::vector<Interval> captures =
      GraphCaptureTimes(context.store, SliceKinds(context.store));
  const auto into_a_graph = [&](int64_t ts_ns) {
    const auto next = std::upper_bound(
        captures.begin(), captures.end(), ts_ns,
        [](int64_t at_ns, const Interval& capture) { return at_ns < capture.begin_ns; });
    return next != captures.begin() && ts_ns < std::prev(next)->end_ns;
  };
  TextMemo launches(context.store, LaunchesWork);
  TextMemo is_graph(context.store, IsGraphLaunch);
  int64_t not_due = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!IsGpuApi(context.slice_kind(i)) || !launches(slices.name[i])) continue;
    if (slices.correlation[i] == store::kNone) continue;
    const bool is_due = slices.begin_ns[i] <= launched.due_before_ns &&
                        !into_a_graph(slices.begin_ns[i]) &&
                        (launched.graphs_have_work || !is_graph(slices.name[i]));
    if (!launched.has_work[i] && !is_due) {
      ++not_due;
      continue;
    }
    verdict.Row(launched.has_work[i], [&] {
      return fmt::format("{}: nothing on the GPU has its correlation {}",
                         SliceText(context, SliceId{static_cast<uint32_t>(i)}),
                         int64_t{slices.correlation[i]});
    });
  }
  if (not_due > 0)
    verdict.Note(fmt::format("{} more into graphs or near the end of the capture", not_due));
  return verdict.Finish("launches");
}

CheckResult CheckCopySizes(const Context& context) {
  Verdict verdict(context, "copies.size", "Every copy of a GPU has a size");
  if (!context.is_gpu()) return verdict.NotApplicable(std::string(kNoGpu));
  if (!context.options.args_of) return verdict.NotApplicable("the args of slices are not at hand");
  std::vector<std::pair<SliceId, int64_t>> copies;  // and bytes
  bool any_stated = false;
  for (size_t i = 0; i < context.store.slices.size(); ++i) {
    const SliceKind kind = context.slice_kind(i);
    if (kind != SliceKind::kMemcpy && kind != SliceKind::kMemset) continue;
    const SliceId copy{static_cast<uint32_t>(i)};
    const auto bytes = StatedBytes(context.options.args_of(context.store, copy));
    any_stated = any_stated || bytes.has_value();
    copies.emplace_back(copy, bytes.value_or(store::kNone));
  }
  if (!copies.empty() && !any_stated)
    return verdict.NotApplicable("the trace does not say the size of copies");
  for (const std::pair<SliceId, int64_t>& entry : copies) {
    verdict.Row(entry.second >= 0, [&] {
      return fmt::format(
          "{}: its size is {}", SliceText(context, entry.first),
          entry.second == store::kNone ? "missing" : fmt::format("{} bytes", entry.second));
    });
  }
  return verdict.Finish("copies and memsets");
}

}  // namespace steplens::analysis::verify
