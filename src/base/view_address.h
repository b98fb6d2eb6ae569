#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steplens {

// "PATH#/PAGE?NAME=VALUE&...": the link to one view of a profile that `steplens view` opens. What
// means something in an address is written as %XX.
std::string ViewAddress(std::string_view path, std::string_view page,
                        const std::vector<std::pair<std::string, std::string>>& state);

}  // namespace steplens
