#include "analysis/classify/cpu_words.h"

namespace steplens::analysis {

bool IsCpuCapture(const store::TraceStore& store) {
  const auto name = store.strings.Find("steplens_host.device");
  if (!name) return false;
  for (size_t i = 0; i < store.meta.size(); ++i) {
    if (store.meta.name[i] == *name) return store.Text(store.meta.value[i]) == "cpu";
  }
  return false;
}

}  // namespace steplens::analysis
