#include "analysis/explain/explain_common.h"

#include <fmt/format.h>

namespace steplens::analysis {

std::string TimeText(int64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  if (us < 1) return fmt::format("{} ns", ns);
  // What rounds to a thousand has the next unit.
  if (us < 999.5) return fmt::format("{:.3g} us", us);
  if (us < 999.5e3) return fmt::format("{:.3g} ms", us / 1e3);
  if (us < 999.5e6) return fmt::format("{:.3g} s", us / 1e6);
  return fmt::format("{:.0f} s", us / 1e6);
}

Evidence MakeEvidence(Message wording, int64_t ns, int64_t whole_ns) {
  const double share = whole_ns > 0 ? static_cast<double>(ns) / static_cast<double>(whole_ns) : 0;
  return {std::move(wording), ns, share};
}

}  // namespace steplens::analysis
