#pragma once

#include <string>

namespace steplens::cli {

// What the reference tools do to a capture once its results exist. FRAMEWORK and the device's raw
// data stay; what cannot be removed or moved stays as well.
struct CleanUp {
  bool is_mindspore = false;
  bool simplify = false;  // the exporter's files are not needed any more
};

void CleanUpCapture(const std::string& capture, const CleanUp& how);

}  // namespace steplens::cli
