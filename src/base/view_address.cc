#include "base/view_address.h"

#include <fmt/format.h>

namespace steplens {
namespace {

std::string EncodedValue(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') ||
                          std::string_view("-_.~/,:").find(c) != std::string_view::npos;
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

std::string ViewAddress(std::string_view path, std::string_view page,
                        const std::vector<std::pair<std::string, std::string>>& state) {
  std::string out = fmt::format("{}#/{}", path, page);
  char mark = '?';
  for (const auto& [name, value] : state) {
    out += fmt::format("{}{}={}", mark, name, EncodedValue(value));
    mark = '&';
  }
  return out;
}

}  // namespace steplens
