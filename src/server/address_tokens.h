#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::server {

// Tokens that let a browser in by an address. Each serves once, so that an address that somebody
// finds later (in a history, a log, a list of processes) opens nothing. Thread safe.
class AddressTokens {
 public:
  Result<std::string> Issue();
  bool Spend(std::string_view token);  // true once for each that was issued
  bool IsUnspent(std::string_view token) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> unspent_;
};

// 128 random bits as hex digits.
Result<std::string> MakeToken();

}  // namespace steplens::server
