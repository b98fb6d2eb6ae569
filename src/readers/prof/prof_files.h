#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "readers/folder_listing.h"
#include "store/unknown.h"

// Which files a raw PROF_* folder has. Only names and sizes are looked at.
namespace steplens::readers::prof {

// One file of a record family, which the collector cut into slices.
struct Slice {
  std::string path;
  uint64_t number = 0;
  uint64_t size_bytes = 0;
  bool is_aging = false;  // the collector may have thrown away older slices
};

// host/ or device_<n>/.
struct Side {
  std::string folder;
  int64_t device = store::kNone;  // kNone for the host
  // Slices in reading order: what does not age first, then by number. Named as the files are,
  // without 'aging.', '.data', the device and the slice: "api_event", "compact.task_track",
  // "additional.tensor_info", "host_cpu"; "stars_soc", "npu_mem.app".
  std::map<std::string, std::vector<Slice>, std::less<>> families;

  const std::vector<Slice>& Find(std::string_view family) const;
  // The only file of the folder whose name begins so, e.g. "info.json"; empty if there is none.
  std::string ControlFile(std::string_view prefix) const;
  std::vector<std::string> control_names;  // files beside data/, without markers
};

struct ProfTree {
  std::optional<Side> host;
  std::vector<Side> devices;  // by number
};

// Whether its folders have the names of one.
bool MayBeProfTree(const Listing& listing);
// Whether a folder holds host/ or device_<n>/ with an info.json and data of the collector.
bool IsProfTree(const std::string& folder);
Result<ProfTree> FindProfTree(const std::string& folder);

// The PROF_* folder that a file of the tree lies in.
std::string ProfFolderOf(const std::string& path);

// A file of data/ by its name; nothing for markers and what is no slice.
struct SliceName {
  std::string family;
  uint64_t number = 0;
  bool is_aging = false;
};
std::optional<SliceName> ParseSliceName(std::string_view name, int64_t device);

}  // namespace steplens::readers::prof
