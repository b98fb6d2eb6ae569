#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens {

// Where links inside the user's folders may lead: below the paths that the user gave, the roots. A
// capture may come from anybody, and a link in it must not make us read other files. One set for
// the process, as every reader opens files by path. Thread safe. Paths that are below no root as
// they are written (our own files) are not checked; the root itself may be a link.

void AddRoot(const std::string& path);
// The same, unless it is below a root already, as it is written.
void AddRootUnlessBelow(const std::string& path);
void FollowLinks();  // --follow-links: from now on links may lead anywhere

// Whether a path that is below a root, as it is written, really leads elsewhere. False for what
// does not exist.
bool LeavesRoots(const std::string& path);
// The same of a file that was opened by this path: it cannot be replaced in between.
bool LeavesRoots(const std::string& path, int fd);

inline constexpr std::string_view kLeavesRoots =
    "a link that leaves the given folder; --follow-links follows it";

}  // namespace steplens
