#pragma once

#include "readers/detect.h"

namespace steplens::readers {

// Fills in the rank where names do not say it: from a db; of a lone trace, from its first 64 KB,
// which count more than the file's name. Stays as it is if nothing says it.
void TakeRankFromFiles(RankSource& rank);

}  // namespace steplens::readers
