#pragma once

#include <string_view>

namespace steplens::collect {

#ifndef STEPLENS_VERSION
#define STEPLENS_VERSION "unknown"
#endif
inline constexpr std::string_view kVersion = STEPLENS_VERSION;

}  // namespace steplens::collect
