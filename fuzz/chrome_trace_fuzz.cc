// The trace reader on any bytes: it must return, and a sound trace must give the same rows for
// another chunk size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "readers/chrome/chrome_trace.h"

namespace {

using steplens::store::IssueKind;
using steplens::store::TraceStore;

TraceStore Read(std::string_view text, size_t chunk_bytes) {
  steplens::ThreadPool pool(1);
  steplens::readers::ReadOptions options;
  options.pool = &pool;
  options.chunk_bytes = chunk_bytes;
  TraceStore store;
  [[maybe_unused]] const auto status =
      steplens::readers::ReadChromeText(text, "fuzz.json", options, store);
  return store;
}

bool IsSound(const TraceStore& store) {
  for (const IssueKind kind :
       {IssueKind::kEventDamaged, IssueKind::kTraceTruncated, IssueKind::kInvalidUtf8}) {
    if (store.issues.entry(kind).count > 0) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TraceStore whole = Read(text, size_t{1} << 20);
  const TraceStore pieces = Read(text, 64);
  if (IsSound(whole) && whole.slices.size() != pieces.slices.size()) std::abort();
  return 0;
}
