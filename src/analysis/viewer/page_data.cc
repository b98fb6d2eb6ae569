#include "analysis/viewer/page_data.h"

#include <algorithm>

#include "analysis/classify/text_memo.h"
#include "analysis/parallel/rl_config.h"
#include "analysis/viewer/scope.h"

namespace steplens::analysis::viewer {

using store::TraceStore;

bool HasPasses(const TraceStore& store) {
  if (store.strings.Find("fwdbwd")) return true;
  TextMemo names_pass(store, [](std::string_view name) {
    return ContainsInAnyCase(name, "forward") || ContainsInAnyCase(name, "backward") ||
           ContainsInAnyCase(name, "weightgradstore_pop");
  });
  const auto slices = store.markers.slice.span();
  return std::any_of(slices.begin(), slices.end(), [&](const auto slice) {
    const auto at = static_cast<size_t>(slice);
    return at < store.slices.size() && names_pass(store.slices.name[at]);
  });
}

bool HasRlTasks(const TraceStore& store) {
  for (const RlFramework& framework : KnownRlFrameworks()) {
    for (const RlTask& task : framework.tasks) {
      if (store.strings.Find(task.name)) return true;
    }
  }
  return false;
}

}  // namespace steplens::analysis::viewer
