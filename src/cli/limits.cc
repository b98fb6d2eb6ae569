#include "cli/limits.h"

#include <limits>

#include "base/gzip.h"
#include "base/memory_limit.h"

namespace steplens::cli {

std::vector<OptionSpec> LimitOptions() {
  return {{.name = "--max-memory",
           .value_name = "SIZE",
           .help = "Memory limit: 8G, 75% (of the machine's memory) or none",
           .default_value = "80%"},
          {.name = "--max-unpacked",
           .value_name = "SIZE",
           .help = "Size limit for unpacking a compressed file: 8G or none. Default: 256G, and 200 "
                   "times its size beyond 256M"}};
}

Status SetLimits(const Arguments& arguments) {
  const std::string memory = arguments.Value("--max-memory");
  if (memory.empty()) return {};  // a command that reads no captures
  Result<uint64_t> bytes = ParseMemory(memory);
  if (!bytes.ok()) return std::move(bytes).error().During("--max-memory");
  LimitMemory(*bytes);
  if (!arguments.Has("--max-unpacked")) return {};
  Result<uint64_t> unpacked = ParseMemory(arguments.Value("--max-unpacked"));
  if (!unpacked.ok()) return std::move(unpacked).error().During("--max-unpacked");
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  SetUnpackLimits(
      {.free_bytes = kMost, .max_ratio = kMost, .max_bytes = *unpacked == 0 ? kMost : *unpacked});
  return {};
}

}  // namespace steplens::cli
