#include "cli/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "table/display_width.h"

namespace steplens::cli {
namespace {

void OpenIfClosed(int fd, int flags) {
  if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) return;
  // The lowest free number, which is `fd`: those below it are taken.
  [[maybe_unused]] const int opened = ::open("/dev/null", flags);
}

}  // namespace

void OpenStandardStreams() {
  OpenIfClosed(STDIN_FILENO, O_RDONLY);
  OpenIfClosed(STDOUT_FILENO, O_RDONLY);  // a result that goes nowhere is an error when written
  OpenIfClosed(STDERR_FILENO, O_WRONLY);
}

std::string PrintableLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = text.find('\n');
    out += table::ToPrintable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

void Say(std::string_view text) {
  const std::string printable = PrintableLines(text);
  std::fwrite(printable.data(), 1, printable.size(), stderr);
}

Status PrintResult(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return FlushResult();
}

Status FlushResult() {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return {};
  // A write that failed earlier has left no reason.
  const std::string reason = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  return Error{ErrorCode::kIo, "the result could not be written to stdout" + reason};
}

}  // namespace steplens::cli
