#include "fuzz/input_file.h"
#include "readers/ascend_db/ascend_db.h"

// Any bytes as a database: both readers must end, soon, without a crash.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace steplens;
  const fuzz::InputFile file("ascend_db_fuzz", data, size);
  store::TraceStore profiler;
  (void)readers::ReadProfilerDb(file.path(), {}, profiler).ok();
  store::TraceStore analysis;
  (void)readers::ReadAnalysisDb(file.path(), {}, analysis).ok();
  return 0;
}
