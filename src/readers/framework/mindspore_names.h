#pragma once

#include <cstdint>
#include <string_view>

namespace steplens::readers {

// What the numbers in records of mindspore.op_range stand for; "Default" for numbers that are not
// known.
std::string_view MindSporeStageName(uint16_t index);
std::string_view MindSporeModuleName(uint16_t index);
std::string_view MindSporeEventName(uint16_t index);

}  // namespace steplens::readers
