#include "collect/auto_analysis.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace steplens::collect {
namespace {

// The program is not part of what is recorded.
std::vector<char*> Environment() {
  std::vector<char*> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("STEPLENS_RECORD=") && !text.starts_with("LD_PRELOAD=")) {
      out.push_back(*variable);
    }
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

pid_t StartAnalysis(const std::string& capture, std::string* problem) {
  const char* program = std::getenv("STEPLENS_PROGRAM");
  if (program == nullptr || program[0] == '\0') {
    *problem = "STEPLENS_PROGRAM is not set";
    return -1;
  }
  std::string words[] = {program, "analyse", capture};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t analysis = -1;
  const int error =
      posix_spawn(&analysis, program, &actions, nullptr, arguments, Environment().data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return analysis;
  *problem = std::string(program) + ": " + std::strerror(error);
  return -1;
}

void WaitForAnalysis(pid_t analysis) {
  while (waitpid(analysis, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace steplens::collect
