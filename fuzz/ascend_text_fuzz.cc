// Reads any bytes as one of the result files of an Ascend capture; the first byte chooses which.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "readers/ascend_text/ascend_text.h"

namespace {

using steplens::readers::TextFileKind;

// Columns of a table have equal length whatever the file holds.
void CheckTables(const steplens::store::TraceStore& store) {
  store.ForEachTable([](const auto& table) {
    table.ForEachColumn([&](auto, auto, const auto& column) {
      if (column.size() != table.size()) std::abort();
    });
  });
  for (const auto& metric : store.kernel_metrics) {
    if (metric.size() != store.kernels.size()) std::abort();
  }
  for (const auto& sheet : store.sheets) {
    for (const auto& column : sheet.columns) {
      if (column.size() != sheet.size()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static steplens::ThreadPool pool(1);
  steplens::readers::ReadOptions options;
  options.pool = &pool;
  const auto kind =
      static_cast<TextFileKind>(data[0] % (static_cast<int>(TextFileKind::kUnknown) + 1));
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  steplens::store::TraceStore store;
  // Twice, so that rows are appended to rows; errors are an outcome like any other.
  for (int i = 0; i < 2; ++i) (void)ReadTextBytes(kind, "l2_cache.csv", bytes, options, store).ok();
  CheckTables(store);
  return 0;
}
