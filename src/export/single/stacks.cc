#include <fmt/format.h>

#include <algorithm>

#include "analysis/operators/host_ops.h"
#include "export/export.h"
#include "export/text/file_out.h"

namespace steplens::exporting {
namespace {

// Frames are stored innermost first.
void AppendOutermostFirst(TextBuffer& out, std::string_view stack) {
  bool is_first = true;
  while (!stack.empty()) {
    const size_t cut = stack.rfind(';');
    const std::string_view frame = cut == stack.npos ? stack : stack.substr(cut + 1);
    stack = cut == stack.npos ? std::string_view() : stack.substr(0, cut);
    if (frame.empty()) continue;
    if (!is_first) out += ';';
    is_first = false;
    for (const char c : frame) out += c == '\n' || c == '\r' ? ' ' : c;
  }
}

}  // namespace

Result<StackMetric> ParseStackMetric(std::string_view name) {
  if (name == "self_cpu_time_total") return StackMetric::kHostSelfTime;
  if (name == "self_npu_time_total") return StackMetric::kDeviceSelfTime;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("metric '{}' is not known: self_cpu_time_total or self_npu_time_total "
                           "was expected",
                           name)};
}

Status WriteStacks(const store::TraceStore& store, StackMetric metric, const std::string& path) {
  FileOut file(path);
  const analysis::HostOps computed = analysis::ComputeHostOps(store);
  for (const analysis::HostOp& op : computed.ops) {
    if (op.detail == store::kNoId) continue;
    const std::string_view stack = store.Text(store.host_ops.call_stack[op.detail]);
    const int64_t ns = metric == StackMetric::kHostSelfTime ? op.host_self_ns : op.device_self_ns;
    if (stack.empty() || ns <= 0) continue;
    AppendOutermostFirst(file.text(), stack);
    file.text() += ' ';
    file.text().Int(ns / 1000);
    file.text() += '\n';
    file.Tick();
  }
  return file.Commit();
}

}  // namespace steplens::exporting
