#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/dataset.h"

namespace steplens::server {

// A sentence that the page can word in any language; `text` is its English form.
struct Wording {
  std::string key;
  std::map<std::string, std::string> args{};
  std::string text;
};

// One piece of evidence, with where it can be seen. Times on the clock of the lane's rank.
struct ExplainItem {
  Wording wording;
  double share = 0;  // of what is explained
  int64_t ns = 0;
  const Lane* lane = nullptr;
  uint32_t slice = store::kNoId;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
struct Explanation {
  Wording title;
  std::vector<ExplainItem> items;
  Wording verdict;
};

// Why a device lane had nothing to do at a time: the host had not launched (host-bound), the task
// was launched but not started (launch latency), or it waited for communication or another stream.
// kInvalidArgument if a slice runs there or nothing follows.
Result<Explanation> ExplainGap(const Dataset::View& view, const Lane& lane, int64_t t_ns);

// How the time of a collective divides into waiting for the last rank and transfer. `base_ns` by
// slot: clocks of ranks are compared as they are shown.
Result<Explanation> ExplainWait(const Dataset::View& view, const Lane& lane, uint32_t slice,
                                const std::vector<int64_t>& base_ns);

// How a slice compares with its siblings (same name; of kernels also same shapes), and what
// differed.
Result<Explanation> ExplainSlice(const Dataset::View& view, const Lane& lane, uint32_t slice);

}  // namespace steplens::server
