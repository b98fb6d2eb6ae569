#include "table/zip_check.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/number.h"

namespace steplens::table {
namespace {

// What is read of a zip file (all numbers little-endian):
//
//   local header   30 bytes: 26 name length (2), 28 extra length (2); name, extra and data follow
//   directory      46 bytes: 0 "PK\1\2", 20 packed size (4), 28 name length (2), 30 extra length
//   (2),
//                  32 comment length (2), 42 offset of the local header (4); name, extra, comment
//   end            22 bytes: 0 "PK\5\6", 10 members (2), 16 offset of the directory (4)
constexpr size_t kLocalBytes = 30;
constexpr size_t kDirectoryBytes = 46;
constexpr size_t kEndBytes = 22;

uint32_t Number(std::string_view bytes, size_t offset, size_t size) {
  uint32_t value = 0;
  for (size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

// Packed bytes of each member; nothing if the file does not hold together.
std::optional<std::vector<std::string_view>> PackedMembers(std::string_view zip) {
  if (zip.size() < kEndBytes) return std::nullopt;
  const std::string_view end = zip.substr(zip.size() - kEndBytes);
  if (!end.starts_with("PK\5\6")) return std::nullopt;
  std::vector<std::string_view> members(Number(end, 10, 2));
  size_t entry = Number(end, 16, 4);
  for (std::string_view& member : members) {
    if (entry + kDirectoryBytes > zip.size()) return std::nullopt;
    const std::string_view directory = zip.substr(entry);
    const size_t local = Number(directory, 42, 4);
    if (!directory.starts_with("PK\1\2") || local + kLocalBytes > zip.size()) return std::nullopt;
    const size_t data =
        local + kLocalBytes + Number(zip, local + 26, 2) + Number(zip, local + 28, 2);
    const size_t packed_bytes = Number(directory, 20, 4);
    if (data + packed_bytes > zip.size()) return std::nullopt;
    member = zip.substr(data, packed_bytes);
    entry += kDirectoryBytes + Number(directory, 28, 2) + Number(directory, 30, 2) +
             Number(directory, 32, 2);
  }
  return members;
}

// The first and the last bytes of an unpacked member.
struct Ends {
  std::string first;
  std::string last;
};

// Nothing if the member cannot be unpacked to its end.
std::optional<Ends> UnpackEnds(std::string_view packed) {
  constexpr size_t kKeptBytes = 256;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  Ends ends;
  std::vector<char> block(size_t{1} << 18);
  int rc = Z_OK;
  while (rc == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    rc = inflate(&stream, Z_NO_FLUSH);
    const std::string_view text(block.data(), block.size() - stream.avail_out);
    if (ends.first.empty()) ends.first = text.substr(0, kKeptBytes);
    ends.last += text.substr(text.size() - std::min(text.size(), kKeptBytes));
    ends.last.erase(0, ends.last.size() - std::min(ends.last.size(), kKeptBytes));
  }
  inflateEnd(&stream);
  if (rc != Z_STREAM_END) return std::nullopt;
  return ends;
}

// "<?xml ...?>\n<name ...>...</name>", or one empty element "<name .../>".
bool IsWholeDocument(const Ends& ends) {
  const size_t declaration_end = ends.first.find("?>");
  if (declaration_end == std::string::npos) return false;
  std::string_view root = Trim(std::string_view(ends.first).substr(declaration_end + 2));
  if (!root.starts_with('<')) return false;
  root = root.substr(1, root.find_first_of(" />") - 1);
  const std::string_view last = Trim(ends.last);
  if (last.ends_with(fmt::format("</{}>", root))) return true;
  return last.ends_with("/>") && last.rfind('<') == last.rfind(fmt::format("<{}", root));
}

}  // namespace

Result<bool> HoldsWholeXmlMembers(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file.bytes();
  const auto members = PackedMembers({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!members) return false;
  return std::all_of(members->begin(), members->end(), [](std::string_view packed) {
    const std::optional<Ends> ends = UnpackEnds(packed);
    return ends && IsWholeDocument(*ends);
  });
}

}  // namespace steplens::table
