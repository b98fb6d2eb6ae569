#pragma once

#include "base/status.h"
#include "readers/detect.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

struct RankRead {
  store::TraceStore store;
  bool is_whole = true;  // every file could be read
};

// Reads the files of a rank, or the parts of them that are wanted, side by side. The store holds
// what the files say and nothing else: open/ makes a rank of it that analyses may look at. An error
// if none of the files with data can be read.
Result<RankRead> ReadRank(const RankSource& source, const ReadOptions& options);

// Writes into the store where it comes from: its paths and files.
void DescribeFiles(const RankSource& source, store::TraceStore& out);

}  // namespace steplens::readers
