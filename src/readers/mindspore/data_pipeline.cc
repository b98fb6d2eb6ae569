#include "readers/mindspore/data_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "format/framework.h"
#include "readers/file_names.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;
using store::DataPipeline;
using store::PipelineOp;

Error Damaged(const fs::path& path, std::string_view what) {
  return {ErrorCode::kCorruptData, fmt::format("{}: {}", path.string(), what)};
}

// Numbers of an array; nothing if it is not an array, or something else is among them.
template <typename T, typename Read>
std::optional<std::vector<T>> Numbers(JsonValue array, const Read& read) {
  if (!array.IsArray()) return std::nullopt;
  std::vector<T> out;
  bool is_whole = true;
  array.ForEachElement([&](JsonValue value) {
    const std::optional<T> number = read(value);
    is_whole = is_whole && number.has_value();
    out.push_back(number.value_or(T{}));
  });
  return is_whole ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::vector<int64_t>> Ints(JsonValue array) {
  return Numbers<int64_t>(array, [](JsonValue value) { return value.AsInt(); });
}

std::optional<std::vector<double>> Doubles(JsonValue array) {
  return Numbers<double>(array, [](JsonValue value) { return value.AsDouble(); });
}

std::optional<PipelineOp> ReadOp(JsonValue given) {
  PipelineOp op;
  const auto id = given["op_id"].AsInt();
  const auto type = given["op_type"].AsString();
  const auto workers = given["num_workers"].AsInt();
  if (!id || !type || !workers) return std::nullopt;
  op.id = *id;
  op.type = *type;
  op.workers = *workers;
  if (const auto children = Ints(given["children"])) op.children = *children;
  const JsonValue queue = given["metrics"]["output_queue"];
  if (!queue.IsObject()) return op;
  const auto length = queue["length"].AsInt();
  const auto sizes = Ints(queue["size"]);
  if (!length || !sizes) return std::nullopt;
  op.queue = {*length, *sizes};
  return op;
}

const PipelineOp* FindOp(const std::vector<PipelineOp>& ops, int64_t id) {
  const auto op =
      std::find_if(ops.begin(), ops.end(), [&](const auto& one) { return one.id == id; });
  return op == ops.end() ? nullptr : &*op;
}

Result<DataPipeline> ReadPipeline(const fs::path& path, std::string number) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document,
                      JsonDocument::ReadFile(path.string(), kMaxWholeFile));
  DataPipeline out;
  out.number = std::move(number);
  out.interval_ms = document.root()["sampling_interval"].ToText();
  bool is_whole = document.root()["op_info"].IsArray();
  document.root()["op_info"].ForEachElement([&](JsonValue given) {
    std::optional<PipelineOp> op = ReadOp(given);
    is_whole = is_whole && op && FindOp(out.ops, op->id) == nullptr;
    if (op) out.ops.push_back(std::move(*op));
  });
  if (!is_whole) {
    return Damaged(path, "an operation lacks op_id, op_type or num_workers, or is there twice");
  }
  if (FindOp(out.ops, 0) == nullptr) return Damaged(path, "operation 0 is missing");
  for (const PipelineOp& op : out.ops) {
    for (const int64_t child : op.children) {
      if (FindOp(out.ops, child) != nullptr) continue;
      return Damaged(path,
                     fmt::format("operation {} has a child {}, which is missing", op.id, child));
    }
  }
  std::sort(out.ops.begin(), out.ops.end(),
            [](const PipelineOp& a, const PipelineOp& b) { return a.id < b.id; });
  return out;
}

Status ReadCpu(const fs::path& path, DataPipeline& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document,
                      JsonDocument::ReadFile(path.string(), kMaxWholeFile));
  bool is_whole = document.root()["op_info"].IsArray();
  document.root()["op_info"].ForEachElement([&](JsonValue op) {
    const auto id = op["op_id"].AsInt();
    const auto user = Doubles(op["metrics"]["user_utilization"]);
    const auto system = Doubles(op["metrics"]["sys_utilization"]);
    is_whole = is_whole && id && user && system;
    if (is_whole) out.cpu.push_back({*id, *user, *system});
  });
  if (!is_whole) return Damaged(path, "an operation's CPU time cannot be read");
  return {};
}

// "type extra batch value timestamp"
std::optional<store::PipelineBatch> ReadBatch(std::string_view line) {
  double values[5];
  for (double& value : values) {
    line = Trim(line);
    const size_t end = std::min(line.find(' '), line.size());
    const auto number = ParseDouble(line.substr(0, end));
    if (!number) return std::nullopt;
    value = *number;
    line.remove_prefix(end);
  }
  if (!Trim(line).empty()) return std::nullopt;
  return store::PipelineBatch{static_cast<int64_t>(values[0]), static_cast<int64_t>(values[1]),
                              static_cast<int64_t>(values[2]), values[3], values[4]};
}

Status ReadBatches(const fs::path& path, DataPipeline& out) {
  SL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path.string(), kMaxWholeFile));
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = Trim(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (line.empty()) continue;
    const auto batch = ReadBatch(line);
    if (!batch)
      return Damaged(path, fmt::format("line {}: five numbers were expected", line_number));
    out.batches.push_back(*batch);
  }
  return {};
}

Result<DataPipeline> ReadWithOtherFiles(const fs::path& folder, const std::string& number) {
  SL_ASSIGN_OR_RETURN(
      DataPipeline out,
      ReadPipeline(folder / fmt::format("pipeline_profiling_{}.json", number), number));
  const fs::path device_queue = folder / fmt::format("device_queue_profiling_{}.txt", number);
  std::error_code error;
  out.has_device_queue = fs::exists(device_queue, error);
  Status other = ReadCpu(folder / fmt::format("minddata_cpu_utilization_{}.json", number), out);
  if (other.ok()) {
    other = ReadBatches(out.has_device_queue
                            ? device_queue
                            : folder / fmt::format("dataset_iterator_profiling_{}.txt", number),
                        out);
  }
  if (!other.ok()) out.problem = other.error().message;
  return out;
}

}  // namespace

std::vector<Result<DataPipeline>> ReadDataPipelines(const std::string& capture) {
  const fs::path folder = fs::path(capture) / format::kFrameworkFolder;
  std::vector<std::string> numbers;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto number = MiddleOf(name, "pipeline_profiling_", ".json");
    if (number && ParseInt64(*number)) numbers.emplace_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<Result<DataPipeline>> out;
  for (const std::string& number : numbers) out.push_back(ReadWithOtherFiles(folder, number));
  return out;
}

}  // namespace steplens::readers
