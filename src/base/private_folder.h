#pragma once

#include <string>

#include "base/status.h"

namespace steplens {

// Sees to a folder that is this user's alone: made with mode 0700 where it is not there, with the
// folders above it. kUnsupported with the reason if it belongs to somebody else, or if others may
// write to it; kIo if it cannot be made.
Status MakePrivateFolder(const std::string& path);

// The same; and if it is ours, but others may look into it, they no longer may. For folders whose
// name we chose.
Status MakeOwnFolder(const std::string& path);

// Whether a folder is there, this user's, no link, and nobody else may write to it.
bool IsPrivateFolder(const std::string& path);

// A file of this user in a folder that others may reach: no link, nothing that would be waited for.
// kNotFound if there is none, kUnsupported with the reason if it is somebody else's or no file.
Result<std::string> ReadOwnFile(const std::string& path, size_t max_bytes);

}  // namespace steplens
