#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/command.h"
#include "cluster/output.h"
#include "cluster/run.h"

// What `steplens cluster` can be asked for.

namespace steplens::cli {

struct ClusterRequest {
  enum class Kind : uint8_t {
    kAnswer,  // steplens cluster -d DIR
    kMap,     // steplens cluster map -d DIR --out FILE
    kReduce,  // steplens cluster reduce FILE...
  };
  Kind kind = Kind::kAnswer;
  cluster::RunOptions run;
  cluster::ExportType type = cluster::ExportType::kDb;
  std::string output;
  std::vector<std::string> notes;    // about the files of parts
  std::vector<std::string> unknown;  // words that mean nothing
};

// An error (kInvalidArgument) if the words make no sense; reads the files that are to be reduced.
Result<ClusterRequest> ParseClusterRequest(const Arguments& arguments);

// "~/x" and "=x" as people write them.
std::string CleanPath(std::string path);

std::vector<OptionSpec> ClusterOptions();

}  // namespace steplens::cli
