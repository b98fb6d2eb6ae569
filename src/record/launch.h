#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "record/config.h"

namespace steplens::record {

// Where the parts live that the program loads: beside the steplens program in a build tree, below
// PREFIX/lib/steplens when installed, or the Python package around it when pip did. A path is empty
// if the part is not there.
struct Parts {
  std::string program;           // steplens itself
  std::string python_bootstrap;  // folder with the sitecustomize that switches recording on
  std::string python_package;    // the folder that holds the package
  std::string collect_library;   // libsteplens_collect.so
  static Parts Find();
};

// The environment that makes every process of the program record itself, as NAME=VALUE changes.
std::vector<std::pair<std::string, std::string>> RecordingEnvironment(const Config& config,
                                                                      const Parts& parts);

// Runs the program with these settings and waits for it; signals that ask this process to end are
// passed on. The exit code is the program's; 128 + n if signal n ended it.
Result<int> RunProgram(const std::vector<std::string>& words, const Config& config,
                       const Parts& parts);

}  // namespace steplens::record
