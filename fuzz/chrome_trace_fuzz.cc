// The trace reader on any bytes: it must return, and give the same store for another chunk size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "readers/chrome/chrome_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  steplens::ThreadPool pool(1);
  steplens::readers::ReadOptions options;
  options.pool = &pool;
  size_t slices[2] = {};
  for (const size_t chunk : {size_t{1} << 20, size_t{64}}) {
    options.chunk_bytes = chunk;
    steplens::store::TraceStore store;
    [[maybe_unused]] const auto status =
        steplens::readers::ReadChromeText(text, "fuzz.json", options, store);
    slices[chunk == 64] = store.slices.size();
  }
  if (slices[0] != slices[1]) std::abort();
  return 0;
}
