#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::cluster {

// What travels of a rank from where it was mapped to the root.
struct RankMessage {
  bool is_cached = false;             // nothing was read, the part was known
  std::string part;                   // the bytes that the part cache keeps
  std::vector<std::string> rendered;  // texts for files, one a recipe; none for most captures
};

// The same in place: views of the packed bytes.
struct RankMessageView {
  bool is_cached = false;
  std::string_view part;
  std::vector<std::string_view> rendered;
};

//   byte is_cached | u64 count | u64 size of each piece ... | pieces: the part, then the texts
std::string PackMessage(const RankMessage& message);
// Nothing if the sizes do not fit the bytes.
std::optional<RankMessageView> UnpackMessage(std::string_view bytes);

}  // namespace steplens::cluster
