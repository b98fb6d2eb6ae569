#pragma once

namespace steplens::analysis {

// communication.json counts in milliseconds and in 10^6 bytes.
inline constexpr double kNsPerMs = 1e6;
inline constexpr double kBytesPerMb = 1e6;

}  // namespace steplens::analysis
