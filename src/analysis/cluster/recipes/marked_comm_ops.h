#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// A communication operator that only a mark of the framework tells of.
struct MarkedCommOp {
  std::string name;       // HcclAllreduce__860_0_1
  std::string type;       // HcclAllreduce_
  std::string group;      // group id
  std::string data_type;  // fp32
  int64_t count = store::kNone;
  int64_t begin_ns = 0;  // of its task on the device
  int64_t end_ns = 0;
  int64_t correlation = store::kNone;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, type, group, data_type, count, begin_ns, end_ns, correlation);
  }
};

// The operators of a rank that was captured without communication operators, in order of start;
// none if it has recorded ones. Their tasks are found by the mark's connection; failing that, the
// first one after the mark on the stream it names. In compat mode every task of the stream is one.
std::vector<MarkedCommOp> FindMarkedCommOps(const store::TraceStore& rank, const Options& options);

// The table COMMUNICATION_OP for the rank's profiler db.
RankEdit CommOpEdit(int64_t rank, const std::vector<MarkedCommOp>& ops);

}  // namespace steplens::analysis::cluster
