#include "server/api/slice_args.h"

#include "analysis/operators/host_ops.h"
#include "base/file.h"
#include "readers/open.h"

namespace steplens::server {
namespace {

constexpr int64_t kMaxGzipOffset = int64_t{512} << 20;

bool IsGzip(const std::string& path) {
  const Result<std::string> magic = ReadFileRange(path, 0, 2);
  return magic.ok() && *magic == "\x1f\x8b";
}

}  // namespace

SliceArgs ReadArgs(const store::TraceStore& store, uint32_t slice) {
  const int64_t offset = store.slices.args_offset[slice];
  if (offset == store::kNone) return {};
  if (offset >= kMaxGzipOffset && IsGzip(store.info.trace_path)) return {SliceArgs::State::kTooFar};
  Result<std::string> text = readers::ReadSliceArgs(store, store::SliceId{slice});
  if (!text.ok()) return {SliceArgs::State::kUnreadable};
  if (text->empty()) return {};
  const Result<JsonDocument> args = JsonDocument::Parse(*text, "args");
  if (!args.ok() || !args->root().IsObject()) return {SliceArgs::State::kUnreadable};
  return {SliceArgs::State::kRead, *std::move(text)};
}

bool HasRandomArgs(const store::TraceStore& store) {
  return store.info.trace_path.empty() || !IsGzip(store.info.trace_path);
}

std::string ArgText(const store::TraceStore& store, uint32_t slice, std::string_view name) {
  const int64_t offset = store.slices.args_offset[slice];
  if (offset != store::kNone) {
    const Result<std::string> text =
        ReadFileRange(store.info.trace_path, static_cast<uint64_t>(offset),
                      static_cast<size_t>(store.slices.args_size[slice]));
    if (!text.ok()) return "";
    const Result<JsonDocument> args = JsonDocument::Parse(*text, "args");
    if (!args.ok() || !args->root().IsObject()) return "";
    const JsonValue value = args->root()[name];
    if (!value.exists()) return "";
    return value.IsString() ? std::string(*value.AsString()) : value.ToText();
  }
  const uint32_t row = analysis::FindHostOpDetail(store, store::SliceId{slice});
  if (row == store::kNoId) return "";
  if (name == "Input Dims") return std::string(store.Text(store.host_ops.input_shapes[row]));
  if (name == "Input type") return std::string(store.Text(store.host_ops.input_types[row]));
  if (name == "Sequence number") return std::to_string(store.host_ops.sequence_number[row]);
  return "";
}

}  // namespace steplens::server
