#include <csignal>

#include "base/cancel.h"
#include "base/memory_limit.h"
#include "base/sqlite_setup.h"
#include "cli/command.h"
#include "cli/standard_streams.h"

namespace {

// The first Ctrl-C asks the work to stop; the second one, should that take too long, ends the
// program.
void OnInterrupt(int signal_number) {
  if (steplens::IsCancelled()) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
  steplens::RequestCancel();
}

}  // namespace

int main(int argc, char** argv) {
  steplens::cli::OpenStandardStreams();
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is a failed write, not the end
  steplens::EndWithSentence();
  steplens::SetUpSqlite();
  return steplens::cli::RunProgram(argc, argv);
}
