#include "cluster/discover.h"

#include <algorithm>
#include <filesystem>

#include "base/archive.h"
#include "base/roots.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;
using readers::RankSource;

constexpr size_t kFoldersAtOnce = 16;
// Up to this many folders, every member scans on its own, because MPI may not have started yet.
constexpr size_t kAlone = 512;

// A RankSource as bytes.
struct RankRecord {
  RankSource rank;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank.rank, rank.source, rank.format, rank.level, rank.path, rank.has_device_folder);
    EachOf(archive, rank.files,
           [&](readers::SourceFile& file) { archive(file.role, file.path, file.size_bytes); });
    EachOf(archive, rank.ignored, [&](store::InputFile& file) {
      archive(file.path, file.size_bytes, file.used, file.note);
    });
  }

 private:
  // Both directions: what is there is written, or `count` new ones are read.
  template <typename Archive, typename List, typename Use>
  static void EachOf(Archive& archive, List& list, const Use& use) {
    uint64_t count = list.size();
    archive(count);
    constexpr uint64_t kMaxFiles = 1 << 20;
    list.resize(static_cast<size_t>(std::min(count, kMaxFiles)));
    for (auto& item : list) use(item);
  }
};

struct Found {
  bool is_whole = true;  // false: something was in the way, and must be said
  std::vector<RankRecord> ranks;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(is_whole, ranks);
  }
};

// The folders in `path` if they are all captures by their names and nothing else is there; in order
// of name.
std::vector<std::string> CapturesIn(const std::string& path) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_capture = (name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms")) &&
                            !it->is_symlink(error) && it->is_directory(error);
    if (!is_capture) return {};
    folders.push_back(it->path().string());
  }
  if (error) return {};
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<store::InputFile> LostOf(const readers::Detected& detected) {
  std::vector<store::InputFile> lost;
  for (const store::InputFile& file : detected.ignored) {
    if (file.is_lost) lost.push_back(file);
  }
  return lost;
}

Found Detect(const std::vector<std::string>& folders) {
  Found found;
  Result<readers::Detected> detected = readers::DetectRanks(folders);
  found.is_whole = detected.ok() && LostOf(*detected).empty();
  if (!found.is_whole) return found;
  for (RankSource& rank : detected->ranks) found.ranks.push_back({std::move(rank)});
  return found;
}

}  // namespace

Result<Discovered> DiscoverRanks(Team& team, const std::string& path,
                                 const std::vector<std::string>& known) {
  AddRoot(path);  // the folders scanned below are not roots themselves
  const std::vector<std::string> folders = known.empty() ? CapturesIn(path) : known;
  Found all;
  all.is_whole = folders.size() > kFoldersAtOnce;
  if (all.is_whole) {
    const size_t count = (folders.size() + kFoldersAtOnce - 1) / kFoldersAtOnce;
    Team& seekers = folders.size() <= kAlone ? team.local() : team;
    SL_RETURN_IF_ERROR(seekers.MapInOrder(
        count,
        [&](size_t i) {
          const auto begin = folders.begin() + static_cast<int64_t>(i * kFoldersAtOnce);
          const size_t size = std::min(kFoldersAtOnce, folders.size() - i * kFoldersAtOnce);
          return ToBytes(Detect({begin, begin + static_cast<int64_t>(size)}));
        },
        [&](size_t, std::string_view bytes) {
          std::optional<Found> part = FromBytes<Found>(bytes);
          all.is_whole &= part && part->is_whole;
          if (!part) return;
          for (RankRecord& rank : part->ranks) all.ranks.push_back(std::move(rank));
        }));
    std::string bytes = seekers.is_root() && seekers.members() > 1 ? ToBytes(all) : std::string();
    SL_RETURN_IF_ERROR(seekers.Share(bytes));
    if (!seekers.is_root()) all = FromBytes<Found>(bytes).value_or(Found{false, {}});
  }
  Discovered out;
  for (RankRecord& record : all.ranks) out.ranks.push_back(std::move(record.rank));
  if (all.is_whole) return out;
  Result<readers::Detected> detected =
      readers::DetectRanks(known.empty() ? std::vector{path} : known);
  if (!detected.ok() && !known.empty()) detected = readers::DetectRanks({path});
  if (!detected.ok()) return detected.error();
  out.lost = LostOf(*detected);
  out.ranks = std::move(detected->ranks);
  return out;
}

}  // namespace steplens::cluster
