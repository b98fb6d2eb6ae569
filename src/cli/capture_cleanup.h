#pragma once

#include <string>

namespace steplens::cli {

// What the reference tools do to a capture once its results exist. The device's raw data stays;
// what cannot be removed or moved stays as well.
struct CleanUp {
  bool is_mindspore = false;
  bool simplify = false;           // the exporter's files are not needed any more
  bool removes_framework = false;  // FRAMEWORK is not needed either
};

void CleanUpCapture(const std::string& capture, const CleanUp& how);

}  // namespace steplens::cli
