#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "base/string_pool.h"
#include "store/column.h"
#include "store/unknown.h"

// Every table of the store, declared once: column type, name, meaning. The cache file, the SQL
// tables and docs/schema.md are made from these lists, so a new column needs one line here and a
// reader that fills it.
//
// Column types: int64_t, int32_t, uint32_t, double, StringId and the row ids below. "Not known" is
// kNone (the smallest int64), kNoTrack and kNoSlice for row ids, NaN for doubles and the empty
// text; SQL shows all of them as NULL (an empty text stays an empty text).

// A row of the timeline: process, thread, stream, plane or counter. A thread-like track has its
// process as parent.
#define SL_TRACK_COLUMNS(X)                                                         \
  X(TrackId, parent,                                                                \
    "the process of a thread, the counter process of a series; none for a process") \
  X(StringId, kind, "process, thread or counter")                                   \
  X(StringId, pid, "process id as written in the trace")                            \
  X(StringId, tid, "thread id as written in the trace; empty for a process")        \
  X(StringId, name, "process_name or thread_name; the series of a counter")         \
  X(StringId, label, "process_labels, e.g. 'CPU' or 'NPU 0'")                       \
  X(int64_t, sort_index, "order among its siblings")                                \
  X(int64_t, device, "device that its events name ('device' of Kineto); none elsewhere")

// A finished span of work on a track: host operator, Python function, API call, device task,
// marker.
#define SL_SLICE_COLUMNS(X)                                                                    \
  X(TrackId, track, "where it ran")                                                            \
  X(int64_t, begin_ns, "start")                                                                \
  X(int64_t, dur_ns, "duration, never negative")                                               \
  X(StringId, name, "name")                                                                    \
  X(StringId, category,                                                                        \
    "cpu_op, python_function, kernel, ...; the task type on Ascend streams; empty if unknown") \
  X(int64_t, correlation,                                                                      \
    "connection_id (Ascend), correlation (Kineto), correlation_id (queue) or, in raw "         \
    "captures, the Python id of a Python function")                                            \
  X(int64_t, args_offset, "byte offset of its args in the trace text; none if it has no args") \
  X(uint32_t, args_size, "length of its args in bytes")

// What PyTorch says of a host operator beyond its slice. One row per operator slice, in slice
// order.
#define SL_HOST_OP_COLUMNS(X)                                                                \
  X(SliceId, slice, "its slice")                                                             \
  X(int64_t, sequence_number, "autograd sequence number; -1 if none")                        \
  X(int64_t, fwd_thread, "thread of the forward operator; 0 in the forward pass")            \
  X(StringId, input_shapes, "as recorded: '32,3;3' (Ascend) or '[[32, 3], [3]]' (Kineto)")   \
  X(StringId, input_types, "data types of the inputs")                                       \
  X(StringId, call_stack, "frames, innermost first, separated by ';'")                       \
  X(StringId, module_hierarchy, "modules of scripted code, separated by ';'")                \
  X(uint32_t, scope, "raw captures: 0 function, 1 backward, 7 user range, ...; 0 elsewhere") \
  X(StringId, input_strides, "strides of the inputs, as Kineto records them")                \
  X(StringId, concrete_inputs, "values of the inputs that are no tensors, as Kineto records them")

// What Kineto says of a copy or memset of the device beyond its slice. One row per slice, in slice
// order.
#define SL_COPY_COLUMNS(X)                 \
  X(SliceId, slice, "its slice")           \
  X(int64_t, size_bytes, "bytes it moved") \
  X(double, bandwidth_gbps, "memory bandwidth (GB/s) as written")

// What mstx says of a mark or range beyond its slice. One row per marker slice, in slice order.
#define SL_MARKER_COLUMNS(X)                                                          \
  X(SliceId, slice, "its slice on the host")                                          \
  X(int64_t, event_type, "0 marker, 1 push/pop, 2 start/end, 3 marker_ex")            \
  X(StringId, domain, "domain, e.g. 'default', 'Module', 'communication'")            \
  X(int64_t, correlation, "connection id of its device side; none if it has none")    \
  X(int64_t, category, "the user's number; raw device data only, as the three below") \
  X(int64_t, payload_type, "kind of the payload")                                     \
  X(int64_t, payload, "the user's value")                                             \
  X(int64_t, message_type, "kind of the message")

// What raw device data say of a CANN call beyond its slice. One row per call that has a mode or an
// item, in slice order.
#define SL_CANN_CALL_COLUMNS(X)                                                        \
  X(SliceId, slice, "its slice")                                                       \
  X(StringId, mode,                                                                    \
    "ACL_NN, ACL_RTS, ... of acl calls, 'master' or 'slave' of tasks of a collective") \
  X(StringId, item, "the operator a node launches, the model's number, ...")

// Every run of a task on a device, as raw device data have it. Whole tasks that show as their
// sub-tasks have no slice.
#define SL_DEVICE_TASK_COLUMNS(X)                                                     \
  X(SliceId, slice, "its slice on the stream; none if its sub-tasks show instead")    \
  X(int64_t, device, "device id")                                                     \
  X(uint32_t, stream, "stream id")                                                    \
  X(uint32_t, task_id, "task id")                                                     \
  X(uint32_t, batch_id, "how often the task ids of the stream had begun again")       \
  X(uint32_t, context_id, "sub-task id; 4294967295 = none")                           \
  X(uint32_t, model_id, "model id; 4294967295 = none")                                \
  X(int64_t, begin_ns, "start")                                                       \
  X(int64_t, dur_ns, "duration")                                                      \
  X(StringId, type,                                                                   \
    "as the runtime calls it, or, where that is not known, the device; MsTx: a mark") \
  X(StringId, device_type, "as the device calls it")                                  \
  X(StringId, kernel_name, "the runtime's name of the kernel")                        \
  X(int64_t, correlation, "connection id")                                            \
  X(int64_t, copy_bytes, "bytes a copy moves")                                        \
  X(int64_t, copy_kind,                                                               \
    "0 host to host, 1 host to device, 2 device to host, 3 device to device, ...")

// An arrow between two points of the timeline.
#define SL_FLOW_COLUMNS(X)                                                          \
  X(StringId, kind, "async_npu, HostToDevice, async_task_queue, fwdbwd, ac2g, ...") \
  X(TrackId, from_track, "track of the start")                                      \
  X(int64_t, from_ns, "time of the start")                                          \
  X(TrackId, to_track, "track of the end")                                          \
  X(int64_t, to_ns, "time of the end")

// A moment without duration (trace markers, iteration starts).
#define SL_INSTANT_COLUMNS(X) \
  X(TrackId, track, "where")  \
  X(int64_t, ts_ns, "when")   \
  X(StringId, name, "name")   \
  X(StringId, category, "category")

// One sample of a counter series.
#define SL_COUNTER_COLUMNS(X)                      \
  X(TrackId, track, "the series (kind 'counter')") \
  X(int64_t, ts_ns, "time of the sample")          \
  X(double, value, "in the unit the series names")

// What kernel_details.csv has: compute tasks and whole collectives, in file order. Metric columns
// (PMU) are dynamic and live in TraceStore::kernel_metrics.
#define SL_KERNEL_COLUMNS(X)                                                               \
  X(int64_t, step, "Step Id; none if outside all steps")                                   \
  X(int64_t, device, "device id")                                                          \
  X(int64_t, stream, "stream id")                                                          \
  X(int64_t, task_id, "task id")                                                           \
  X(int64_t, context_id, "sub-task id")                                                    \
  X(int64_t, model_id, "model id; 4294967295 = none")                                      \
  X(StringId, name, "kernel name")                                                         \
  X(StringId, type, "operator type")                                                       \
  X(StringId, core, "Accelerator Core: AI_CORE, AI_VECTOR_CORE, HCCL, COMMUNICATION, ...") \
  X(StringId, state, "OP State: dynamic, static")                                          \
  X(int64_t, begin_ns, "start")                                                            \
  X(int64_t, dur_ns, "duration")                                                           \
  X(int64_t, wait_ns, "gap to the end of the previous row")                                \
  X(int64_t, block_dim, "cores used (Block Dim / Block Num)")                              \
  X(int64_t, mix_block_dim, "cores used by the second part of a mixed kernel")             \
  X(StringId, hf32, "HF32 Eligible")                                                       \
  X(StringId, input_shapes, "input shapes, without quotes")                                \
  X(StringId, input_types, "input data types")                                             \
  X(StringId, input_formats, "input formats")                                              \
  X(StringId, output_shapes, "output shapes, without quotes")                              \
  X(StringId, output_types, "output data types")                                           \
  X(StringId, output_formats, "output formats")                                            \
  X(int64_t, correlation, "connection id (db) or correlation (Kineto)")                    \
  X(StringId, attributes, "attributes of the operator, where raw device data have them")   \
  X(int64_t, device_task, "row of device_tasks; raw device data only")

// A collective or point-to-point operation on the communication track of its group.
#define SL_COMM_OP_COLUMNS(X)                                                   \
  X(TrackId, track, "its group's track")                                        \
  X(StringId, name, "hcom_allReduce__586_0_1, ncclDevKernel_AllReduce..., ...") \
  X(StringId, op_type, "hcom_allReduce_ and the like, where known")             \
  X(StringId, group_name, "communication group")                                \
  X(int64_t, begin_ns, "start")                                                 \
  X(int64_t, dur_ns, "duration")                                                \
  X(StringId, data_type, "FP32, BFP16, ...")                                    \
  X(StringId, alg_type, "algorithm")                                            \
  X(int64_t, count, "elements")                                                 \
  X(int64_t, size_bytes, "bytes moved, where the input says so")                \
  X(int64_t, correlation, "connection id")                                      \
  X(int64_t, device, "device id; raw device data only, as all below")           \
  X(StringId, group_id, "the group's number in the exporter's files")           \
  X(int64_t, model_id, "model id; 4294967295 = none")                           \
  X(int64_t, rank_size, "ranks of the group")                                   \
  X(int64_t, relay, "1: took another way round a broken link")                  \
  X(int64_t, retry, "1: was tried again")

// A task of a collective on one plane: Memcpy, Reduce_Inline, Notify_Wait, RDMASend, ...
#define SL_COMM_TASK_COLUMNS(X)                                              \
  X(TrackId, track, "its plane's track")                                     \
  X(StringId, name, "task kind")                                             \
  X(StringId, op_name, "the collective it belongs to, where known")          \
  X(StringId, group_name, "communication group")                             \
  X(int64_t, plane, "plane number")                                          \
  X(int64_t, begin_ns, "start")                                              \
  X(int64_t, dur_ns, "duration")                                             \
  X(int64_t, src_rank, "sending rank")                                       \
  X(int64_t, dst_rank, "receiving rank")                                     \
  X(StringId, transport, "SDMA, RDMA, LOCAL")                                \
  X(StringId, link, "HCCS, PCIE, SIO, ON_CHIP, ROCE, ...")                   \
  X(StringId, data_type, "element type")                                     \
  X(StringId, rdma_type, "RDMA_SEND_PAYLOAD, ...")                           \
  X(int64_t, size_bytes, "bytes moved")                                      \
  X(int64_t, notify_id, "notify id")                                         \
  X(int64_t, stream, "stream id")                                            \
  X(int64_t, task_id, "task id")                                             \
  X(int64_t, is_master, "1 on the master plane, 0 elsewhere")                \
  X(int64_t, comm_op, "row of comm_ops; raw device data only, as all below") \
  X(int64_t, device_task, "row of device_tasks")                             \
  X(double, estimated_us, "duration the library estimated")

// communication.json / CommAnalyzerTime: the time of one operation, or of 'Total Op Info'.
#define SL_COMM_TIME_COLUMNS(X)                                  \
  X(StringId, step, "'step50' as written; 'step' without steps") \
  X(StringId, kind, "collective or p2p")                         \
  X(StringId, op_name, "operation")                              \
  X(StringId, group_name, "group id, after the '@'")             \
  X(double, start_us, "Start Timestamp(us)")                     \
  X(double, elapse_ms, "Elapse Time(ms)")                        \
  X(double, transit_ms, "Transit Time(ms)")                      \
  X(double, wait_ms, "Wait Time(ms)")                            \
  X(double, synchronization_ms, "Synchronization Time(ms)")      \
  X(double, idle_ms, "Idle Time(ms)")                            \
  X(double, wait_ratio, "Wait Time Ratio")                       \
  X(double, synchronization_ratio, "Synchronization Time Ratio")

// communication.json / CommAnalyzerBandwidth: traffic of one operation over one kind of link.
#define SL_COMM_BANDWIDTH_COLUMNS(X)                         \
  X(StringId, step, "'step50' as written")                   \
  X(StringId, kind, "collective or p2p")                     \
  X(StringId, op_name, "operation")                          \
  X(StringId, group_name, "group id")                        \
  X(StringId, transport, "RDMA, HCCS, PCIE, SDMA, SIO")      \
  X(double, transit_size_mb, "Transit Size(MB), 10^6 bytes") \
  X(double, transit_ms, "Transit Time(ms)")                  \
  X(double, bandwidth_gbps, "Bandwidth(GB/s)")               \
  X(double, large_packet_ratio, "Large Packet Ratio")

// The packet sizes behind a comm_bandwidths row.
#define SL_COMM_PACKET_COLUMNS(X)                                    \
  X(uint32_t, bandwidth_row, "row of comm_bandwidths it belongs to") \
  X(double, package_size_mb, "packet size, 10^6 bytes")              \
  X(double, count, "packets")                                        \
  X(double, total_ms, "their total duration")

// communication_matrix.json / CommAnalyzerMatrix: traffic from one rank to another.
#define SL_COMM_LINK_COLUMNS(X)                                \
  X(StringId, step, "'step50' as written")                     \
  X(StringId, kind, "collective or p2p")                       \
  X(StringId, op_name, "'allreduce-top1' and the like")        \
  X(StringId, group_name, "group id")                          \
  X(int64_t, src_rank, "sending rank")                         \
  X(int64_t, dst_rank, "receiving rank")                       \
  X(StringId, transport, "LOCAL, HCCS, PCIE, RDMA, SDMA, SIO") \
  X(double, transit_size_mb, "Transit Size(MB), 10^6 bytes")   \
  X(double, transit_ms, "Transit Time(ms)")                    \
  X(double, bandwidth_gbps, "Bandwidth(GB/s)")                 \
  X(StringId, picked_op, "the operation behind the pick ('Op Name')")

// operator_memory.csv / OP_MEMORY / Kineto [memory] pairs: one block from allocation to release.
#define SL_ALLOCATION_COLUMNS(X)                                              \
  X(StringId, name, "operator that allocated it ('cann::' names are CANN's)") \
  X(int64_t, size_bytes, "size")                                              \
  X(int64_t, alloc_ns, "Allocation Time")                                     \
  X(int64_t, release_ns, "Release Time; none if it lived on")                 \
  X(int64_t, active_release_ns, "Active Release Time")                        \
  X(int64_t, dur_ns, "Duration as written")                                   \
  X(int64_t, active_dur_ns, "Active Duration as written")                     \
  X(int64_t, alloc_total_allocated_bytes, "total allocated at allocation")    \
  X(int64_t, alloc_total_reserved_bytes, "total reserved at allocation")      \
  X(int64_t, alloc_total_active_bytes, "total active at allocation")          \
  X(int64_t, release_total_allocated_bytes, "total allocated at release")     \
  X(int64_t, release_total_reserved_bytes, "total reserved at release")       \
  X(int64_t, release_total_active_bytes, "total active at release")           \
  X(int64_t, stream_ptr, "stream pointer")                                    \
  X(StringId, device, "'NPU:0', 'GPU:0', 'CPU'")                              \
  X(int64_t, address, "address, where recorded")

// memory_record.csv / MEMORY_RECORD / Kineto [memory] events: the allocator's totals over time.
#define SL_MEMORY_SAMPLE_COLUMNS(X)                              \
  X(StringId, component, "PTA, GE, PTA+GE, APP, WORKSPACE, ...") \
  X(int64_t, ts_ns, "time")                                      \
  X(int64_t, allocated_bytes, "total allocated")                 \
  X(int64_t, reserved_bytes, "total reserved")                   \
  X(int64_t, active_bytes, "total active")                       \
  X(int64_t, stream_ptr, "stream pointer")                       \
  X(StringId, device, "'NPU:0', 'GPU:0', 'CPU'")

// npu_module_mem.csv / NPU_MODULE_MEM.
#define SL_MODULE_MEMORY_COLUMNS(X)            \
  X(StringId, component, "CANN component")     \
  X(int64_t, ts_ns, "time")                    \
  X(int64_t, reserved_bytes, "total reserved") \
  X(StringId, device, "'NPU:0'")

// Training steps as the host marked them (ProfilerStep#, STEP_TIME).
#define SL_STEP_COLUMNS(X)           \
  X(int64_t, step, "step number")    \
  X(int64_t, begin_ns, "host start") \
  X(int64_t, end_ns, "host end")

// step_trace_time.csv / StepTraceTime as the reference wrote it.
#define SL_STEP_TRACE_COLUMNS(X)                                                          \
  X(int64_t, device, "device id, where written")                                          \
  X(int64_t, step, "step number; none if the run marked no steps")                        \
  X(double, computing_us, "Computing")                                                    \
  X(double, comm_not_overlapped_us, "Communication(Not Overlapped)")                      \
  X(double, overlapped_us, "Overlapped")                                                  \
  X(double, communication_us, "Communication")                                            \
  X(double, free_us, "Free")                                                              \
  X(double, stage_us, "Stage")                                                            \
  X(double, bubble_us, "Bubble")                                                          \
  X(double, comm_exclude_receive_us, "Communication(Not Overlapped and Exclude Receive)") \
  X(double, preparing_us, "Preparing; none in older files")

// op_statistic.csv as written.
#define SL_OP_STATISTIC_COLUMNS(X)               \
  X(int64_t, device, "device id, where written") \
  X(StringId, type, "OP Type")                   \
  X(StringId, core, "Core Type")                 \
  X(int64_t, count, "Count")                     \
  X(double, total_us, "Total Time(us)")          \
  X(double, min_us, "Min Time(us)")              \
  X(double, avg_us, "Avg Time(us)")              \
  X(double, max_us, "Max Time(us)")              \
  X(double, ratio_percent, "Ratio(%)")

// api_statistic.csv as written.
#define SL_API_STATISTIC_COLUMNS(X)                                    \
  X(StringId, device, "'host' where written")                          \
  X(StringId, level, "acl, node, runtime, model, hccl, communication") \
  X(StringId, name, "API Name")                                        \
  X(double, total_us, "Time(us)")                                      \
  X(int64_t, count, "Count")                                           \
  X(double, avg_us, "Avg(us)")                                         \
  X(double, min_us, "Min(us)")                                         \
  X(double, max_us, "Max(us)")                                         \
  X(double, variance, "Variance (population)")

// operator_details.csv as written.
#define SL_OPERATOR_DETAIL_COLUMNS(X)                                   \
  X(StringId, name, "Name")                                             \
  X(StringId, input_shapes, "Input Shapes")                             \
  X(StringId, call_stack, "Call Stack, frames separated by ';'")        \
  X(int64_t, host_self_ns, "Host Self Duration")                        \
  X(int64_t, host_total_ns, "Host Total Duration")                      \
  X(int64_t, device_self_ns, "Device Self Duration")                    \
  X(int64_t, device_total_ns, "Device Total Duration")                  \
  X(int64_t, device_self_aicore_ns, "Device Self Duration With AICore") \
  X(int64_t, device_total_aicore_ns, "Device Total Duration With AICore")

// Facts about the run: name and value, as found in profiler_info, profiler_metadata, META_DATA, ...
#define SL_META_COLUMNS(X)  \
  X(StringId, name, "name") \
  X(StringId, value, "value; JSON text for structured ones")

// The tables: struct name, member of TraceStore and SQL name, column list.
#define SL_TABLES(T)                                                   \
  T(TrackTable, tracks, SL_TRACK_COLUMNS)                              \
  T(SliceTable, slices, SL_SLICE_COLUMNS)                              \
  T(HostOpTable, host_ops, SL_HOST_OP_COLUMNS)                         \
  T(CopyTable, copies, SL_COPY_COLUMNS)                                \
  T(MarkerTable, markers, SL_MARKER_COLUMNS)                           \
  T(CannCallTable, cann_calls, SL_CANN_CALL_COLUMNS)                   \
  T(DeviceTaskTable, device_tasks, SL_DEVICE_TASK_COLUMNS)             \
  T(FlowTable, flows, SL_FLOW_COLUMNS)                                 \
  T(InstantTable, instants, SL_INSTANT_COLUMNS)                        \
  T(CounterTable, counters, SL_COUNTER_COLUMNS)                        \
  T(KernelTable, kernels, SL_KERNEL_COLUMNS)                           \
  T(CommOpTable, comm_ops, SL_COMM_OP_COLUMNS)                         \
  T(CommTaskTable, comm_tasks, SL_COMM_TASK_COLUMNS)                   \
  T(CommTimeTable, comm_times, SL_COMM_TIME_COLUMNS)                   \
  T(CommBandwidthTable, comm_bandwidths, SL_COMM_BANDWIDTH_COLUMNS)    \
  T(CommPacketTable, comm_packets, SL_COMM_PACKET_COLUMNS)             \
  T(CommLinkTable, comm_links, SL_COMM_LINK_COLUMNS)                   \
  T(AllocationTable, allocations, SL_ALLOCATION_COLUMNS)               \
  T(MemorySampleTable, memory_samples, SL_MEMORY_SAMPLE_COLUMNS)       \
  T(ModuleMemoryTable, module_memory, SL_MODULE_MEMORY_COLUMNS)        \
  T(StepTable, steps, SL_STEP_COLUMNS)                                 \
  T(StepTraceTable, step_traces, SL_STEP_TRACE_COLUMNS)                \
  T(OpStatisticTable, op_statistics, SL_OP_STATISTIC_COLUMNS)          \
  T(ApiStatisticTable, api_statistics, SL_API_STATISTIC_COLUMNS)       \
  T(OperatorDetailTable, operator_details, SL_OPERATOR_DETAIL_COLUMNS) \
  T(MetaTable, meta, SL_META_COLUMNS)

namespace steplens::store {

// Columns of which every row has a value: analyses compute with them without a question. Readers
// leave out rows that lack one, and FindUnsound (sound.h) looks after it.
constexpr bool IsAlwaysKnown(std::string_view table, std::string_view column) {
  struct Known {
    std::string_view table;
    std::string_view column;
  };
  constexpr Known kKnown[] = {
      {"slices", "begin_ns"},   {"slices", "dur_ns"},   {"flows", "from_ns"},
      {"flows", "to_ns"},       {"instants", "ts_ns"},  {"counters", "ts_ns"},
      {"comm_ops", "begin_ns"}, {"comm_ops", "dur_ns"}, {"comm_tasks", "begin_ns"},
      {"comm_tasks", "dur_ns"}, {"steps", "step"},      {"steps", "begin_ns"},
      {"steps", "end_ns"}};
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const Known& known) {
    return known.table == table && known.column == column;
  });
}

// Whole numbers that may be missing cannot be computed with unasked (maybe.h).
template <typename T, bool is_always_known>
using ColumnOf =
    std::conditional_t<std::is_same_v<T, int64_t> && !is_always_known, MaybeColumn, Column<T>>;

#define SL_DECLARE_FIELD_(type, field, doc) type field = NotKnown<type>();
#define SL_DECLARE_COLUMN_(type, field, doc) ColumnOf<type, IsAlwaysKnown(kName, #field)> field;
#define SL_APPEND_FIELD_(type, field, doc) field.Append(row.field);
#define SL_READ_FIELD_(type, field, doc) row.field = field[i];
#define SL_RESERVE_FIELD_(type, field, doc) field.Reserve(rows);
#define SL_SIZE_FIELD_(type, field, doc) \
  if (true) return field.size();
#define SL_VISIT_FIELD_(type, field, doc) \
  visit(std::string_view(#field), std::string_view(doc), field);

// A struct of columns of equal length, e.g. SliceTable{track, begin_ns, ...}, with Row to append or
// read a whole row.
#define SL_DECLARE_TABLE_(Table, table_name, COLUMNS)                                \
  struct Table {                                                                     \
    static constexpr std::string_view kName = #table_name;                           \
    struct Row {                                                                     \
      COLUMNS(SL_DECLARE_FIELD_)                                                     \
    };                                                                               \
    COLUMNS(SL_DECLARE_COLUMN_)                                                      \
    void Append(const Row& row){COLUMNS(SL_APPEND_FIELD_)} Row Get(size_t i) const { \
      Row row;                                                                       \
      COLUMNS(SL_READ_FIELD_) return row;                                            \
    }                                                                                \
    void Reserve(size_t rows){COLUMNS(SL_RESERVE_FIELD_)} size_t size() const {      \
      COLUMNS(SL_SIZE_FIELD_) return 0;                                              \
    }                                                                                \
    /* visit(name, doc, column) for each column, in order. */                        \
    template <typename Visitor>                                                      \
    void ForEachColumn(Visitor&& visit) {                                            \
      COLUMNS(SL_VISIT_FIELD_)                                                       \
    }                                                                                \
    template <typename Visitor>                                                      \
    void ForEachColumn(Visitor&& visit) const {                                      \
      COLUMNS(SL_VISIT_FIELD_)                                                       \
    }                                                                                \
  };
SL_TABLES(SL_DECLARE_TABLE_)

}  // namespace steplens::store
