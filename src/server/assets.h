#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace steplens::server {

// A file of the web app.
struct Asset {
  std::string body;
  std::string content_type;
  std::string etag;
  bool is_gzip = false;       // body is packed
  bool is_immutable = false;  // its name changes with its content
};

// The web app: files packed into the program, or read from a folder (for its developers). Without
// either there is one page that says how to build it. Thread safe.
class Assets {
 public:
  // `folder` empty: what is in the program.
  explicit Assets(std::string folder) : folder_(std::move(folder)) {}

  // `path` as requested, e.g. "/" or "/assets/app-1a2b3c.js". Nothing if there is no such file.
  // `accepts_gzip`: whether a packed body can be sent.
  std::optional<Asset> Find(std::string_view path, bool accepts_gzip) const;

 private:
  std::optional<Asset> FromFolder(const std::string& name, bool accepts_gzip) const;
  std::string folder_;
};

}  // namespace steplens::server
