#include "readers/nsys/nsys.h"

#include "fuzz/input_file.h"

// Any bytes as an Nsight Systems export: the reader must end, soon, without a crash.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace steplens;
  const fuzz::InputFile file("nsys_fuzz", data, size);
  store::TraceStore store;
  (void)readers::ReadNsysDb(file.path(), {}, store).ok();
  return 0;
}
