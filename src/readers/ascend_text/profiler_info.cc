#include "readers/ascend_text/profiler_info.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/saturate.h"
#include "readers/ascend_text/ascend_text.h"

namespace steplens::readers {
namespace {

Result<JsonDocument> ParseObject(const TextInput& input) {
  SL_ASSIGN_OR_RETURN(JsonDocument document, input.ParseJson());
  if (document.root().IsObject()) return document;
  return Error{ErrorCode::kCorruptData, fmt::format("{}: a JSON object was expected", input.path)};
}

void AppendMeta(std::string_view name, std::string_view value, store::TraceStore& out) {
  out.meta.Append({.name = out.strings.Intern(name), .value = out.strings.Intern(value)});
}

void AppendScalars(const std::string& path, JsonValue value, store::TraceStore& out) {
  if (!value.IsObject()) {
    const std::string text = value.ToText();
    const bool is_null = text == "null" && !value.IsString();
    return AppendMeta(path, is_null ? "" : text, out);
  }
  value.ForEachMember([&](std::string_view key, JsonValue member) {
    AppendScalars(path.empty() ? std::string(key) : fmt::format("{}.{}", path, key), member, out);
  });
}

// "ProfilerLevel.Level1", "level1", "Level_none" -> "Level1", "LevelNone"
std::string NormalLevel(std::string_view text) {
  constexpr std::string_view kLevels[] = {"LevelNone", "Level0", "Level1", "Level2"};
  std::string plain;
  for (const char c : text.substr(text.find_last_of('.') + 1)) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view level : kLevels) {
    if (plain == fmt::format("level{}", level == "LevelNone" ? "none" : level.substr(5))) {
      return std::string(level);
    }
  }
  return std::string(text);
}

// A text, or a list of texts; MindSpore may write "ExportType.Text".
std::string NormalExportType(JsonValue value) {
  std::string out;
  const auto add = [&](std::string_view text) {
    if (!out.empty()) out += ',';
    for (const char c : text.substr(text.find_last_of('.') + 1)) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  };
  if (const auto text = value.AsString()) add(*text);
  value.ForEachElement([&](JsonValue item) { add(item.AsString().value_or("")); });
  return out;
}

// The machine, under the names a db has for it.
void AppendHost(JsonValue from, std::string_view name_key, std::string_view uid_key,
                store::TraceStore& out) {
  const auto add = [&](std::string_view fact, std::string_view key) {
    const auto text = from[key].AsString();
    if (text && !text->empty() && !out.FindMeta(fact)) AppendMeta(fact, std::string(*text), out);
  };
  add("hostName", name_key);
  add("hostUid", uid_key);
}

}  // namespace

Status ReadProfilerInfoFile(const TextInput& input, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, ParseObject(input));
  AppendScalars("", document.root(), out);
  AppendHost(document.root()["steplens_host"], "host", "host_uid", out);
  CountRecordingLosses(document.root(), input.base_name(), out.issues);
  const JsonValue rank_id = document.root()["rank_id"];
  if (rank_id.exists() && rank_id.ToText() != "null" && !rank_id.AsInt()) {
    out.issues.Add(store::IssueKind::kJsonFieldInvalid,
                   fmt::format("{}: rank_id is not a rank: '{}'", input.base_name(),
                               rank_id.ToText().substr(0, 60)));
  }
  return {};
}

void CountRecordingLosses(JsonValue root, std::string_view name, store::IssueLog& issues) {
  const JsonValue drops = root["steplens_drops"];
  const auto count = [&](std::string_view key) {
    return std::max<int64_t>(drops[key].AsInt().value_or(0), 0);
  };
  const int64_t dropped = count("dropped");
  const int64_t lost_on_write = count("lost_on_write");
  const int64_t lost = AddSaturating(dropped, lost_on_write);
  if (lost > 0) {
    issues.Add(
        store::IssueKind::kRecordsDropped,
        fmt::format("{}: {} of {} records were lost while recording ({} because buffers were "
                    "full, {} because they could not be written)",
                    name, lost, AddSaturating(lost, count("recorded")), dropped, lost_on_write),
        static_cast<uint64_t>(lost));
  }
  const bool is_ours = root["steplens_pid"].exists();
  const bool has_end = root["end_info"].exists() || root["ms_profiler_info"]["end_info"].exists();
  if (is_ours && !has_end) {
    issues.Add(store::IssueKind::kCaptureUnfinished,
               fmt::format("{}: it says when the recording began, not when it ended", name));
  }
}

Status ReadProfilerMetadata(const TextInput& input, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, ParseObject(input));
  document.root().ForEachMember(
      [&](std::string_view key, JsonValue value) { AppendMeta(key, value.ToText(), out); });
  return {};
}

Status ReadDeviceInfo(const TextInput& input, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, ParseObject(input));
  if (out.FindMeta("DeviceInfo")) return {};  // of the rank's first device
  AppendHost(document.root(), "hostname", "hostUid", out);
  document.root()["DeviceInfo"].ForEachElement([&](JsonValue device) {
    if (!out.FindMeta("DeviceInfo")) AppendMeta("DeviceInfo", device.ToText(), out);
  });
  return {};
}

Result<ProfilerInfo> ReadProfilerInfo(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, ParseObject({path, {}}));
  const JsonValue root = document.root();
  const JsonValue torch_config = root["config"]["experimental_config"];
  const JsonValue mindspore_config = root["profiler_parameters"];
  const auto either = [](JsonValue first, JsonValue second) {
    return first.exists() ? first : second;
  };
  ProfilerInfo info;
  info.rank_id =
      either(root["rank_id"], root["ms_profiler_info"]["rank_id"]).AsInt().value_or(store::kNone);
  info.level =
      NormalLevel(either(torch_config["_profiler_level"], mindspore_config["profiler_level"])
                      .AsString()
                      .value_or(""));
  info.export_type =
      NormalExportType(either(torch_config["_export_type"], mindspore_config["export_type"]));
  return info;
}

}  // namespace steplens::readers
