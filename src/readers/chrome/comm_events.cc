#include "readers/chrome/comm_events.h"

#include <algorithm>
#include <string>

#include "base/number.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::kNoTrack;
using store::TraceStore;
using store::TrackId;

// What a track is to communication.
struct CommTrack {
  // kUnnamed: a thread of communication without a name; each slice says what it is.
  enum class Role : uint8_t { kNothing, kGroup, kPlane, kUnnamed };
  Role role = Role::kNothing;
  StringId group{};
  int64_t plane = kNone;
};

// "Group 17522688603477080586 Communication" -> "17522688603477080586"; "Communication" -> "".
std::string_view GroupOf(std::string_view thread_name) {
  constexpr std::string_view kPrefix = "Group ";
  constexpr std::string_view kSuffix = " Communication";
  if (!thread_name.starts_with(kPrefix) || !thread_name.ends_with(kSuffix)) return {};
  return thread_name.substr(kPrefix.size(), thread_name.size() - kPrefix.size() - kSuffix.size());
}

bool IsCommProcess(std::string_view name) { return name == "HCCL" || name == "Communication"; }

// Threads in display order: a group's thread, then its planes.
std::vector<CommTrack> ClassifyTracks(TraceStore& out) {
  std::vector<CommTrack> roles(out.tracks.size());
  std::vector<size_t> threads;
  for (size_t i = 0; i < out.tracks.size(); ++i) {
    const TrackId parent = out.tracks.parent[i];
    if (parent == kNoTrack || out.Text(out.tracks.kind[i]) != "thread") continue;
    if (IsCommProcess(out.Text(out.tracks.name[static_cast<size_t>(parent)]))) threads.push_back(i);
  }
  const auto order = [&](size_t i) {
    const int64_t sort = out.tracks.sort_index[i];
    const int64_t tid = ParseInt64(out.Text(out.tracks.tid[i])).value_or(0);
    return std::tuple(out.tracks.parent[i], sort == kNone ? tid : sort, tid);
  };
  std::stable_sort(threads.begin(), threads.end(),
                   [&](size_t a, size_t b) { return order(a) < order(b); });
  StringId group{};
  for (const size_t i : threads) {
    const std::string name(out.Text(out.tracks.name[i]));
    if (name.find("Communication") != std::string::npos) {
      group = out.strings.Intern(GroupOf(name));
      roles[i] = {CommTrack::Role::kGroup, group, kNone};
    } else if (name.starts_with("Plane ")) {
      roles[i] = {CommTrack::Role::kPlane, group,
                  ParseInt64(std::string_view(name).substr(6)).value_or(kNone)};
    } else if (name.empty()) {
      roles[i] = {CommTrack::Role::kUnnamed, group, kNone};
    }
  }
  return roles;
}

// hcom_allReduce__586_0_1 -> hcom_allReduce_
std::string_view TypeOf(std::string_view op_name) {
  const size_t suffix = op_name.find("__");
  return suffix == std::string_view::npos ? op_name : op_name.substr(0, suffix + 1);
}

// What a collective of a GPU trace does, where its args do not say it:
// ncclDevKernel_AllReduce_Sum_f32_RING_LL(...) -> allreduce, gloo:all_reduce -> all_reduce. A
// kernel that serves all kinds goes by its own name.
std::string KernelType(std::string_view name) {
  // One that holds another comes before it.
  constexpr std::string_view kKinds[] = {"AllReduce", "ReduceScatter", "AllGather", "AllToAll",
                                         "SendRecv",  "Broadcast",     "Reduce"};
  for (const std::string_view kind : kKinds) {
    if (name.find(kind) == std::string_view::npos) continue;
    std::string type(kind);
    for (char& c : type) c = static_cast<char>(c | 0x20);
    return type;
  }
  const size_t colon = name.find(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  return std::string(name.substr(0, name.find('(')));
}

void AddOp(size_t slice, const CommTrack& track, const CommDetail& detail, TraceStore& out) {
  store::CommOpTable::Row row;
  row.track = out.slices.track[slice];
  row.name = out.slices.name[slice];
  row.op_type = detail.op_type;
  if (row.op_type == StringId::kEmpty) {
    const std::string name(out.Text(row.name));
    const bool is_ascend = track.role == CommTrack::Role::kGroup;
    row.op_type = out.strings.Intern(is_ascend ? std::string(TypeOf(name)) : KernelType(name));
  }
  row.group_name = track.role == CommTrack::Role::kGroup ? track.group : detail.group_name;
  row.begin_ns = out.slices.begin_ns[slice];
  row.dur_ns = out.slices.dur_ns[slice];
  row.data_type = detail.data_type;
  row.alg_type = detail.alg_type;
  row.count = detail.fields.count;
  row.size_bytes = detail.fields.size_bytes;
  row.correlation = out.slices.correlation[slice];
  out.comm_ops.Append(row);
}

void AddTask(size_t slice, const CommTrack& track, const CommDetail& detail, TraceStore& out) {
  store::CommTaskTable::Row row;
  row.track = out.slices.track[slice];
  row.name = out.slices.name[slice];
  row.group_name = track.group;
  row.plane = track.plane;
  row.begin_ns = out.slices.begin_ns[slice];
  row.dur_ns = out.slices.dur_ns[slice];
  row.src_rank = detail.fields.src_rank;
  row.dst_rank = detail.fields.dst_rank;
  row.transport = detail.transport;
  row.link = detail.link;
  row.data_type = detail.data_type;
  row.rdma_type = detail.rdma_type;
  row.size_bytes = detail.fields.size_bytes;
  row.notify_id = detail.fields.notify_id;
  row.stream = detail.fields.stream;
  row.task_id = detail.fields.task_id;
  row.is_master = detail.fields.is_master;
  out.comm_tasks.Append(row);
}

}  // namespace

void FillCommunication(const std::vector<CommDetail>& details, TraceStore& out) {
  const std::vector<CommTrack> roles = ClassifyTracks(out);
  const bool any_track = std::any_of(roles.begin(), roles.end(), [](const CommTrack& track) {
    return track.role != CommTrack::Role::kNothing;
  });
  if (!any_track) {
    for (const CommDetail& detail : details) {
      if (detail.transport == StringId::kEmpty) AddOp(detail.slice, {}, detail, out);
    }
    return;
  }
  const CommDetail nothing;
  size_t next = 0;
  for (size_t slice = 0; slice < out.slices.size(); ++slice) {
    while (next < details.size() && details[next].slice < slice) ++next;
    const CommTrack& track = roles[static_cast<size_t>(out.slices.track[slice])];
    if (track.role == CommTrack::Role::kNothing) continue;
    const bool has_detail = next < details.size() && details[next].slice == slice;
    const CommDetail& detail = has_detail ? details[next] : nothing;
    const bool is_named_op = track.role == CommTrack::Role::kUnnamed &&
                             out.Text(out.slices.name[slice]).starts_with("hcom");
    if (track.role == CommTrack::Role::kGroup || is_named_op) {
      AddOp(slice, {CommTrack::Role::kGroup, track.group, kNone}, detail, out);
    } else {
      AddTask(slice, track, detail, out);
    }
  }
}

}  // namespace steplens::readers
