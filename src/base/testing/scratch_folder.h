#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace steplens {

// A folder below /tmp for one test, removed at the end with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    char name[] = "/tmp/steplens_test.XXXXXX";
    path_ = mkdtemp(name);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Makes a file of the bytes; its path.
  std::string Write(std::string_view name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // The content of a file; empty if there is none.
  std::string Read(std::string_view name) const {
    std::ifstream in(*this / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  bool Has(std::string_view name) const { return std::filesystem::exists(*this / name); }
  size_t FileCount() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

}  // namespace steplens
