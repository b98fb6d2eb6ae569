#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace steplens::exporting {

// A folder below /tmp for one test, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    char name[] = "/tmp/steplens_export_test.XXXXXX";
    path_ = mkdtemp(name);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  bool Has(const std::string& name) const { return std::filesystem::exists(path_ + "/" + name); }
  // The content of a file; empty if there is none.
  std::string Read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  size_t FileCount() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

}  // namespace steplens::exporting
