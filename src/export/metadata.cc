#include "export/metadata.h"

#include <algorithm>

#include "base/json.h"
#include "base/json_writer.h"
#include "export/directory.h"
#include "export/export.h"
#include "export/text/file_out.h"

namespace steplens::exporting {
namespace {

// Where a name with one of these in front comes from: profiler_info*.json of torch_npu and
// MindSpore.
constexpr std::string_view kInfoSections[] = {
    "config.", "start_info.",       "end_info.",          "profiler_parameters.",
    "prof.",   "ms_profiler_info.", "cann_profiler_info", "analysis_cost_time"};
constexpr std::string_view kInfoNames[] = {
    "rank_id",    "torch_npu_version", "cann_version", "ms_version",  "jit_level", "DeviceInfo",
    "hostUid",    "hostName",          "npuName",      "startTimeNs", "endTimeNs", "config",
    "start_info", "end_info"};

bool IsMetadata(std::string_view name) {
  if (name.starts_with("SCHEMA_VERSION") || name.starts_with("steplens_")) return false;
  return std::none_of(std::begin(kInfoSections), std::end(kInfoSections),
                      [&](std::string_view section) { return name.starts_with(section); }) &&
         std::find(std::begin(kInfoNames), std::end(kInfoNames), name) == std::end(kInfoNames);
}

// The store has structured values and numbers as JSON, texts bare.
bool IsJson(std::string_view value) {
  if (value.empty()) return false;
  const bool may_be = value.front() == '{' || value.front() == '[' || value.front() == '-' ||
                      (value.front() >= '0' && value.front() <= '9') || value == "true" ||
                      value == "false" || value == "null";
  return may_be && JsonDocument::Parse(value, "meta").ok();
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> MetadataFacts(
    const store::TraceStore& store) {
  std::vector<std::pair<std::string_view, std::string_view>> facts;
  for (size_t i = 0; i < store.meta.size(); ++i) {
    const std::string_view name = store.Text(store.meta.name[i]);
    const bool is_known = std::any_of(facts.begin(), facts.end(),
                                      [&](const auto& fact) { return fact.first == name; });
    if (!is_known && IsMetadata(name)) facts.emplace_back(name, store.Text(store.meta.value[i]));
  }
  return facts;
}

Status WriteProfilerInfo(const store::TraceStore& store, const std::string& dir) {
  JsonWriter json;
  json.BeginObject().Key("rank_id").Int(store.info.rank).EndObject();
  const std::string name = "profiler_info_" + std::to_string(store.info.rank) + ".json";
  return WriteWholeFile(dir + "/" + name, json.Take());
}

Status WriteProfilerMetadata(const store::TraceStore& store, const std::string& path) {
  const auto facts = MetadataFacts(store);
  if (facts.empty()) return {};
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, value] : facts) {
    json.Key(name);
    IsJson(value) ? json.Raw(value) : json.String(value);
  }
  return WriteWholeFile(path, json.EndObject().Take());
}

}  // namespace steplens::exporting
