#pragma once

#include <string>

namespace steplens::cli {

// A page for the browser to open, in a folder that only this user can look into, which leads to an
// address: the address itself, with its token, would be in the list of processes for everybody.
// Removed at the end.
class RedirectPage {
 public:
  explicit RedirectPage(const std::string& url);
  ~RedirectPage();
  RedirectPage(const RedirectPage&) = delete;
  RedirectPage& operator=(const RedirectPage&) = delete;
  std::string path() const { return folder_ + "/open.html"; }
  bool is_there() const { return !folder_.empty(); }  // false: it could not be written

 private:
  std::string folder_;
};

}  // namespace steplens::cli
