#include "analysis/compare/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/classify/collective_kernels.h"
#include "analysis/compare/side_launches.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;
using store::kNone;
using store::TraceStore;

constexpr std::array<std::string_view, 5> kGpuHostCategories{"cpu_op", "user_annotation",
                                                             "cuda_runtime", "operator", "runtime"};

bool IsHostCategory(std::string_view lower, bool is_gpu) {
  if (!is_gpu) return lower == "cpu_op";
  return std::find(kGpuHostCategories.begin(), kGpuHostCategories.end(), lower) !=
         kGpuHostCategories.end();
}

// Under the default rules every back end of Kineto counts, not CUDA alone.
bool IsHostKind(SliceKind kind, bool is_gpu) {
  if (kind == SliceKind::kHostOp) return true;
  return is_gpu && (kind == SliceKind::kAnnotation || kind == SliceKind::kRuntime);
}

void CollectHostSlices(Side& side, const SheetOptions& options) {
  const TraceStore& store = side.store;
  const SliceKinds& kinds = side.view.slice_kinds();
  std::vector<int8_t> is_op(store.strings.size(), -1);
  const auto is_host_op = [&](StringId category) {
    int8_t& known = is_op[static_cast<size_t>(category)];
    if (known < 0) {
      known = options.compat ? IsHostCategory(LowerCase(store.Text(category)), side.is_gpu)
                             : IsHostKind(kinds[category], side.is_gpu);
    }
    return known == 1;
  };
  size_t detail = 0;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    while (detail < store.host_ops.size() &&
           static_cast<size_t>(store.host_ops.slice[detail]) < i) {
      ++detail;
    }
    const StringId category = store.slices.category[i];
    const bool is_python = kinds[category] == SliceKind::kPython;
    if (!is_python && !is_host_op(category)) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    if (!side.IsHostTime(begin_ns)) continue;
    const int64_t end_ns = EndNs(begin_ns, store.slices.dur_ns[i]);
    const std::string_view name = store.Text(store.slices.name[i]);
    if (is_python) {
      side.python.push_back({name, begin_ns, end_ns, store.slices.track[i]});
      continue;
    }
    const bool has_detail =
        detail < store.host_ops.size() && static_cast<size_t>(store.host_ops.slice[detail]) == i;
    side.ops.push_back({name, begin_ns, end_ns, store.slices.track[i],
                        has_detail ? static_cast<uint32_t>(detail) : kNoId, kNoId,
                        static_cast<store::SliceId>(i)});
  }
  const auto by_begin = [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; };
  std::stable_sort(side.ops.begin(), side.ops.end(), by_begin);
  std::stable_sort(side.python.begin(), side.python.end(), by_begin);
}

void CollectPairs(Side& side, bool compat) {
  const store::FlowTable& flows = side.store.flows;
  const auto kind = side.store.strings.Find("fwdbwd");
  if (!kind) return;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows.kind[i] != *kind) continue;
    side.pairs.push_back(
        {flows.from_ns[i], flows.from_track[i], flows.to_ns[i], flows.to_track[i]});
  }
  if (side.pairs.empty() || (compat && side.is_db)) return;
  // The reference takes the last arrow of an Ascend trace and the first one of Kineto's.
  side.backward_thread = (side.is_gpu ? side.pairs.front() : side.pairs.back()).backward_track;
}

Result<std::optional<StepRange>> FindStep(const RankView& rank, std::optional<int64_t> step) {
  if (!step) return std::optional<StepRange>();
  std::string known;
  for (const StepRange& range : rank.steps()) {
    if (range.step == *step) return std::optional(range);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", range.step);
  }
  if (known.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: has no steps, so step {} cannot be compared; leave out "
                             "--base_step and --comparison_step",
                             rank.store().info.path, *step)};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: there is no step {}, please choose from the valid steps: {}",
                           rank.store().info.path, *step, known)};
}

std::string WithLineBreaks(std::string_view flat) {
  std::string text;
  for (const char c : flat) {
    text += c;
    if (c == ';') text += "\r\n";
  }
  return text;
}

// ["float", "float"] as Python prints a list of texts.
std::string WithPythonQuotes(std::string_view list) {
  std::string text(list);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

// A list in the text of args, with one blank behind each comma; empty if there is none.
std::string ListInArgs(std::string_view args, std::string_view key) {
  const size_t at = args.find(key);
  const size_t begin =
      at == std::string_view::npos ? at : args.find_first_not_of(": ", at + key.size());
  if (begin == std::string_view::npos || args[begin] != '[') return {};
  std::string list;
  int depth = 0;
  for (const char c : args.substr(begin)) {
    if (c == ' ') continue;
    list += c;
    if (c == ',') list += ' ';
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return list;
  }
  return {};
}

// What Kineto says of annotations of the user, which the store keeps of operators only.
void DescribeByArgs(const Side& side, const HostEvent& op, OpTexts& texts) {
  if (!side.is_gpu || !side.args) return;
  const std::string args = side.args(side.store, op.slice);
  const std::string shapes = ListInArgs(args, "\"Input Dims\"");
  const std::string types = ListInArgs(args, "\"Input type\"");
  if (!shapes.empty()) texts.shapes = shapes;
  if (!types.empty()) texts.types = WithPythonQuotes(types);
}

bool HasUsedFile(const TraceStore& store, std::string_view name) {
  return std::any_of(store.info.files.begin(), store.info.files.end(),
                     [&](const auto& file) { return file.used && file.path.ends_with(name); });
}

// Files up to CANN 8.0 have the columns of shapes and types exchanged; the reference does not know
// that. They name the process of collectives HCCL.
bool HasExchangedShapes(const TraceStore& store) {
  const auto hccl = store.strings.Find("HCCL");
  if (!hccl) return false;
  return std::find(store.tracks.name.begin(), store.tracks.name.end(), *hccl) !=
         store.tracks.name.end();
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

bool HasWord(std::string_view lower, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return lower.find(word) != std::string_view::npos;
  });
}

bool Side::HasModules() const {
  return std::any_of(python.begin(), python.end(),
                     [](const PythonCall& call) { return call.name.starts_with("nn.Module:"); });
}

std::vector<uint32_t> ComputeKernels(const Side& side) {
  CollectiveKernels is_collective(side.store, side.view.platform());
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < side.store.kernels.size(); ++i) {
    if (side.store.kernels.dur_ns[i].is_known() && !is_collective(i)) rows.push_back(i);
  }
  return rows;
}

OpTexts DescribeOp(const Side& side, const HostEvent& op, bool compat) {
  OpTexts texts{"N/A", "N/A", "N/A"};
  const bool is_bare = op.detail == kNoId;
  if (compat && side.is_db) {
    texts.shapes = "None";
    if (is_bare) return texts;
    const store::HostOpTable& details = side.store.host_ops;
    const StringId shapes = HasExchangedShapes(side.store) ? details.input_types[op.detail]
                                                           : details.input_shapes[op.detail];
    if (shapes != StringId::kEmpty) texts.shapes = WithLineBreaks(side.store.Text(shapes));
    return texts;
  }
  if (is_bare) {
    if (compat) DescribeByArgs(side, op, texts);
    return texts;
  }
  const auto text_of = [&](const auto& column) { return side.store.Text(column[op.detail]); };
  const std::string_view shapes = text_of(side.store.host_ops.input_shapes);
  const std::string_view types = text_of(side.store.host_ops.input_types);
  const std::string_view stack = text_of(side.store.host_ops.call_stack);
  // An operator without tensors has types, and an empty list of shapes.
  if (compat && shapes.empty() && !types.empty()) texts.shapes.clear();
  if (!shapes.empty()) texts.shapes = side.is_gpu ? std::string(shapes) : WithLineBreaks(shapes);
  if (!types.empty()) texts.types = side.is_gpu ? WithPythonQuotes(types) : WithLineBreaks(types);
  if (!stack.empty()) texts.call_stack = WithLineBreaks(stack);
  return texts;
}

Result<Side> CollectSide(const RankView& rank, const SheetOptions& options,
                         std::optional<int64_t> step) {
  Side side(rank);
  const TraceStore& store = rank.store();
  const Platform platform = rank.platform();
  side.args = options.args;
  side.is_gpu = platform != Platform::kAscend && !store::IsAscend(store.info.source);
  side.is_db = !side.is_gpu && store.info.format == store::Format::kDb;
  side.has_tables = !options.compat || side.is_db || HasUsedFile(store, "kernel_details.csv");
  // The reference reads the framework's tables of files of this name only.
  if (options.compat && side.is_db) {
    side.has_framework = std::any_of(
        store.info.files.begin(), store.info.files.end(), [](const store::InputFile& file) {
          return file.used && file.path.find("ascend_pytorch_profiler") != std::string::npos;
        });
  }
  if (options.compat && side.is_gpu && step) {
    return Error{
        ErrorCode::kInvalidArgument,
        "step id is invalid in GPU data, please use this when comparing between NPU data."};
  }
  SL_ASSIGN_OR_RETURN(side.step, FindStep(rank, step));
  if (options.compat && side.step) {
    // Its device range is that of the host.
    side.step->begin_ns = side.step->host_begin_ns;
    side.step->end_ns = side.step->host_end_ns;
  }
  side.is_filtered = side.step && (!options.compat || side.is_db);
  if (!side.has_framework) return side;
  CollectHostSlices(side, options);
  CollectPairs(side, options.compat);
  CollectLaunches(side, options);
  return side;
}

}  // namespace steplens::analysis::compare
