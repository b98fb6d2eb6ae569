#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace steplens::cli {

size_t TerminalWidth() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace steplens::cli
