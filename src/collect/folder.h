#pragma once

#include <string>

namespace steplens::collect {

// The folder of a capture on disk.
struct CaptureFolderState {
  std::string path;
  bool is_ours = false;  // it was not there before
};

// Makes `path`, its parents and FRAMEWORK in it, mode 0750. The error text or "".
std::string MakeCaptureFolder(const std::string& path, CaptureFolderState* out);

// Removes what the capture wrote, and the folder if it is ours.
void RemoveCaptureFolder(const CaptureFolderState& folder);

}  // namespace steplens::collect
