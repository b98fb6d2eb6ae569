#include "collect/auto.h"

namespace steplens::collect {
void AutoLoad() {}
void AutoBegin() {}
void AutoStepBegin(long long) {}
void AutoStepEnd() {}
}  // namespace steplens::collect
