#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/workspace.h"

namespace steplens::server {

// Copies a view file (*.slview.json) to the views the server keeps and returns its id there.
Result<std::string> KeepViewFile(const Workspace& workspace, const std::string& path);
// The same for a view in memory: any JSON object.
Result<std::string> KeepView(const Workspace& workspace, std::string_view json);
// The view of an id; kNotFound if there is none.
Result<std::string> ReadView(const Workspace& workspace, std::string_view id);

// "a:b" -> {"a", "b"}, without empty parts.
std::vector<std::string> SplitPaths(std::string_view list);

}  // namespace steplens::server
