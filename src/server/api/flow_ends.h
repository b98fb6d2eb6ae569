#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/dataset.h"

namespace steplens::server {

// The slice at the other end of an arrow of a slice.
struct FlowNeighbour {
  std::string_view kind;
  const Lane* lane = nullptr;
  uint32_t slice = 0;
  bool is_incoming = false;  // the arrow comes from there
};

// Both directions, by kind and time. Arrows whose other end hangs in the air are left out.
std::vector<FlowNeighbour> FlowNeighbours(const Dataset::View& view, const Lane& lane,
                                          uint32_t slice);

}  // namespace steplens::server
