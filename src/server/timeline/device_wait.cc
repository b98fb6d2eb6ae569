#include "server/timeline/device_wait.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "store/slice_kind.h"

namespace steplens::server {

bool IsDeviceWait(std::string_view text) {
  if (text.size() < 9 || text.size() > 40) return false;
  if (store::KindOfCategory(text) == store::SliceKind::kDeviceSync) return true;
  std::string plain;
  for (const char c : text) {
    if (c != '_' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  constexpr std::array<std::string_view, 5> kWaits{"eventwait", "notifywait", "capturewait",
                                                   "streamwaitevent", "waitevent"};
  return std::any_of(kWaits.begin(), kWaits.end(),
                     [&](std::string_view wait) { return plain.starts_with(wait); });
}

}  // namespace steplens::server
