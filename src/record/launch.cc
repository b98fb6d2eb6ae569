#include "record/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace steplens::record {
namespace {

namespace fs = std::filesystem;

std::string IfThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? path.string() : "";
}

std::string FirstThere(const std::vector<fs::path>& candidates) {
  for (const fs::path& candidate : candidates) {
    if (std::string found = IfThere(candidate); !found.empty()) return found;
  }
  return "";
}

std::string PutFirst(const std::string& folder, const char* variable) {
  const char* present = std::getenv(variable);
  return present == nullptr || *present == '\0' ? folder : folder + ":" + present;
}

// The program that is being waited for, for the handler below.
volatile sig_atomic_t g_child = 0;

void PassOn(int signal_number) {
  if (g_child > 0) ::kill(g_child, signal_number);
}

// A child tells why it could not become the program through a pipe that closes on success.
[[noreturn]] void BecomeProgram(const std::vector<std::string>& words,
                                const std::vector<std::pair<std::string, std::string>>& environment,
                                int report_fd) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  ::execvp(argv[0], argv.data());
  const int why = errno;
  if (::write(report_fd, &why, sizeof(why)) < 0) ::_exit(126);
  ::_exit(127);
}

int WaitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Parts Parts::Find() {
  Parts parts;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path here = self.parent_path();
  const fs::path installed = here.parent_path() / "lib" / "steplens";
  parts.program = self.string();
  parts.python_package = FirstThere({here / "python", installed / "python"});
  if (parts.python_package.empty() && !IfThere(here.parent_path() / "_bootstrap").empty()) {
    parts.python_package = here.parent_path().parent_path().string();  // installed by pip
  }
  if (!parts.python_package.empty()) {
    parts.python_bootstrap = IfThere(fs::path(parts.python_package) / "steplens" / "_bootstrap");
  }
  parts.collect_library =
      FirstThere({here / "libsteplens_collect.so", installed / "libsteplens_collect.so",
                  fs::path(parts.python_package) / "steplens" / "libsteplens_collect.so"});
  return parts;
}

std::vector<std::pair<std::string, std::string>> RecordingEnvironment(const Config& config,
                                                                      const Parts& parts) {
  std::vector<std::pair<std::string, std::string>> environment = {
      {"STEPLENS_RECORD", ToJson(config)}, {"STEPLENS_PROGRAM", parts.program}};
  if (!parts.python_bootstrap.empty()) {
    environment.emplace_back(
        "PYTHONPATH", PutFirst(parts.python_bootstrap + ":" + parts.python_package, "PYTHONPATH"));
  }
  if (!parts.collect_library.empty()) {
    environment.emplace_back("STEPLENS_COLLECT_LIBRARY", parts.collect_library);
    if (std::getenv("MSTX_INJECTION_PATH") == nullptr) {
      environment.emplace_back("MSTX_INJECTION_PATH", parts.collect_library);
    }
  }
  return environment;
}

Result<int> RunProgram(const std::vector<std::string>& words, const Config& config,
                       const Parts& parts) {
  const auto environment = RecordingEnvironment(config, parts);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  }
  const pid_t child = ::fork();
  if (child < 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot start {}: {}", words[0], std::strerror(errno))};
  }
  if (child == 0) BecomeProgram(words, environment, report[1]);
  ::close(report[1]);
  g_child = child;
  for (const int signal_number : {SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal_number, PassOn);
  std::signal(SIGINT, SIG_IGN);  // the terminal sends it to the program as well
  int why = 0;
  const bool failed = ::read(report[0], &why, sizeof(why)) == sizeof(why);
  ::close(report[0]);
  const int code = WaitFor(child);
  g_child = 0;
  if (failed) {
    return Error{why == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("cannot start '{}': {}", words[0], std::strerror(why))};
  }
  return code;
}

}  // namespace steplens::record
