#include "faults.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace standin {

void Log(const char* format, ...) {
  const char* path = std::getenv("STANDIN_LOG");
  if (path == nullptr) return;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line, sizeof(line) - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if (length > static_cast<int>(sizeof(line)) - 2) length = static_cast<int>(sizeof(line)) - 2;
  line[length++] = '\n';
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0) return;
  if (write(fd, line, static_cast<size_t>(length)) < 0) std::perror(path);
  close(fd);
}

int64_t Setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

int Planted(const char* function, std::atomic<int>& calls, int otherwise) {
  const int call = ++calls;
  const char* wanted = std::getenv("STANDIN_FAIL");
  if (wanted == nullptr) return otherwise;
  std::string rest = wanted;
  while (!rest.empty()) {
    const size_t end = rest.find(',');
    const std::string item = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    const size_t code = item.find(':');
    if (code == std::string::npos || item.substr(0, code) != function) continue;
    const size_t which = item.find(':', code + 1);
    const int wanted_call = which == std::string::npos ? 1 : std::atoi(item.c_str() + which + 1);
    if (call == wanted_call) return std::atoi(item.c_str() + code + 1);
  }
  return otherwise;
}

}  // namespace standin
