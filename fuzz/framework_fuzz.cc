// Reads any bytes as the raw files of a capture: [kind, length low, length high, bytes...]*.

#include "readers/framework/framework.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using steplens::readers::FrameworkFile;
using steplens::readers::FrameworkInput;

// Columns have equal length, and rows refer to rows that exist.
void CheckTables(const steplens::store::TraceStore& store) {
  store.ForEachTable([](const auto& table) {
    table.ForEachColumn([&](auto, auto, const auto& column) {
      if (column.size() != table.size()) std::abort();
    });
  });
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (static_cast<size_t>(store.slices.track[i]) >= store.tracks.size()) std::abort();
    if (store.slices.dur_ns[i] < 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<FrameworkInput> inputs;
  while (rest.size() >= 3) {
    const auto kind = static_cast<FrameworkFile>(static_cast<uint8_t>(rest[0]) %
                                                 static_cast<uint8_t>(FrameworkFile::kUnknown));
    const size_t claimed =
        static_cast<uint8_t>(rest[1]) | static_cast<size_t>(static_cast<uint8_t>(rest[2])) << 8;
    rest.remove_prefix(3);
    const std::string_view bytes = rest.substr(0, claimed);
    rest.remove_prefix(bytes.size());
    inputs.push_back({kind, "fuzz", steplens::MakeMemorySource(bytes), bytes.size()});
  }
  steplens::readers::ClockFacts facts;
  facts.is_counter = size % 2 == 0;
  steplens::store::TraceStore store;
  (void)ReadFrameworkInputs(std::move(inputs), steplens::readers::RawClock(facts), {}, store).ok();
  CheckTables(store);
  return 0;
}
