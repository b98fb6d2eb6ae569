#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "server/timeline/lane_rows.h"

namespace steplens::server {

// Slices for tests, with the columns that a lane views. Must outlive the lane.
struct TestSlices {
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<uint32_t> name_id;

  void Add(int64_t begin, int64_t end, uint32_t text = 0) {
    begin_ns.push_back(begin);
    dur_ns.push_back(end - begin);
    name.push_back(StringId{text});
    while (name_id.size() <= text) name_id.push_back(static_cast<uint32_t>(name_id.size()));
  }
  // `count` slices below `span`, short and long ones, overlapping.
  static TestSlices Random(std::mt19937& random, size_t count, int64_t span, int64_t longest) {
    TestSlices out;
    for (size_t i = 0; i < count; ++i) {
      const auto begin = static_cast<int64_t>(random()) % span;
      const int64_t limit = random() % 8 == 0 ? longest : longest / 16 + 1;
      const auto dur = static_cast<int64_t>(random()) % (limit + 1);
      out.Add(begin, begin + dur, static_cast<uint32_t>(random() % 5));
    }
    return out;
  }
  LaneRows Lane() const {
    std::vector<uint32_t> all(begin_ns.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    return LaneRows({begin_ns, dur_ns, name, name_id}, std::move(all));
  }
};

}  // namespace steplens::server
