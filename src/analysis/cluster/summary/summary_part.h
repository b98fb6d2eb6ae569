#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/link_part.h"
#include "analysis/cluster/options.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// A step of a rank, in microseconds.
struct StepLoad {
  int64_t step = store::kNone;
  double computing_us = 0;
  double not_overlapped_us = 0;
  double free_us = 0;
  double stage_us = 0;
  double bubble_us = 0;
  double copies_us = 0;  // alone, of a GPU; Ascend counts them as free

  // Its time on the device: what its parts add up to. Stage of a text capture is the same but for
  // the quarter of a microsecond that its file rounds to.
  double DeviceUs() const {
    const double parts_us = computing_us + not_overlapped_us + free_us + copies_us;
    const double stage_and_bubble_us = stage_us + bubble_us;
    constexpr double kRoundingUs = 1;
    return std::fabs(parts_us - stage_and_bubble_us) < kRoundingUs ? parts_us : stage_and_bubble_us;
  }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, computing_us, not_overlapped_us, free_us, stage_us, bubble_us, copies_us);
  }
};

// A rank's part in one communication call.
struct CallPart {
  uint32_t group = 0;
  uint32_t op = 0;
  uint32_t step = 0;
  bool is_p2p = false;
  int64_t start_ns = 0;  // on the rank's clock
  int64_t dur_ns = 0;
  int64_t transit_ns = store::kNone;
  int64_t wait_ns = store::kNone;  // as the capture has it
  int64_t small_ns = 0;            // what its transfers lost to small packets
  uint32_t small_transport = 0;    // over this

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(group, op, step, is_p2p, start_ns, dur_ns, transit_ns, wait_ns, small_ns,
            small_transport);
  }
};

struct PacketPart {
  uint32_t transport = 0;
  double size_mb = 0;
  double time_ms = 0;
  double packets_ms = 0;
  double small_ms = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(transport, size_mb, time_ms, packets_ms, small_ms);
  }
};

// What the summary needs of a rank: some kilobytes.
struct SummaryPart {
  std::vector<std::string> texts;
  std::vector<StepLoad> steps;
  std::vector<CallPart> calls;
  LinkPart links;  // totals of each kind of operation, over all steps
  std::vector<PacketPart> packets;
  std::map<std::string, int64_t> group_sizes;  // GroupSizesOf
  // The step time as every page shows it (breakdown/step_times.h), of a rank whose timeline is all
  // it has. A step table does not say when the host began a step: none.
  int64_t step_time_ns = store::kNone;
  // The average AI Core frequency while computing; 0 if unknown, or not looked up yet.
  double computing_mhz = 0;

  const std::string& Text(uint32_t id) const { return TextOf(texts, id); }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, steps, calls, links, packets, group_sizes, step_time_ns, computing_mhz);
  }
};

SummaryPart ReadSummary(const store::TraceStore& rank, const RankFacts& facts,
                        const Options& options);

}  // namespace steplens::analysis::cluster
