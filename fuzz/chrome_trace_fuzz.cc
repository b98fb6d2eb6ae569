// The trace reader on any bytes: it must return, a sound trace must give the same rows for another
// chunk size, and events known by their shapes must give what their tokens give.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "readers/chrome/chrome_trace.h"
#include "readers/testing/batch_text.h"

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

// The text twice as the events of an array, so that shapes learned at first are met again.
std::string AsEvents(std::string_view text) {
  std::string out = "[";
  out.append(text).append(", ").append(text).append("]");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TraceStore whole = Read(text, size_t{1} << 20);
  const TraceStore pieces = Read(text, 64);
  const std::string events = AsEvents(text);
  steplens::readers::EventParser by_shapes(true);
  steplens::readers::EventParser by_tokens(false);
  using steplens::readers::testing_support::DescribeParse;
  if (DescribeParse(by_shapes, events) != DescribeParse(by_tokens, events)) std::abort();
  if (IsSound(whole) && whole.slices.size() != pieces.slices.size()) std::abort();
  return 0;
}
