#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/compare/runs/run_summary.h"
#include "base/status.h"

namespace steplens::analysis::runs {

// A run's summary as a file that outlives its captures and this version of the program:
//
//   "steplens baseline\n"  18 bytes
//   version                1 byte: kBaselineVersion
//   checksum               8 bytes, little endian: Hash64 of all that follows
//   body                   the summary (base/archive.h)
inline constexpr uint8_t kBaselineVersion = 1;

std::string ToBaseline(const RunSummary& run);

// `path` is used in messages. kCorruptData if the bytes are no baseline or damaged, kUnsupported if
// a newer program wrote them.
Result<RunSummary> FromBaseline(std::string_view bytes, std::string_view path);

}  // namespace steplens::analysis::runs
