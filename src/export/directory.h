#pragma once

#include <string>

#include "base/status.h"

namespace steplens::exporting {

// Creates the folder and those above it; fine if it exists.
Status MakeDirectory(const std::string& path);

}  // namespace steplens::exporting
