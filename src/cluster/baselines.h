#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/runs/run_summary.h"
#include "base/status.h"

namespace steplens::cluster {

// Where baselines are kept: `chosen` if it is not empty, else $STEPLENS_BASELINE_DIR, else
// $XDG_DATA_HOME/steplens/baselines, else ~/.local/share/steplens/baselines.
Result<std::string> BaselineFolder(const std::string& chosen);

// The baselines of one folder, a file NAME.baseline each. A name has letters, digits, '.', '_' and
// '-', and does not begin with '.' or '-'.
class Baselines {
 public:
  explicit Baselines(std::string folder) : folder_(std::move(folder)) {}

  // Writes it whole or not at all; makes the folder. One that is there is replaced.
  Result<std::string> Save(const std::string& name, const analysis::runs::RunSummary& run) const;
  Result<analysis::runs::RunSummary> Load(const std::string& name) const;
  Status Remove(const std::string& name) const;

  struct Entry {
    std::string name;
    std::string path;
    uint64_t size_bytes = 0;
  };
  // By name; empty if the folder is not there.
  Result<std::vector<Entry>> List() const;

 private:
  Result<std::string> PathOf(const std::string& name) const;
  Error NoSuch(const std::string& name) const;

  std::string folder_;
};

// "baseline:nightly" -> "nightly"; nothing for a path.
inline constexpr std::string_view kBaselinePrefix = "baseline:";

}  // namespace steplens::cluster
