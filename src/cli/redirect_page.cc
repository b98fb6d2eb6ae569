#include "cli/redirect_page.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace steplens::cli {

namespace fs = std::filesystem;

RedirectPage::RedirectPage(const std::string& url) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "steplens_view_XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) return;  // its mode is 0700
  folder_ = folder;
  std::string escaped;
  for (const char c : url) escaped += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  std::ofstream(path()) << fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><title>steplens</title>\n"
      "<meta http-equiv=\"refresh\" content=\"0;url={0}\">\n<a href=\"{0}\">steplens</a>\n",
      escaped);
  fs::permissions(path(), fs::perms(0600), error);
}

RedirectPage::~RedirectPage() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace steplens::cli
