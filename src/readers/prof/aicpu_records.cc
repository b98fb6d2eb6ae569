#include "readers/prof/aicpu_records.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "format/prof/aicpu_records.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using format::Bytes;

constexpr Marker kHeadMarker{offsetof(raw::RecordHead, magic), raw::kHostMagic};

struct AicpuPart {
  AicpuRecords records;
  std::vector<std::pair<uint32_t, Flip>> flips;
};

template <typename Node>
AicpuRun MakeRun(const Node& node, bool has_wide_streams) {
  const StreamTask ids = CorrectIds(node.stream, node.task, 0, has_wide_streams);
  AicpuRun run;
  run.begin = node.run_start;
  run.end = node.run_end;
  run.submit = node.submit;
  run.after = node.after_run;
  run.compute_us = node.copy_us - node.compute_us;
  run.copy_us = node.copy_end_us - node.copy_us;
  run.dispatch_us = node.dispatch_us;
  run.stream = ids.stream;
  run.task = ids.task;
  return run;
}

AicpuTask MakeAicpuTask(const raw::AicpuHcclTask& entry, uint64_t time, bool has_wide_streams) {
  const StreamTask ids =
      CorrectIds(entry.stream, static_cast<uint16_t>(entry.task & 0xFFFF), 0, has_wide_streams);
  AicpuTask task;
  task.time = entry.time != 0 ? uint64_t{entry.time} : time;
  task.stream = ids.stream;
  task.task = ids.task;
  task.facts.item = entry.item;
  task.facts.group = entry.group;
  task.facts.notify = entry.notify;
  task.facts.size = entry.size;
  task.facts.local_rank = entry.local_rank;
  task.facts.remote_rank = entry.remote_rank;
  task.facts.rank_size = entry.rank_size;
  task.facts.data_type = entry.data_type;
  task.facts.link = entry.link;
  task.facts.transport = entry.transport;
  task.facts.rdma = entry.rdma;
  task.facts.estimated_us = entry.estimated_us;
  return task;
}

template <typename Turn>
AicpuTurn MakeTurn(const Turn& record, bool is_compute, bool has_wide_streams) {
  const StreamTask ids = CorrectIds(record.stream, record.task, 0, has_wide_streams);
  AicpuTurn turn;
  turn.parts = static_cast<uint32_t>(kLengthOf<decltype(record.times)> - 1);
  std::memcpy(turn.times.data(), &record.times, sizeof(record.times));
  turn.stream = ids.stream;
  turn.task = ids.task;
  turn.number = record.turn;
  turn.is_compute = is_compute;
  return turn;
}

std::string FixedText(Bytes record, size_t offset, size_t size) {
  const std::string_view text = format::AsText(record.subspan(offset, size));
  return std::string(text.substr(0, std::min(text.find('\0'), text.size())));
}

void AddRecord(const raw::RecordHead& head, Bytes record, bool has_wide_streams, AicpuPart& part) {
  AicpuRecords& out = part.records;
  switch (head.type) {
    case raw::kAicpuNode:
      out.runs.push_back(MakeRun(As<raw::AicpuNode>(record, raw::kPayloadAt), has_wide_streams));
      break;
    case raw::kAicpuDataQueue:
      out.actions.push_back({head.time, FixedText(record, raw::kPayloadAt, 16),
                             FixedText(record, raw::kPayloadAt + 16, 64),
                             As<uint64_t>(record, raw::kPayloadAt + 88)});
      break;
    case raw::kAicpuQueueWait:
      out.waits.push_back({As<uint64_t>(record, raw::kPayloadAt + 8),
                           As<uint64_t>(record, raw::kPayloadAt + 16),
                           As<uint64_t>(record, raw::kPayloadAt + 24)});
      break;
    case raw::kAicpuCommTurn:
      out.turns.push_back(MakeTurn(As<raw::AicpuCommTurn>(record, raw::kPayloadAt),
                                   /*is_compute=*/false, has_wide_streams));
      break;
    case raw::kAicpuComputeTurn:
      out.turns.push_back(MakeTurn(As<raw::AicpuComputeTurn>(record, raw::kPayloadAt),
                                   /*is_compute=*/true, has_wide_streams));
      break;
    case raw::kAicpuHcclOp: {
      const auto op = As<raw::AicpuHcclOp>(record, raw::kPayloadAt);
      const StreamTask ids =
          CorrectIds(op.stream, static_cast<uint16_t>(op.task & 0xFFFF), 0, has_wide_streams);
      out.ops.push_back({head.time, op.algorithm, op.count, op.group, ids.stream, op.data_type});
      break;
    }
    case raw::kAicpuFlip: {
      const auto flip = As<raw::AicpuFlip>(record, raw::kPayloadAt);
      const StreamTask ids = CorrectIds(flip.stream, flip.task, 0, has_wide_streams);
      part.flips.push_back({ids.stream, {head.time, ids.task}});
      break;
    }
    case raw::kAicpuMainStream: {
      const auto flag = As<raw::AicpuMainStream>(record, raw::kPayloadAt);
      const StreamTask kernel =
          CorrectIds(flag.kernel_stream, flag.kernel_task, 0, has_wide_streams);
      const StreamTask task = CorrectIds(flag.stream, flag.task, 0, has_wide_streams);
      out.flags.push_back({head.time, kernel.stream, task.stream, task.task, flag.type == 0});
      break;
    }
    case raw::kAicpuHcclTasks:
      for (size_t i = 0; i < 2; ++i) {
        const auto entry =
            As<raw::AicpuHcclTask>(record, raw::kPayloadAt + i * sizeof(raw::AicpuHcclTask));
        if (entry.group != 0)
          out.tasks.push_back(MakeAicpuTask(entry, head.time, has_wide_streams));
      }
      break;
    default:
      break;  // kinds that nothing is made of
  }
}

template <typename Row>
void AppendRows(std::vector<Row>& to, std::vector<Row>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

AicpuRecords ReadAicpuRecords(const Side& device, bool has_wide_streams, const ReadOptions& options,
                              store::IssueLog& issues) {
  std::vector<AicpuPart> parts = ReadParts<AicpuPart>(
      device.Find("aicpu"), raw::kAdditionalBytes, Cut::kAnywhere, options, issues,
      [&](Bytes record, const Slice&, AicpuPart& part) {
        const auto head = As<raw::RecordHead>(record);
        if (head.magic != raw::kHostMagic) return false;
        AddRecord(head, record, has_wide_streams, part);
        return true;
      },
      &kHeadMarker);
  AicpuRecords out;
  out.runs = ReadRows<AicpuRun>(
      device.Find("DATA_PREPROCESS.AICPU"), sizeof(raw::AicpuNodeOld), Cut::kAnywhere, options,
      issues, [&](Bytes record, const Slice&, std::vector<AicpuRun>& rows) {
        const auto node = As<raw::AicpuNodeOld>(record);
        if (node.magic != raw::kHostMagic || node.tag != raw::kAicpuNodeTag) return false;
        rows.push_back(MakeRun(node, has_wide_streams));
        return true;
      });
  FlipsByStream flips;
  for (AicpuPart& part : parts) {
    AppendRows(out.runs, part.records.runs);
    AppendRows(out.ops, part.records.ops);
    AppendRows(out.flags, part.records.flags);
    AppendRows(out.tasks, part.records.tasks);
    AppendRows(out.actions, part.records.actions);
    AppendRows(out.waits, part.records.waits);
    AppendRows(out.turns, part.records.turns);
    for (const auto& [stream, flip] : part.flips) flips[stream].push_back(flip);
  }
  NumberDeviceRows(out.tasks, flips);
  return out;
}

}  // namespace steplens::readers::prof
