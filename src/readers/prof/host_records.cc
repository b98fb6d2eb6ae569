#include "readers/prof/host_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "format/prof/host_records.h"
#include "readers/folder_listing.h"
#include "readers/prof/record_files.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;
using format::Bytes;

std::vector<Api> ReadApis(const Side& host, const ReadOptions& options, store::IssueLog& issues) {
  std::vector<Api> rows =
      ReadRows<Api>(host.Find("api_event"), sizeof(raw::ApiEvent), Cut::kAtRecords, options, issues,
                    [](Bytes record, const Slice&, std::vector<Api>& out) {
                      const auto event = As<raw::ApiEvent>(record);
                      if (event.magic != raw::kHostMagic) return false;
                      out.push_back({event.begin, event.end, event.item, event.type, event.thread,
                                     event.request, event.level});
                      return true;
                    });
  // The first event of a key opens, the next one closes.
  using Key = std::tuple<uint16_t, uint32_t, uint32_t, uint32_t, uint64_t>;
  std::map<Key, uint64_t> open;
  size_t kept = 0;
  for (const Api& row : rows) {
    Api api = row;
    if (api.end == raw::kIsEvent) {
      const Key key(api.level, api.type, api.thread, api.request, api.item);
      const auto [place, is_new] = open.try_emplace(key, api.begin);
      if (is_new) continue;
      api.end = api.begin;
      api.begin = place->second;
      open.erase(place);
    }
    rows[kept++] = api;
  }
  rows.resize(kept);
  if (!open.empty()) {
    issues.Add(store::IssueKind::kCallWithoutReturn,
               "api_event: an event opens an interval that no other closes", open.size());
  }
  return rows;
}

// The rows of a family of compact or additional records; make(head, record, slice) gives one.
template <typename Row, typename Make>
std::vector<Row> ReadFamily(const Side& host, std::string_view family, size_t record_bytes,
                            const ReadOptions& options, store::IssueLog& issues, const Make& make) {
  return ReadRows<Row>(host.Find(family), record_bytes, Cut::kAtRecords, options, issues,
                       [&](Bytes record, const Slice& slice, std::vector<Row>& out) {
                         const auto head = As<raw::RecordHead>(record);
                         if (head.magic != raw::kHostMagic) return false;
                         out.push_back(make(head, record, slice));
                         return true;
                       });
}

LaunchedTask MakeLaunch(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto track = As<raw::TaskTrack>(record, raw::kPayloadAt);
  LaunchedTask task;
  task.time = head.time;
  task.thread = head.thread;
  task.kernel = track.kernel;
  task.stream = track.stream;
  task.task = track.task & 0xFFFF;
  task.batch = track.task >> 16;
  task.type = static_cast<uint32_t>(track.type);
  task.device = track.device;
  task.has_blocks = head.data_len == raw::kTaskTrackFull && task.type != raw::kTaskKernelSimt;
  task.blocks = track.blocks;
  task.mix_ratio = track.flags & 7;
  return task;
}

LaunchedTask MakeWideTask(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto track = As<raw::TaskTrackV2>(record, raw::kPayloadAt);
  LaunchedTask task;
  task.time = head.time;
  task.thread = head.thread;
  task.kernel = track.kernel;
  task.stream = track.stream;
  task.task = track.task & 0xFFFF;
  task.batch = track.task >> 16;
  task.type = track.type;
  task.device = track.device;
  task.has_blocks = head.data_len == raw::kTaskTrackFull && task.type != raw::kTaskKernelSimt;
  task.blocks = track.blocks;
  task.mix_ratio = track.flags & 7;
  return task;
}

NodeInfo MakeNode(const raw::RecordHead& head, Bytes record, const Slice& slice) {
  const auto info = As<raw::NodeBasicInfo>(record, raw::kPayloadAt);
  NodeInfo node;
  node.time = head.time;
  node.thread = head.thread;
  node.name = info.name;
  node.type = info.type;
  node.task_type = info.task_type;
  node.blocks = static_cast<uint16_t>(info.blocks & 0xFFFF);
  node.mix_ratio = static_cast<uint16_t>(info.blocks >> 16);
  node.is_static = !slice.is_aging;
  node.is_hf32 = (info.flags & 1) != 0;
  return node;
}

NodeAttributes MakeAttributes(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::NodeAttrInfo>(record, raw::kPayloadAt);
  return {head.time, info.name, info.text, head.thread};
}

CopyInfo MakeCopy(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::MemcpyInfo>(record, raw::kPayloadAt);
  CopyInfo copy;
  copy.time = head.time;
  copy.thread = head.thread;
  copy.size = info.size;
  const bool is_full = head.data_len >= raw::kMemcpyInfoFull;
  copy.max_size = is_full ? info.max_size : info.size;
  copy.direction = is_full ? info.direction : static_cast<uint16_t>(info.max_size & 0xFFFF);
  return copy;
}

CommTaskInfo MakeCommTask(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::HcclInfo>(record, raw::kPayloadAt);
  CommTaskInfo task;
  task.time = head.time;
  task.thread = head.thread;
  task.item = info.item;
  task.group = info.group;
  task.notify = info.notify;
  task.size = info.size;
  task.local_rank = info.local_rank;
  task.remote_rank = info.remote_rank;
  task.rank_size = info.rank_size;
  task.plane = info.plane;
  task.context = info.context;
  task.data_type = info.data_type;
  task.link = info.link;
  task.transport = info.transport;
  task.rdma = info.rdma;
  task.estimated_us = info.estimated_us;
  return task;
}

CommOpInfo MakeCommOp(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::HcclOpInfo>(record, raw::kPayloadAt);
  CommOpInfo op;
  op.time = head.time;
  op.thread = head.thread;
  op.algorithm = info.algorithm;
  op.count = info.count;
  op.group = info.group;
  op.data_type = info.data_type;
  op.is_relay = (info.flags & 1) != 0;
  op.is_retry = (info.flags & 2) != 0;
  return op;
}

StreamCapture MakeCapture(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::CaptureStreamInfo>(record, raw::kPayloadAt);
  StreamCapture capture;
  capture.time = head.time;
  capture.stream = info.model_stream;
  capture.model = info.model;
  capture.device = info.device;
  capture.is_end = info.status != 0;
  return capture;
}

StreamCapture MakeWideCapture(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::CaptureStreamInfoV2>(record, raw::kPayloadAt);
  StreamCapture capture;
  capture.time = head.time;
  capture.stream = info.model_stream;
  capture.model = info.model;
  capture.device = info.device;
  capture.is_end = info.status != 0;
  return capture;
}

Mark MakeMark(const raw::RecordHead&, Bytes record, const Slice&) {
  const auto info = As<raw::MarkInfo>(record, raw::kPayloadAt);
  Mark mark;
  mark.begin = info.begin;
  mark.end = info.end;
  mark.id = info.mark;
  mark.domain = info.domain;
  mark.thread = info.thread;
  mark.event_type = info.event_type;
  mark.category = info.category;
  mark.payload_type = info.payload_type;
  mark.payload = info.payload;
  mark.message_type = info.message_type;
  mark.is_linked = info.info_type == 1;
  const std::string_view message(info.message, raw::kMarkMessageBytes);
  mark.message = message.substr(0, std::min(message.find('\0'), message.size()));
  return mark;
}

MemoryChange MakeMemory(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::TaskMemoryInfo>(record, raw::kPayloadAt);
  MemoryChange change;
  change.time = head.time;
  change.thread = head.thread;
  change.address = info.address;
  change.name = info.name;
  change.size = info.size;
  change.total_allocated = info.total_allocated;
  change.total_reserved = info.total_reserved;
  change.device = info.device;
  return change;
}

AicpuGroup MakeAicpuGroup(const raw::RecordHead&, Bytes record, const Slice&) {
  const auto info = As<raw::Mc2CommInfo>(record, raw::kPayloadAt);
  AicpuGroup group;
  group.group = info.group;
  group.kernel_stream = info.kernel_stream;
  for (uint32_t i = 0; i < kLengthOf<decltype(info.streams)> && i < info.stream_count; ++i) {
    const uint32_t stream = info.streams[i];
    group.streams.push_back(stream);
  }
  return group;
}

FusedOp MakeFusedOp(const raw::RecordHead& head, Bytes record, const Slice&) {
  const auto info = As<raw::FusionOpInfo>(record, raw::kPayloadAt);
  FusedOp op;
  op.time = head.time;
  op.thread = head.thread;
  op.name = info.name;
  op.sizes[0] = info.input;
  op.sizes[1] = info.output;
  op.sizes[2] = info.weight;
  op.sizes[3] = info.workspace;
  op.sizes[4] = info.total;
  for (uint32_t i = 0; i < kLengthOf<decltype(info.fused)> && i < info.count; ++i) {
    const uint64_t part = info.fused[i];
    op.parts.push_back(part);
  }
  return op;
}

GraphName MakeGraphName(const raw::RecordHead&, Bytes record, const Slice&) {
  const auto info = As<raw::GraphIdMap>(record, raw::kPayloadAt);
  return {info.model_name, info.graph, info.model};
}

StaticMemory MakeStaticMemory(const raw::RecordHead&, Bytes record, const Slice&) {
  const auto info = As<raw::StaticOpMem>(record, raw::kPayloadAt);
  StaticMemory memory;
  memory.name = info.name;
  memory.first = info.life_start;
  memory.last = info.life_end;
  memory.bytes = info.size;
  memory.graph = info.graph;
  return memory;
}

// Tensors of a piece of the file, with the numbers of its own sets.
struct TensorPart {
  std::vector<NodeTensors> rows;
  TensorSets sets;
};

void ReadTensors(const Side& host, const ReadOptions& options, store::IssueLog& issues,
                 HostRecords& out) {
  std::vector<TensorPart> parts = ReadParts<TensorPart>(
      host.Find("additional.tensor_info"), raw::kAdditionalBytes, Cut::kAtRecords, options, issues,
      [](Bytes record, const Slice&, TensorPart& part) {
        const auto head = As<raw::RecordHead>(record);
        const auto count = As<uint32_t>(record, raw::kPayloadAt + offsetof(raw::TensorInfo, count));
        if (head.magic != raw::kHostMagic || count > raw::kTensorsPerRecord) return false;
        const Bytes tensors = record.subspan(raw::kPayloadAt + offsetof(raw::TensorInfo, tensors),
                                             count * sizeof(raw::Tensor));
        part.rows.push_back({head.time, As<uint64_t>(record, raw::kPayloadAt), head.thread,
                             part.sets.Add(format::AsText(tensors))});
        return true;
      });
  for (TensorPart& part : parts) {
    std::vector<uint32_t> renamed(part.sets.size());
    for (uint32_t i = 0; i < renamed.size(); ++i)
      renamed[i] = out.tensor_sets.Add(part.sets.Get(i));
    for (NodeTensors& row : part.rows) row.tensors = renamed[row.tensors];
    out.tensors.insert(out.tensors.end(), part.rows.begin(), part.rows.end());
    part = {};
  }
}

// The same for graphs recorded from streams.
struct CapturePart {
  std::vector<CapturedOp> rows;
  TensorSets sets;
};

// A record of any length; false if its tensors would not fit.
bool AddCapturedOp(Bytes record, CapturePart& part) {
  const size_t at = raw::kPayloadAt + sizeof(raw::CaptureOpInfo);
  if (record.size() < at) return false;
  const auto info = As<raw::CaptureOpInfo>(record, raw::kPayloadAt);
  const size_t bytes = size_t{info.tensor_count} * sizeof(raw::Tensor);
  if (bytes > record.size() - at) return false;
  CapturedOp op;
  op.name = info.name;
  op.type = info.type;
  op.attributes = info.attributes;
  op.device = info.device;
  op.stream = info.stream;
  op.task = info.task & 0xFFFF;
  op.task_type = info.task_type;
  op.blocks = static_cast<uint16_t>(info.blocks & 0xFFFF);
  op.mix_ratio = static_cast<uint16_t>(info.blocks >> 16);
  op.is_hf32 = (info.flags & 1) != 0;
  op.tensors = part.sets.Add(format::AsText(record.subspan(at, bytes)));
  part.rows.push_back(op);
  return true;
}

// Records whose heads say how long they are, one behind the other. Behind a damaged one nothing of
// the slice can be found again.
std::vector<CapturePart> ReadVariableCaptures(const std::vector<Slice>& slices,
                                              const ReadOptions& options, store::IssueLog& issues) {
  std::vector<CapturePart> parts(slices.size());
  std::vector<store::IssueLog> logs(slices.size());
  options.pool->ParallelFor(slices.size(), [&](size_t i) {
    const std::string bytes = ReadPiece(slices, {i, 0, slices[i].size_bytes}, logs[i]);
    const Bytes view = format::AsBytes(bytes);
    for (size_t at = 0; at < view.size();) {
      const size_t left = view.size() - at;
      if (left < sizeof(raw::RecordHead)) {
        return logs[i].Add(store::IssueKind::kRecordsTruncated,
                           fmt::format("{}: {} bytes too many", NameOf(slices[i].path), left));
      }
      const auto head = As<raw::RecordHead>(view, at);
      if (head.magic != raw::kHostMagic)
        return CountDamaged(slices[i], at, "unknown marker", logs[i]);
      const size_t length = sizeof(raw::RecordHead) + head.data_len;
      if (length > left) {
        return logs[i].Add(store::IssueKind::kRecordsTruncated,
                           fmt::format("{}: byte {}: a record of {} bytes is not all there",
                                       NameOf(slices[i].path), at, length));
      }
      if (!AddCapturedOp(view.subspan(at, length), parts[i]))
        CountDamaged(slices[i], at, "tensors that do not fit", logs[i]);
      at += length;
    }
    if (options.progress != nullptr) options.progress->Add(bytes.size());
  });
  for (const store::IssueLog& log : logs) issues.Merge(log);
  return parts;
}

void ReadCapturedOps(const Side& host, const ReadOptions& options, store::IssueLog& issues,
                     HostRecords& out) {
  std::vector<CapturePart> parts = ReadParts<CapturePart>(
      host.Find("additional.capture_op_info"), raw::kAdditionalBytes, Cut::kAtRecords, options,
      issues, [](Bytes record, const Slice&, CapturePart& part) {
        return As<raw::RecordHead>(record).magic == raw::kHostMagic && AddCapturedOp(record, part);
      });
  for (CapturePart& part :
       ReadVariableCaptures(host.Find("variable.capture_op_info"), options, issues))
    parts.push_back(std::move(part));
  for (CapturePart& part : parts) {
    for (CapturedOp& row : part.rows) row.tensors = out.tensor_sets.Add(part.sets.Get(row.tensors));
    out.captured_ops.insert(out.captured_ops.end(), part.rows.begin(), part.rows.end());
  }
}

void ReadContexts(const Side& host, const ReadOptions& options, store::IssueLog& issues,
                  HostRecords& out) {
  struct Part {
    std::vector<NodeContexts> rows;
    std::vector<uint32_t> ids;
  };
  std::vector<Part> parts =
      ReadParts<Part>(host.Find("additional.context_id_info"), raw::kAdditionalBytes,
                      Cut::kAtRecords, options, issues, [](Bytes record, const Slice&, Part& part) {
                        const auto head = As<raw::RecordHead>(record);
                        const auto info = As<raw::ContextIdInfo>(record, raw::kPayloadAt);
                        if (head.magic != raw::kHostMagic || info.count > raw::kContextsPerRecord)
                          return false;
                        part.rows.push_back({head.time, info.name, head.thread,
                                             static_cast<uint32_t>(part.ids.size()),
                                             static_cast<uint16_t>(info.count), head.level});
                        for (uint32_t i = 0; i < info.count; ++i) {
                          const uint32_t id = info.ids[i];
                          part.ids.push_back(id);
                        }
                        return true;
                      });
  for (Part& part : parts) {
    const auto first = static_cast<uint32_t>(out.contexts.size());
    for (NodeContexts& row : part.rows) row.first += first;
    out.node_contexts.insert(out.node_contexts.end(), part.rows.begin(), part.rows.end());
    out.contexts.insert(out.contexts.end(), part.ids.begin(), part.ids.end());
  }
}

// A long message stands in several records of one mark, which say their place.
std::vector<Mark> ReadMarks(const Side& host, const ReadOptions& options, store::IssueLog& issues) {
  struct Segment {
    Mark mark;
    uint16_t place = 0;
  };
  std::vector<Segment> segments = ReadFamily<Segment>(
      host, "additional.msproftx", raw::kAdditionalBytes, options, issues,
      [](const raw::RecordHead& head, Bytes record, const Slice& slice) {
        return Segment{MakeMark(head, record, slice),
                       As<uint16_t>(record, raw::kPayloadAt + offsetof(raw::MarkInfo, segment))};
      });
  std::map<uint64_t, std::vector<size_t>> by_mark;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].mark.is_linked) by_mark[segments[i].mark.id].push_back(i);
  }
  std::vector<Mark> marks;
  for (size_t i = 0; i < segments.size(); ++i) {
    Mark mark = segments[i].mark;
    if (mark.is_linked) {
      std::vector<size_t>& same = by_mark[mark.id];
      if (same.empty()) continue;  // a part of a message that is used already
      std::stable_sort(same.begin(), same.end(),
                       [&](size_t a, size_t b) { return segments[a].place < segments[b].place; });
      mark = segments[same.front()].mark;
      for (size_t k = 1; k < same.size(); ++k) mark.message += segments[same[k]].mark.message;
      same.clear();
    }
    marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace

HostRecords ReadHostRecords(const Side& host, const ReadOptions& options, store::IssueLog& issues) {
  HostRecords out;
  // Families are read side by side; each has a log of its own, so that their order is fixed.
  std::vector<std::function<void(store::IssueLog&)>> jobs;
  const auto add = [&](auto& rows, std::string_view family, size_t bytes, auto make) {
    using Row = typename std::remove_reference_t<decltype(rows)>::value_type;
    jobs.emplace_back([&rows, &host, &options, family, bytes, make](store::IssueLog& log) {
      rows = ReadFamily<Row>(host, family, bytes, options, log, make);
    });
  };
  jobs.emplace_back([&](store::IssueLog& log) { out.apis = ReadApis(host, options, log); });
  jobs.emplace_back([&](store::IssueLog& log) {
    ReadTensors(host, options, log, out);
    ReadCapturedOps(host, options, log, out);
  });
  jobs.emplace_back([&](store::IssueLog& log) { ReadContexts(host, options, log, out); });
  jobs.emplace_back([&](store::IssueLog& log) { out.marks = ReadMarks(host, options, log); });
  std::vector<LaunchedTask> wide_tasks;
  std::vector<StreamCapture> wide_captures;
  std::vector<uint8_t> wide;
  add(out.tasks, "compact.task_track", raw::kCompactBytes, MakeLaunch);
  add(wide_tasks, "compact.task_track_v2", raw::kCompactBytes, MakeWideTask);
  add(out.nodes, "compact.node_basic_info", raw::kCompactBytes, MakeNode);
  add(out.attributes, "compact.node_attr_info", raw::kCompactBytes, MakeAttributes);
  add(out.copies, "compact.memcpy_info", raw::kCompactBytes, MakeCopy);
  add(out.comm_ops, "compact.hccl_op_info", raw::kCompactBytes, MakeCommOp);
  add(out.captures, "compact.capture_stream_info", raw::kCompactBytes, MakeCapture);
  add(wide_captures, "compact.capture_stream_info_v2", raw::kCompactBytes, MakeWideCapture);
  add(wide, "compact.expand_stream_spec", raw::kCompactBytes,
      [](const raw::RecordHead&, Bytes record, const Slice&) {
        return As<raw::ExpandStreamSpec>(record, raw::kPayloadAt).status;
      });
  add(out.comm_tasks, "additional.hccl_info", raw::kAdditionalBytes, MakeCommTask);
  add(out.memory, "additional.task_memory_info", raw::kAdditionalBytes, MakeMemory);
  add(out.aicpu_groups, "additional.mc2_comm_info", raw::kAdditionalBytes, MakeAicpuGroup);
  add(out.fused_ops, "additional.fusion_op_info", raw::kAdditionalBytes, MakeFusedOp);
  add(out.graphs, "additional.graph_id_map", raw::kAdditionalBytes, MakeGraphName);
  add(out.static_memory, "additional.static_op_mem", raw::kAdditionalBytes, MakeStaticMemory);
  std::vector<store::IssueLog> logs(jobs.size());
  options.pool->ParallelFor(jobs.size(), [&](size_t i) { jobs[i](logs[i]); });
  for (const store::IssueLog& log : logs) issues.Merge(log);
  out.tasks.insert(out.tasks.end(), wide_tasks.begin(), wide_tasks.end());
  out.captures.insert(out.captures.end(), wide_captures.begin(), wide_captures.end());
  out.has_wide_streams = std::find(wide.begin(), wide.end(), 1) != wide.end();
  return out;
}

}  // namespace steplens::readers::prof
