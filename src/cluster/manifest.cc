#include "cluster/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/absolute_path.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace steplens::cluster {
namespace {

constexpr int64_t kVersion = 1;

Error Refused(const std::string& path, const std::string& why) {
  return {ErrorCode::kInvalidArgument, fmt::format("--manifest: {}: {}", path, why)};
}

}  // namespace

Result<std::vector<std::string>> ReadManifest(const std::string& path, const std::string& input) {
  const Result<JsonDocument> document = JsonDocument::ReadFile(path, kMaxWholeFile);
  if (!document.ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--manifest: {}", document.error().message)};
  }
  const JsonValue root = document->root();
  if (root["version"].AsInt() != kVersion || !root["ranks"].IsArray())
    return Refused(path, fmt::format("not a manifest of version {}", kVersion));
  const std::string of(root["input"].AsString().value_or(""));
  if (of != AbsolutePath(input))
    return Refused(path, fmt::format("it lists the captures of {}", of));
  std::vector<std::string> folders;
  root["ranks"].ForEachElement([&](JsonValue rank) {
    if (const auto folder = rank["path"].AsString()) folders.emplace_back(*folder);
  });
  if (folders.empty()) return Refused(path, "there is no rank in it");
  return folders;
}

Status WriteManifest(const std::string& path, const std::string& input,
                     const std::vector<opening::Capture>& found,
                     const std::vector<analysis::cluster::RankFacts>& ranks) {
  std::map<int64_t, const analysis::cluster::RankFacts*> facts_of;
  for (const auto& facts : ranks) facts_of[facts.rank] = &facts;
  JsonWriter json;
  json.BeginObject().Key("version").Int(kVersion).Key("input").String(AbsolutePath(input));
  json.Key("ranks").BeginArray();
  for (const opening::Capture& capture : found) {
    const readers::RankSource& rank = capture.source;
    uint64_t size_bytes = 0;
    int64_t mtime_ns = 0;
    for (const readers::SourceFile& file : rank.files) {
      size_bytes += file.size_bytes;
      if (const Result<FileStamp> stamp = StatFile(file.path); stamp.ok())
        mtime_ns = std::max(mtime_ns, stamp->mtime_ns);
    }
    json.BeginObject().Key("rank").Int(capture.rank).Key("path").String(AbsolutePath(rank.path));
    json.Key("type").String(store::SourceName(rank.source));
    json.Key("format").String(store::FormatName(rank.format));
    json.Key("level").String(rank.level).Key("size_bytes").Int(static_cast<int64_t>(size_bytes));
    json.Key("mtime_ns").Int(mtime_ns).Key("steps").BeginArray();
    if (const auto facts = facts_of.find(capture.rank); facts != facts_of.end()) {
      for (const int64_t step : facts->second->steps) json.Int(step);
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  const std::string text = json.Take() + "\n";
  SL_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(out.Write(text.data(), text.size()));
  return out.Commit();
}

}  // namespace steplens::cluster
