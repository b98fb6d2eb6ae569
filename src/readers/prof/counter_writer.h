#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/saturate.h"
#include "readers/ascend_db/tracks.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// Samples of one kind, e.g. of all HBM stacks, which enter the store in the order of their times.
class CounterWriter {
 public:
  // Samples before `begin_ns` are left out.
  CounterWriter(const ExporterProcess& process, int64_t device, int64_t begin_ns,
                TrackBuilder& tracks, store::TraceStore& out)
      : process_(process), device_(device), begin_ns_(begin_ns), tracks_(tracks), out_(out) {}
  ~CounterWriter() { Flush(); }
  CounterWriter(const CounterWriter&) = delete;
  CounterWriter& operator=(const CounterWriter&) = delete;

  void Add(std::string_view name, std::string_view label, int64_t ts_ns, double value);

 private:
  void Flush();

  ExporterProcess process_;
  int64_t device_;
  int64_t begin_ns_;
  TrackBuilder& tracks_;
  store::TraceStore& out_;
  std::map<std::pair<std::string, std::string>, store::TrackId> series_;
  std::vector<store::CounterTable::Row> rows_;
};

// How much a counter grew since the sample before, per second. Samples of one source by time.
class RateOf {
 public:
  // Nothing for the first sample.
  bool Advance(int64_t ts_ns) {
    const bool has_last = has_last_;
    elapsed_s_ = static_cast<double>(SubtractSaturating(ts_ns, last_ns_)) / 1e9;
    last_ns_ = ts_ns;
    has_last_ = true;
    return has_last && elapsed_s_ > 0;
  }
  double elapsed_s() const { return elapsed_s_; }

 private:
  int64_t last_ns_ = 0;
  double elapsed_s_ = 0;
  bool has_last_ = false;
};

}  // namespace steplens::readers::prof
