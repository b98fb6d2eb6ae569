#pragma once

#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::opening {

// "PATH: reason" of a capture that was not read, with the path once.
std::string WhyLost(const store::InputFile& file);

// What reading lost, one sentence each: captures, and records of a rank.
std::vector<std::string> Losses(const store::Job& job);

}  // namespace steplens::opening
