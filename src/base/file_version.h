#pragma once

#include <string>

namespace steplens {

// What tells this version of a file from any other, as text for cache keys: size, time of the last
// change of its content and of its entry, and inode. A file that was replaced by one of equal size
// and date differs in the last two. Empty for a file that cannot be looked at.
std::string FileVersion(const std::string& path);

}  // namespace steplens
