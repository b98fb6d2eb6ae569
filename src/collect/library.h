#pragma once

#include "collect/clock.h"
#include "collect/ring_pool.h"
#include "collect/side_queue.h"
#include "collect/strings.h"

namespace steplens::collect {

// What lives as long as the process. Never destroyed: threads may record while the process exits.
struct Library {
  Library();
  StringTable strings;
  RingPool rings;
  SideQueue side;
  ClockSample loaded;  // when the library was loaded: the base of the first frequency
};

Library& TheLibrary();

}  // namespace steplens::collect
