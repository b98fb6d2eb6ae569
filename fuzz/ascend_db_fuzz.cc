#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "readers/ascend_db/ascend_db.h"

// Any bytes as a database: both readers must end, soon, without a crash.

namespace {

// SQLite opens by name, so the bytes go to a file of this process.
bool WriteInput(const std::string& path, const uint8_t* data, size_t size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return false;
  const bool is_whole = ::write(fd, data, size) == static_cast<ssize_t>(size);
  ::close(fd);
  return is_whole;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace steplens;
  static const std::string path = "/tmp/ascend_db_fuzz." + std::to_string(::getpid()) + ".db";
  if (!WriteInput(path, data, size)) return 0;
  store::TraceStore profiler;
  (void)readers::ReadProfilerDb(path, {}, profiler).ok();
  store::TraceStore analysis;
  (void)readers::ReadAnalysisDb(path, {}, analysis).ok();
  ::unlink(path.c_str());
  return 0;
}
