#pragma once

#include <array>
#include <string_view>

namespace steplens::store {

// The names of MarkerTable's event_type, by number, as traces and databases write them.
inline constexpr std::array<std::string_view, 4> kMarkerTypes{"marker", "push/pop", "start/end",
                                                              "marker_ex"};

}  // namespace steplens::store
