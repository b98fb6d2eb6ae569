#pragma once

#include <string>
#include <string_view>

namespace steplens::collect {

// A number that tells one machine from another: a hash of the addresses of its network cards, as
// the vendor's profiler makes it. Decimal text; empty if `network` (/sys/class/net) shows no card.
std::string HostUid(const std::string& network);

// The member "steplens_host" of profiler_info: an object with what a front end says about its host
// ("": nothing), and after it what of device, host, host_uid and pid it does not say.
std::string HostJson(std::string_view said);

}  // namespace steplens::collect
