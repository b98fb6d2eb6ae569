#include "server/view_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/private_folder.h"

namespace steplens::server {
namespace {

Result<std::string> PathOf(const Workspace& workspace, std::string_view id) {
  if (workspace.options().state_directory.empty())
    return Error{ErrorCode::kUnsupported, "there is no cache directory to keep views in"};
  return fmt::format("{}/{}.slview.json", workspace.options().state_directory, id);
}

bool IsId(std::string_view id) {
  return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<std::string> KeepViewFile(const Workspace& workspace, const std::string& path) {
  SL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const Result<JsonDocument> view = JsonDocument::Parse(text, path);
  if (!view.ok()) return view.error();
  if (!view->root().IsObject())
    return Error{ErrorCode::kCorruptData, fmt::format("{}: not a view file: no JSON object", path)};
  return KeepView(workspace, text);
}

Result<std::string> KeepView(const Workspace& workspace, std::string_view json) {
  const std::string id = fmt::format("{:016x}", Hash64(json));
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(workspace, id));
  SL_RETURN_IF_ERROR(MakePrivateFolder(workspace.options().state_directory));
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  file.MakePrivate();
  SL_RETURN_IF_ERROR(file.Write(json.data(), json.size()));
  SL_RETURN_IF_ERROR(file.Commit());
  return id;
}

Result<std::string> ReadView(const Workspace& workspace, std::string_view id) {
  if (!IsId(id)) return Error{ErrorCode::kInvalidArgument, "this is not the id of a view"};
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(workspace, id));
  Result<std::string> text = ReadFile(path);
  if (text.ok()) return text;
  return Error{ErrorCode::kNotFound, fmt::format("there is no view {} on this machine", id)};
}

std::vector<std::string> SplitPaths(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    if (!part.empty()) out.emplace_back(part);
  }
  return out;
}

}  // namespace steplens::server
