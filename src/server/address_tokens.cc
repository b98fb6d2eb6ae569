#include "server/address_tokens.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "server/admission.h"

namespace steplens::server {

Result<std::string> MakeToken() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes)))
    return Error{ErrorCode::kIo, "the system gives no random numbers for a token"};
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

Result<std::string> AddressTokens::Issue() {
  SL_ASSIGN_OR_RETURN(std::string token, MakeToken());
  const std::lock_guard lock(mutex_);
  unspent_.push_back(token);
  return token;
}

bool AddressTokens::Spend(std::string_view token) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(unspent_,
                       [&](const std::string& one) { return EqualInConstantTime(one, token); }) > 0;
}

bool AddressTokens::IsUnspent(std::string_view token) const {
  const std::lock_guard lock(mutex_);
  return std::find(unspent_.begin(), unspent_.end(), token) != unspent_.end();
}

}  // namespace steplens::server
