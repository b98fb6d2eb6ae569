#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collect/clock.h"

namespace steplens::collect {

// What goes into profiler_info[_<rank>].json.
struct CaptureInfo {
  std::string config_json;  // "config"; valid JSON
  std::vector<std::pair<std::string, std::string>>
      members;        // further ones; replace ours of the same name
  int64_t rank = -1;  // -1: not known
  bool rank_is_text = false;
};

struct DropCounts {
  uint64_t recorded = 0;
  uint64_t dropped = 0;
  uint64_t lost_on_write = 0;
  uint64_t texts_left_out = 0;
};

// "profiler_info.json" or "profiler_info_<rank>.json".
std::string InfoFileName(const CaptureInfo& info);

// The text of the file; `is_finished` adds end_info, from the last clock sample.
std::string InfoText(const CaptureInfo& info, const ClockLog& clock, const DropCounts& drops,
                     bool is_finished);

// The one line of profiler_metadata.json. Values are JSON.
std::string MetadataText(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace steplens::collect
