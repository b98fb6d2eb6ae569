#pragma once

#include <string>
#include <string_view>

namespace steplens::analysis::cluster {

// The name of a communication group in result files: the decimal double hash of its id
// ("10.0.0.1%eth0_60000_0_17..." -> "3703241067009432563"). A text that is a number already is a
// name and stays as it is.
std::string GroupName(std::string_view group_id);

// The last three digits, as operator names carry them. Not unique: never an identity.
std::string_view GroupSuffix(std::string_view group_name);

}  // namespace steplens::analysis::cluster
