#include "readers/ascend_db/communication.h"

#include <fmt/format.h>
#include <limits>

#include <algorithm>
#include <map>

#include "readers/ascend_db/group_tracks.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::TrackId;

// hcom_allReduce__586_0_1 -> hcom_allReduce_, for files that do not say the type.
std::string TypeOfName(std::string_view op_name) {
  const size_t suffix = op_name.find("__");
  return std::string(suffix == op_name.npos ? op_name : op_name.substr(0, suffix + 1));
}

// The device of a collective in files whose COMMUNICATION_OP does not say it: that of its tasks.
IdMap<int64_t> DevicesByConnection(const DeviceTasks& tasks) {
  IdMap<int64_t> devices(kNone);
  for (const TaskRow& task : tasks.rows) {
    if (task.connection != kNone) devices.Add(task.connection, task.device);
  }
  devices.Build();
  return devices;
}

struct CollectiveRow {
  store::CommOpTable::Row op;
  int64_t device;
  StringId recorded_type;  // empty if the file does not say it
};

Result<std::vector<CollectiveRow>> ReadOps(DbContext& db, const DeviceTasks& tasks) {
  enum Column : size_t {
    kStart,
    kEnd,
    kName,
    kGroup,
    kConnection,
    kDataType,
    kAlgType,
    kCount,
    kType,
    kDevice
  };
  SL_ASSIGN_OR_RETURN(const EnumNames data_types, EnumNames::Read(db, "ENUM_HCCL_DATA_TYPE"));
  const IdMap<int64_t> devices = DevicesByConnection(tasks);
  std::vector<CollectiveRow> ops;
  SL_RETURN_IF_ERROR(ReadTable(db, "COMMUNICATION_OP",
                               {"startNs", "endNs", "opName", "groupName", "!connectionId",
                                "!dataType", "!algType", "!count", "!opType", "?deviceId"},
                               [&](Scan& row) {
                                 const auto span = ReadTimeSpan(db, row, kStart, kEnd);
                                 if (!span) return false;
                                 CollectiveRow& collective = ops.emplace_back();
                                 store::CommOpTable::Row& op = collective.op;
                                 op.begin_ns = span->begin_ns;
                                 op.dur_ns = span->dur_ns;
                                 op.name = db.String(row.Int(kName));
                                 op.group_name = db.KnownString(row.Int(kGroup));
                                 op.correlation = KnownConnection(row.Int(kConnection));
                                 op.data_type = data_types.Find(db, row.Int(kDataType));
                                 op.alg_type = db.KnownString(row.Int(kAlgType));
                                 op.count = row.Int(kCount);
                                 collective.recorded_type = db.KnownString(row.Int(kType));
                                 op.op_type = collective.recorded_type;
                                 collective.device = row.Int(kDevice);
                                 if (collective.device == kNone)
                                   collective.device = devices.Find(op.correlation);
                                 if (collective.device == kNone) collective.device = db.device;
                                 return true;
                               }));
  std::stable_sort(ops.begin(), ops.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.op.begin_ns < b.op.begin_ns;
  });
  return ops;
}

void AppendSlice(DbContext& db, TrackId track, int64_t begin_ns, int64_t dur_ns, StringId name,
                 int64_t connection) {
  store::SliceTable::Row slice;
  slice.track = track;
  slice.begin_ns = begin_ns;
  slice.dur_ns = dur_ns;
  slice.name = name;
  slice.correlation = connection;
  db.out.slices.Append(slice);
}

Collectives AppendOps(DbContext& db, std::vector<CollectiveRow> ops, GroupTracks& groups) {
  Collectives collectives;
  const StringId core = db.Intern(db.is_hccl_era ? "HCCL" : "COMMUNICATION");
  for (CollectiveRow& collective : ops) {
    store::CommOpTable::Row& op = collective.op;
    op.track = groups.Group(collective.device, op.group_name);
    if (op.op_type == StringId::kEmpty) op.op_type = db.Intern(TypeOfName(db.out.Text(op.name)));
    db.out.comm_ops.Append(op);
    AppendSlice(db, op.track, op.begin_ns, op.dur_ns, op.name, op.correlation);
    store::KernelTable::Row kernel;
    kernel.device = collective.device;
    kernel.name = op.name;
    kernel.type = collective.recorded_type;
    kernel.core = core;
    kernel.begin_ns = op.begin_ns;
    kernel.dur_ns = op.dur_ns;
    kernel.correlation = op.correlation;
    collectives.kernels.push_back(kernel);
    if (op.correlation != kNone)
      collectives.targets.push_back({op.correlation, op.begin_ns, op.track});
  }
  return collectives;
}

class TaskInfoReader {
 public:
  TaskInfoReader(DbContext& db, DeviceTasks& tasks, GroupTracks& groups)
      : db_(db), tasks_(tasks), groups_(groups), taken_(tasks.rows.size(), kNoRow) {}

  Status Read() {
    SL_ASSIGN_OR_RETURN(transports_, EnumNames::Read(db_, "ENUM_HCCL_TRANSPORT_TYPE"));
    SL_ASSIGN_OR_RETURN(links_, EnumNames::Read(db_, "ENUM_HCCL_LINK_TYPE"));
    SL_ASSIGN_OR_RETURN(data_types_, EnumNames::Read(db_, "ENUM_HCCL_DATA_TYPE"));
    SL_ASSIGN_OR_RETURN(rdma_types_, EnumNames::Read(db_, "ENUM_HCCL_RDMA_TYPE"));
    const size_t rows = db_.file.EstimateRows("COMMUNICATION_TASK_INFO");
    db_.out.comm_tasks.Reserve(db_.out.comm_tasks.size() + rows);
    db_.out.slices.Reserve(db_.out.slices.size() + rows + tasks_.rows.size());
    return ReadTable(
        db_, "COMMUNICATION_TASK_INFO",
        {"globalTaskId", "taskType", "name", "groupName", "!planeId", "!notifyId", "!rdmaType",
         "!srcRank", "!dstRank", "!transportType", "!size", "!dataType", "!linkType", "?isMaster"},
        [&](Scan& row) { return ReadRow(row); });
  }

 private:
  enum Column : size_t {
    kTask,
    kType,
    kOpName,
    kGroup,
    kPlane,
    kNotify,
    kRdmaType,
    kSrcRank,
    kDstRank,
    kTransport,
    kSize,
    kDataType,
    kLink,
    kIsMaster,
  };

  bool ReadRow(Scan& scan) {
    const int64_t id = scan.Int(kTask);
    const uint32_t first_task = id == kNone ? kNoRow : tasks_.by_global_id.Find(id);
    if (first_task == kNoRow) return false;
    const TaskRow& task = tasks_.rows[TakeTask(first_task)];
    store::CommTaskTable::Row row;
    row.name = db_.KnownString(scan.Int(kType));
    row.op_name = db_.String(scan.Int(kOpName));
    row.group_name = db_.KnownString(scan.Int(kGroup));
    row.plane = scan.Int(kPlane);
    row.begin_ns = task.begin_ns;
    row.dur_ns = task.dur_ns;
    row.src_rank = scan.Int(kSrcRank);
    row.dst_rank = scan.Int(kDstRank);
    row.transport = transports_.Find(db_, scan.Int(kTransport));
    row.link = links_.Find(db_, scan.Int(kLink));
    row.data_type = data_types_.Find(db_, scan.Int(kDataType));
    row.rdma_type = rdma_types_.Find(db_, scan.Int(kRdmaType));
    row.size_bytes = scan.Int(kSize);
    if (row.size_bytes < 0) row.size_bytes = kNone;
    row.notify_id = scan.Int(kNotify);
    if (row.notify_id == std::numeric_limits<int64_t>::max())
      row.notify_id = kNone;  // the db's 'no notify'
    row.stream = task.stream;
    row.task_id = task.task_id;
    row.is_master = scan.Int(kIsMaster);
    SetTrack(task, row);
    db_.out.comm_tasks.Append(row);
    return true;
  }

  // Infos of a replayed task belong to its runs in order.
  uint32_t TakeTask(uint32_t first_task) {
    uint32_t& task = taken_[first_task];
    if (task == kNoRow) {
      task = first_task;
      for (uint32_t run = task; run != kNoRow; run = tasks_.next[run])
        tasks_.rows[run].is_communication = true;
    } else if (tasks_.next[task] != kNoRow) {
      task = tasks_.next[task];
    }
    return task;
  }

  // Level0 files do not say the plane: such a task is listed with its group and shows on its stream
  // only.
  void SetTrack(const TaskRow& task, store::CommTaskTable::Row& row) {
    const bool has_plane = row.plane >= 0 && row.plane < kNoId32;
    if (!has_plane) row.plane = kNone;
    const auto key = std::tuple(task.device, row.group_name, row.plane);
    auto& track = tracks_.try_emplace(key, store::kNoTrack).first->second;
    if (track == store::kNoTrack) {
      track = has_plane ? groups_.Plane(task.device, row.group_name, row.plane)
                        : groups_.Group(task.device, row.group_name);
    }
    row.track = track;
    if (has_plane) AppendSlice(db_, track, row.begin_ns, row.dur_ns, row.name, kNone);
  }

  DbContext& db_;
  DeviceTasks& tasks_;
  GroupTracks& groups_;
  std::vector<uint32_t> taken_;  // first task of a globalTaskId -> the one that got its info last
  EnumNames transports_;
  EnumNames links_;
  EnumNames data_types_;
  EnumNames rdma_types_;
  std::map<std::tuple<int64_t, StringId, int64_t>, TrackId> tracks_;
};

}  // namespace

Result<Collectives> ReadCommunication(DbContext& db, DeviceTasks& tasks) {
  GroupTracks groups(db.out, db.tracks, db.is_hccl_era);
  SL_ASSIGN_OR_RETURN(std::vector<CollectiveRow> ops, ReadOps(db, tasks));
  Collectives collectives = AppendOps(db, std::move(ops), groups);
  SL_RETURN_IF_ERROR(TaskInfoReader(db, tasks, groups).Read());
  return collectives;
}

}  // namespace steplens::readers
