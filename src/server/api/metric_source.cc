#include "server/api/metric_source.h"

#include <fmt/format.h>

#if __has_include("analysis/viewer/metric.h")
#include "analysis/viewer/metric.h"
#include "readers/open.h"
#define STEPLENS_HAS_METRICS 1
#endif

namespace steplens::server {

#ifdef STEPLENS_HAS_METRICS

namespace {

using analysis::viewer::MetricArgs;

// Lists are handed on in the form "0,3-7" that metrics read.
std::string ListText(JsonValue list) {
  std::string out;
  list.ForEachElement([&](JsonValue item) {
    if (!out.empty()) out += ',';
    out += item.ToText();
  });
  return out;
}

MetricArgs ArgsOf(JsonValue object, int64_t origin_ns) {
  MetricArgs args;
  args.values["origin_ns"] = origin_ns;
  object.ForEachMember([&](std::string_view name, JsonValue value) {
    if (value.IsArray()) {
      args.values[std::string(name)] = ListText(value);
    } else if (value.IsString()) {
      args.values[std::string(name)] = std::string(*value.AsString());
    } else if (const auto whole = value.AsInt()) {
      args.values[std::string(name)] = *whole;
    } else if (const auto number = value.AsDouble()) {
      args.values[std::string(name)] = *number;
    }
  });
  return args;
}

std::string ReadArgs(const store::TraceStore& store, store::SliceId slice) {
  Result<std::string> text = readers::ReadSliceArgs(store, slice);
  return text.ok() ? *std::move(text) : std::string();
}

}  // namespace

Result<NamedResult> ComputeNamed(std::string_view name, JsonValue args, const store::Job& job,
                                 int64_t origin_ns) {
  SL_ASSIGN_OR_RETURN(
      analysis::viewer::MetricAnswer answer,
      analysis::viewer::ComputeMetric(name, ArgsOf(args, origin_ns), job, ReadArgs));
  return NamedResult{std::move(answer.tables), std::move(answer.definition),
                     std::move(answer.query), std::move(answer.warnings)};
}

#else

Result<NamedResult> ComputeNamed(std::string_view name, JsonValue, const store::Job&, int64_t) {
  return Error{
      ErrorCode::kNotFound,
      fmt::format("there is no metric '{}': this program was built without metrics", name)};
}

#endif

}  // namespace steplens::server
