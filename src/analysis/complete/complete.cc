#include "analysis/complete/complete.h"

#include <algorithm>

#include "analysis/complete/communication.h"
#include "analysis/cpu_device/complete.h"
#include "analysis/steps/kernel_steps.h"

namespace steplens::analysis {

void CompleteCapture(store::TraceStore& store) {
  if (store.info.format == "raw") return CompleteRawCapture(store);
  FillCommunicationSizes(store);
  if (store.info.format == "text") return NameCommunicationGroups(store);
  if (store.info.format != "db" || store.info.source == "nsys") return;
  const auto is_known = [](int64_t step) { return step != store::kNone; };
  if (std::none_of(store.kernels.step.begin(), store.kernels.step.end(), is_known)) {
    FillKernelSteps(store);
  }
  AddCommunicationTotals(store);
}

}  // namespace steplens::analysis
