#include "collect/host_identity.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/json_text.h"

namespace steplens::collect {
namespace {

// The twelve hexadecimal digits of a card's address; empty if it has none.
std::string AddressOf(const std::string& card) {
  std::FILE* file = std::fopen((card + "/address").c_str(), "re");
  if (file == nullptr) return "";
  char line[64] = {};
  const size_t length = std::fread(line, 1, sizeof(line) - 1, file);
  std::fclose(file);
  std::string digits;
  bool is_zero = true;
  for (const char c : std::string_view(line, length)) {
    if (c == ':' || c == '\n') continue;
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    const bool is_digit = (lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'f');
    if (!is_digit) return "";
    is_zero = is_zero && lower == '0';
    digits += lower;
  }
  return digits.size() == 12 && !is_zero ? digits : "";
}

std::set<std::string> Addresses(const std::string& network) {
  std::set<std::string> found;
  DIR* folder = opendir(network.c_str());
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    std::string address = AddressOf(network + "/" + entry->d_name);
    if (!address.empty()) found.insert(std::move(address));
  }
  closedir(folder);
  return found;
}

// Whether software made the address up: such a card may be another one tomorrow.
bool IsMadeUp(std::string_view address) {
  constexpr std::string_view kWithBit = "2367abef";
  return kWithBit.find(address[1]) != kWithBit.npos;
}

uint64_t Polynomial(std::string_view text, uint32_t prime) {
  uint32_t value = 0;
  for (const char c : text) value = value * prime + static_cast<uint8_t>(c);
  return value;
}

}  // namespace

std::string HostUid(const std::string& network) {
  const std::set<std::string> addresses = Addresses(network);
  std::string lasting;
  std::string all;
  for (const std::string& address : addresses) {
    all += (all.empty() ? "" : "-") + address;
    if (!IsMadeUp(address)) lasting += (lasting.empty() ? "" : "-") + address;
  }
  const std::string& text = lasting.empty() ? all : lasting;
  if (text.empty()) return "";
  return std::to_string(Polynomial(text, 29) << 32 | Polynomial(text, 131));
}

std::string HostJson(std::string_view said) {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) name[0] = '\0';
  auto members = JsonMembers(said).value_or(std::vector<std::pair<std::string, std::string>>());
  const auto add = [&](const char* key, std::string value) {
    const auto is_key = [&](const auto& member) { return member.first == key; };
    if (std::none_of(members.begin(), members.end(), is_key)) {
      members.emplace_back(key, std::move(value));
    }
  };
  add("device", "\"cpu\"");
  add("host", QuoteJson(name));
  add("host_uid", QuoteJson(HostUid("/sys/class/net")));
  add("pid", std::to_string(getpid()));
  std::string out;
  for (const auto& [key, value] : members) {
    out += (out.empty() ? "" : ", ") + QuoteJson(key) + ": " + value;
  }
  return "{" + out + "}";
}

}  // namespace steplens::collect
