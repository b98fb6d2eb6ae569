#pragma once

#include <string>
#include <string_view>

namespace steplens::server {

// A page that needs nothing else: `json` is what snapshot.cc writes. Names stay data in it: they
// are drawn on a canvas or set as text, never parsed as markup.
std::string SnapshotPage(std::string_view json);

}  // namespace steplens::server
