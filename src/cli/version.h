#pragma once

namespace steplens::cli {

inline constexpr const char* kVersion = STEPLENS_VERSION;

}  // namespace steplens::cli
