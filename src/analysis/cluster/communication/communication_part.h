#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/options.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// The text of a number; nothing for a number that somebody else's part has and there is no text of.
inline const std::string& TextOf(const std::vector<std::string>& texts, uint32_t id) {
  static const std::string kNothing;
  return id < texts.size() ? texts[id] : kNothing;
}

// Rows of a rank's communication results; texts are numbers into CommunicationPart::texts.
struct CommTimeRow {
  uint32_t step = 0;
  uint32_t op = 0;
  uint32_t group = 0;
  bool is_p2p = false;
  double start_us = 0;
  double elapse_ms = 0;
  double transit_ms = 0;
  double wait_ms = 0;
  double synchronization_ms = 0;
  double idle_ms = 0;
  double wait_ratio = 0;
  double synchronization_ratio = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, op, group, is_p2p, start_us, elapse_ms, transit_ms, wait_ms, synchronization_ms,
            idle_ms, wait_ratio, synchronization_ratio);
  }
};

struct CommPacket {
  double size_mb = 0;
  double count = 0;
  double total_ms = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(size_mb, count, total_ms);
  }
};

struct CommBandwidthRow {
  uint32_t step = 0;
  uint32_t op = 0;
  uint32_t group = 0;
  uint32_t transport = 0;
  bool is_p2p = false;
  double size_mb = 0;
  double time_ms = 0;
  double bandwidth_gbps = 0;
  double large_packet_ratio = 0;
  std::vector<CommPacket> packets;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, op, group, transport, is_p2p, size_mb, time_ms, bandwidth_gbps,
            large_packet_ratio, packets);
  }
};

// What a rank says about the time and bandwidth of its communication.
struct CommunicationPart {
  std::vector<std::string> texts;
  std::vector<GroupUse> used;
  std::vector<CommTimeRow> times;
  std::vector<CommBandwidthRow> bandwidths;

  const std::string& Text(uint32_t id) const { return TextOf(texts, id); }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(texts, used, times, bandwidths);
  }
};

// Everything of the rank's communication results but totals, of all steps or of the one asked for.
CommunicationPart ReadCommunication(const store::TraceStore& rank, const Options& options);

// Texts of a store as small numbers in the order they are first asked for.
class TextNumbers {
 public:
  TextNumbers(const store::TraceStore& rank, std::vector<std::string>& texts)
      : rank_(rank), texts_(texts), numbers_(rank.strings.size(), kUnseen) {}
  uint32_t operator()(StringId id);
  // The step of a row. Results of MindSpore and msprof name none; "step" stands for all they have.
  uint32_t Step(StringId id);

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;
  const store::TraceStore& rank_;
  std::vector<std::string>& texts_;
  std::vector<uint32_t> numbers_;
  uint32_t all_steps_ = kUnseen;
};

// Fields that a result file does not have count as 0.
inline double KnownOrZero(double value) { return std::isnan(value) ? 0 : value; }

// Whether a row of step `text` ("step50") is wanted: always if it names none. Compat takes all, as
// the reference does.
bool IsWantedStep(std::string_view text, const Options& options);

}  // namespace steplens::analysis::cluster
