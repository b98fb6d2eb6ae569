#include "collect/info_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "collect/json_text.h"
#include "collect/version.h"

namespace steplens::collect {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

// `{"a": 1, "b": 2}`; values are JSON.
std::string Object(const Members& members) {
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ", ";
    out += QuoteJson(key) + ": " + value;
  }
  return out + "}";
}

std::string Mhz(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string StartInfo(const ClockLog& clock) {
  const ClockSample& start = clock.samples().front();
  return Object({{"syscnt_enable", hot_state.clock_is_counter ? "true" : "false"},
                 {"freq", Mhz(clock.frequency_mhz())},
                 {"start_cnt", std::to_string(start.counter)},
                 {"start_monotonic", std::to_string(start.monotonic_raw_ns)}});
}

// The end on the wall clock. If that was set while the capture ran, the end as it would have been:
// readers place every record by the difference of these two, and the capture began before the jump.
std::string EndInfo(const ClockLog& clock) {
  constexpr int64_t kJumpNs = 50'000'000;  // more than a clock is slewed, as the reader has it, too
  const ClockSample& start = clock.samples().front();
  const ClockSample& end = clock.samples().back();
  const int64_t expected_ns = start.wall_ns + (end.monotonic_raw_ns - start.monotonic_raw_ns);
  const bool was_set = std::abs(end.wall_ns - expected_ns) > kJumpNs;
  return Object({{"collectionTimeEnd", std::to_string(was_set ? expected_ns : end.wall_ns)},
                 {"MonotonicTimeEnd", std::to_string(end.monotonic_raw_ns)}});
}

// One sample a line, so that the file stays readable.
std::string ClockList(const ClockLog& clock) {
  std::string out = "[";
  for (const ClockSample& sample : clock.samples()) {
    if (out.size() > 1) out += ",";
    out += "\n        [" + std::to_string(sample.counter) + ", " +
           std::to_string(sample.monotonic_raw_ns) + ", " + std::to_string(sample.wall_ns) + "]";
  }
  return out + "\n    ]";
}

std::string Drops(const DropCounts& drops) {
  return Object({{"recorded", std::to_string(drops.recorded)},
                 {"dropped", std::to_string(drops.dropped)},
                 {"lost_on_write", std::to_string(drops.lost_on_write)},
                 {"texts_left_out", std::to_string(drops.texts_left_out)}});
}

}  // namespace

std::string InfoFileName(const CaptureInfo& info) {
  if (info.rank < 0) return "profiler_info.json";
  return "profiler_info_" + std::to_string(info.rank) + ".json";
}

std::string InfoText(const CaptureInfo& info, const ClockLog& clock, const DropCounts& drops,
                     bool is_finished) {
  Members members = {{"config", IndentJson(info.config_json, 1)},
                     {"start_info", IndentJson(StartInfo(clock), 1)}};
  if (is_finished) members.emplace_back("end_info", IndentJson(EndInfo(clock), 1));
  if (info.rank >= 0) {
    const std::string rank = std::to_string(info.rank);
    members.emplace_back("rank_id", info.rank_is_text ? "\"" + rank + "\"" : rank);
  }
  members.emplace_back("steplens_version", QuoteJson(kVersion));
  members.emplace_back("steplens_pid", std::to_string(getpid()));
  members.emplace_back("steplens_drops", IndentJson(Drops(drops), 1));
  members.emplace_back("steplens_clock", ClockList(clock));
  for (const auto& [key, value] : info.members) {
    const std::string text = IndentJson(value, 1);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == key; });
    if (found != members.end()) {
      found->second = text;
    } else {
      members.emplace_back(key, text);
    }
  }
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ",";
    out += "\n    " + QuoteJson(key) + ": " + value;
  }
  return out + "\n}\n";
}

std::string MetadataText(const Members& members) { return Object(members); }

}  // namespace steplens::collect
