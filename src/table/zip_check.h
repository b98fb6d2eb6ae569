#pragma once

#include <string>

#include "base/status.h"

namespace steplens::table {

// Whether every member of a zip file is a whole XML document, one that ends by closing the element
// it opened first: a disk that was full for a moment leaves a sound archive of members that stop
// half-way. Knows the plain form of zip only: no comment, below 4 GB.
Result<bool> HoldsWholeXmlMembers(const std::string& path);

}  // namespace steplens::table
