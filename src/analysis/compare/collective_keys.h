#pragma once

#include <map>
#include <string>

#include "store/trace_store.h"

namespace steplens::analysis {

// A name for each collective of a rank that is the same in another capture of the job:
// "hcom_allReduce__586_0_1" becomes "hcom_allReduce (ranks 0-7)" by its type and the members of its
// group; where these are not known, "hcom_allReduce (group 1)" by when its group is used first.
// Which of several calls is meant says their order. Names of other kernels are not in it.
std::map<StringId, std::string> CollectiveKeys(const store::TraceStore& store);

}  // namespace steplens::analysis
