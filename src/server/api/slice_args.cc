#include "server/api/slice_args.h"

#include "analysis/operators/host_ops.h"

namespace steplens::server {
SliceArgs ReadArgs(readers::SliceArgsReader& reader, const store::TraceStore& store,
                   uint32_t slice) {
  Result<std::string> text = reader.Read(store, store::SliceId{slice});
  if (!text.ok()) return {SliceArgs::State::kUnreadable};
  if (text->empty()) return {};
  const Result<JsonDocument> args = JsonDocument::Parse(*text, "args");
  if (!args.ok() || !args->root().IsObject()) return {SliceArgs::State::kUnreadable};
  return {SliceArgs::State::kRead, *std::move(text)};
}

std::string ArgText(readers::SliceArgsReader& reader, const store::TraceStore& store,
                    uint32_t slice, std::string_view name) {
  if (store.slices.args_offset[slice] != store::kNone) {
    const Result<std::string> text = reader.Read(store, store::SliceId{slice});
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
  if (name == "Sequence number") {
    const store::MaybeInt number = store.host_ops.sequence_number[row];
    return number.is_known() ? std::to_string(number.value()) : "";
  }
  return "";
}

}  // namespace steplens::server
