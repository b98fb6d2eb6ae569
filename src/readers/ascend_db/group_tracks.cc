#include "readers/ascend_db/group_tracks.h"

#include <fmt/format.h>

#include <string>

namespace steplens::readers {
namespace {

// Room for the planes of a group among the tids of the process.
constexpr int64_t kKeysPerGroup = 1000;

}  // namespace

store::TrackId GroupTracks::Group(int64_t device, StringId group) {
  const int64_t first_key = FirstKey(device, group);
  const std::string_view name = out_.Text(group);
  const std::string label =
      is_hccl_era_ ? fmt::to_string(first_key / kKeysPerGroup) : std::string(name);
  return Thread(device, first_key,
                name.empty() ? "Communication" : fmt::format("Group {} Communication", label));
}

store::TrackId GroupTracks::Plane(int64_t device, StringId group, int64_t plane) {
  Group(device, group);  // so that it comes first
  return Thread(device, FirstKey(device, group) + 1 + plane, fmt::format("Plane {}", plane));
}

int64_t GroupTracks::FirstKey(int64_t device, StringId group) {
  const auto next = static_cast<int64_t>(first_keys_.size()) * kKeysPerGroup;
  return first_keys_.try_emplace({device, group}, next).first->second;
}

store::TrackId GroupTracks::Thread(int64_t device, int64_t key, std::string_view name) {
  return tracks_.DeviceThread(is_hccl_era_ ? kHccl : kCommunication, device, key, name);
}

}  // namespace steplens::readers
