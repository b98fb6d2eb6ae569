#include "readers/prof/prof_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/number.h"
#include "readers/file_names.h"
#include "readers/folder_listing.h"

namespace steplens::readers::prof {
namespace {

constexpr std::string_view kHostFolder = "host";
constexpr std::string_view kDataFolder = "data";

bool IsMarker(std::string_view name) {
  return name.ends_with("done") || name.ends_with("complete") || name.ends_with("zip");
}

// The number of device_<n>; nothing for other names.
std::optional<int64_t> DeviceOfFolder(std::string_view name) {
  const auto digits = MiddleOf(name, "device_", "");
  if (!digits || digits->empty() || digits->find_first_not_of("0123456789") != digits->npos)
    return std::nullopt;
  return ParseInt64(*digits);
}

bool IsSide(const std::string& folder) {
  const Result<Listing> listing = List(folder);
  if (!listing.ok() || !listing->HasFolder(kDataFolder)) return false;
  return std::any_of(listing->files.begin(), listing->files.end(), [](const std::string& name) {
    return name.starts_with("info.json") || name.starts_with("sample.json") ||
           name.starts_with("start_info");
  });
}

Result<Side> FindSide(const std::string& folder, int64_t device) {
  Side side;
  side.folder = folder;
  side.device = device;
  SL_ASSIGN_OR_RETURN(const Listing beside, List(folder));
  for (const std::string& name : beside.files) {
    if (!IsMarker(name)) side.control_names.push_back(name);
  }
  const std::string data = Join(folder, kDataFolder);
  SL_ASSIGN_OR_RETURN(const Listing files, List(data));
  for (const std::string& name : files.files) {
    std::optional<SliceName> slice = ParseSliceName(name, device);
    if (!slice) continue;
    const std::string path = Join(data, name);
    side.families[slice->family].push_back({path, slice->number, SizeOf(path), slice->is_aging});
  }
  for (auto& [name, slices] : side.families) {
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.is_aging, a.number, a.path) < std::tie(b.is_aging, b.number, b.path);
    });
  }
  return side;
}

}  // namespace

const std::vector<Slice>& Side::Find(std::string_view family) const {
  static const std::vector<Slice> kNothing;
  const auto found = families.find(family);
  return found == families.end() ? kNothing : found->second;
}

std::string Side::ControlFile(std::string_view prefix) const {
  for (const std::string& name : control_names) {
    if (name.starts_with(prefix)) return Join(folder, name);
  }
  return {};
}

std::optional<SliceName> ParseSliceName(std::string_view name, int64_t device) {
  constexpr std::string_view kSlice = ".slice_";
  if (IsMarker(name)) return std::nullopt;
  const size_t at = name.rfind(kSlice);
  if (at == name.npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kSlice.size());
  const auto number = ParseInt64(digits);
  if (!number || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  SliceName slice;
  slice.number = static_cast<uint64_t>(*number);
  std::string_view family = name.substr(0, at);
  if (device != store::kNone) {
    const std::string suffix = fmt::format(".{}", device);
    if (!family.ends_with(suffix)) return std::nullopt;
    family.remove_suffix(suffix.size());
  } else if (family.starts_with("aging.")) {
    slice.is_aging = true;
    family.remove_prefix(6);
  } else if (family.starts_with("unaging.")) {
    family.remove_prefix(8);
  }
  if (family.ends_with(".data")) family.remove_suffix(5);
  if (family.empty()) return std::nullopt;
  slice.family = family;
  return slice;
}

bool MayBeProfTree(const Listing& listing) {
  return std::any_of(listing.folders.begin(), listing.folders.end(), [](const std::string& name) {
    return name == kHostFolder || DeviceOfFolder(name);
  });
}

std::string ProfFolderOf(const std::string& path) {
  std::string folder = FolderAbove(path);
  if (NameOf(folder) == kDataFolder) folder = FolderAbove(folder);
  return FolderAbove(folder);
}

bool IsProfTree(const std::string& folder) {
  const Result<Listing> listing = List(folder);
  if (!listing.ok()) return false;
  return std::any_of(
      listing->folders.begin(), listing->folders.end(), [&](const std::string& name) {
        return (name == kHostFolder || DeviceOfFolder(name)) && IsSide(Join(folder, name));
      });
}

Result<ProfTree> FindProfTree(const std::string& folder) {
  SL_ASSIGN_OR_RETURN(const Listing listing, List(folder));
  ProfTree tree;
  for (const std::string& name : listing.folders) {
    const std::string path = Join(folder, name);
    const auto device = DeviceOfFolder(name);
    if ((name != kHostFolder && !device) || !IsSide(path)) continue;
    SL_ASSIGN_OR_RETURN(Side side, FindSide(path, device.value_or(store::kNone)));
    if (device) {
      tree.devices.push_back(std::move(side));
    } else {
      tree.host = std::move(side);
    }
  }
  std::sort(tree.devices.begin(), tree.devices.end(),
            [](const Side& a, const Side& b) { return a.device < b.device; });
  return tree;
}

}  // namespace steplens::readers::prof
