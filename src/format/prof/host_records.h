#pragma once

#include <cstddef>
#include <cstdint>

// Records that the collector writes about the host: PROF_*/host/data/{aging,unaging}.*.slice_<k>.
// All numbers are little endian, structs have no padding but what is written out; the number behind
// each field is its offset. Times are values of the host's counter.
namespace steplens::format::prof {

inline constexpr uint16_t kHostMagic = 0x5A5A;
inline constexpr uint64_t kIsEvent = ~uint64_t{0};  // ApiEvent::end of a point in time
inline constexpr uint32_t kNone32 = ~uint32_t{0};
inline constexpr uint64_t kNone64 = ~uint64_t{0};

// The layer a record belongs to.
enum Level : uint16_t {
  kLevelRuntime = 5000,
  kLevelCommunication = 5500,
  kLevelAicpu = 6000,
  kLevelNode = 10000,
  kLevelModel = 15000,
  kLevelAcl = 20000,
  kLevelMarker = 20500,
};

// Types of the runtime's tasks that mean something to a reader.
enum RuntimeTask : uint32_t {
  kTaskKernelAicore = 0,
  kTaskKernelAicpu = 1,
  kTaskEventRecord = 2,
  kTaskEventWait = 3,
  kTaskMemcpyAsync = 5,
  kTaskMaintenance = 6,
  kTaskNotifyWait = 14,
  kTaskStarsCommon = 50,
  kTaskFftsPlus = 52,
  kTaskKernelAivec = 66,
  kTaskFlip = 98,
  kTaskKernelMixAic = 108,
  kTaskKernelMixAiv = 109,
  kTaskKernelSimt = 600,
};

#pragma pack(push, 1)

// *.api_event.data, 40 bytes: an interval, or one end of it.
struct ApiEvent {
  uint16_t magic;    // 0
  uint16_t level;    // 2
  uint32_t type;     // 4
  uint32_t thread;   // 8
  uint32_t request;  // 12: of an event; reserved elsewhere
  uint64_t begin;    // 16
  uint64_t end;      // 24: kIsEvent for an event, whose time is `begin`
  uint64_t item;     // 32: a hash, or a number
};
static_assert(sizeof(ApiEvent) == 40);

// Of compact (64 bytes) and additional records (256 bytes); the rest is their payload.
struct RecordHead {
  uint16_t magic;     // 0
  uint16_t level;     // 2
  uint32_t type;      // 4
  uint32_t thread;    // 8
  uint32_t data_len;  // 12: bytes of the payload that are filled
  uint64_t time;      // 16
};
static_assert(sizeof(RecordHead) == 24);
inline constexpr size_t kCompactBytes = 64;
inline constexpr size_t kAdditionalBytes = 256;
inline constexpr size_t kPayloadAt = sizeof(RecordHead);
inline constexpr size_t kAdditionalPayload = kAdditionalBytes - kPayloadAt;

// Payloads; offsets count from the payload's start.

// compact.task_track
struct TaskTrack {
  uint16_t device;   // 0: bits 12-15 are the kind of device, 1 = DPU
  uint16_t stream;   // 2
  uint32_t task;     // 4: low half the task's id, high half the wraps the driver counted
  uint64_t type;     // 8: RuntimeTask
  uint64_t kernel;   // 16: hash of its name
  uint16_t blocks;   // 24: from here on valid if data_len is 40; SIMT kernels: grid x
  uint16_t args;     // 26: SIMT kernels: grid y
  uint8_t flags;     // 28: bits 0-2 mix ratio, bits 3-4 schedule mode
  uint8_t rest[11];  // 29
};
static_assert(sizeof(TaskTrack) == 40);
inline constexpr uint32_t kTaskTrackFull = 40;

// compact.task_track_v2: the same with wider ids.
struct TaskTrackV2 {
  uint16_t device;   // 0
  uint16_t unused;   // 2
  uint32_t stream;   // 4
  uint32_t task;     // 8
  uint32_t type;     // 12
  uint64_t kernel;   // 16
  uint16_t blocks;   // 24
  uint16_t args;     // 26
  uint8_t flags;     // 28
  uint8_t rest[11];  // 29
};
static_assert(sizeof(TaskTrackV2) == 40);

// compact.node_basic_info: what an operator is.
struct NodeBasicInfo {
  uint64_t name;       // 0
  uint32_t task_type;  // 8
  uint64_t type;       // 12
  uint32_t blocks;     // 20: low half blocks, high half mix ratio
  uint32_t flags;      // 24: bit 0: may use HF32
  uint8_t rest[12];    // 28
};
static_assert(sizeof(NodeBasicInfo) == 40);

// compact.node_attr_info
struct NodeAttrInfo {
  uint64_t name;     // 0
  uint32_t type;     // 8
  uint64_t text;     // 12: hash
  uint8_t rest[20];  // 20
};
static_assert(sizeof(NodeAttrInfo) == 40);

// compact.hccl_op_info: a collective.
struct HcclOpInfo {
  uint8_t flags;       // 0: bit 0 relay, bit 1 retry
  uint8_t data_type;   // 1
  uint64_t algorithm;  // 2: hash
  uint64_t count;      // 10
  uint64_t group;      // 18: hash
  uint8_t rest[14];    // 26
};
static_assert(sizeof(HcclOpInfo) == 40);

// compact.memcpy_info. Records of older collectors (data_len below 18) have the direction at 8.
struct MemcpyInfo {
  uint64_t size;       // 0
  uint64_t max_size;   // 8: the most that one task copies
  uint16_t direction;  // 16
  uint8_t rest[22];    // 18
};
static_assert(sizeof(MemcpyInfo) == 40);
inline constexpr uint32_t kMemcpyInfoFull = 18;

// compact.capture_stream_info: a graph is recorded from a stream.
struct CaptureStreamInfo {
  uint16_t status;           // 0: 0 begins, 1 ends
  uint16_t model_stream;     // 2
  uint16_t original_stream;  // 4
  uint16_t model;            // 6
  uint16_t device;           // 8
  uint8_t rest[30];          // 10
};
static_assert(sizeof(CaptureStreamInfo) == 40);

// compact.capture_stream_info_v2: the same with wider ids.
struct CaptureStreamInfoV2 {
  uint16_t device;           // 0
  uint8_t status;            // 2
  uint8_t unused;            // 3
  uint32_t model_stream;     // 4
  uint32_t original_stream;  // 8
  uint32_t model;            // 12
  uint8_t rest[24];          // 16
};
static_assert(sizeof(CaptureStreamInfoV2) == 40);

// compact.expand_stream_spec
struct ExpandStreamSpec {
  uint8_t status;    // 0: 1 = stream ids have 15 bits
  uint8_t rest[39];  // 1
};
static_assert(sizeof(ExpandStreamSpec) == 40);

// additional.tensor_info: up to five tensors of an operator.
struct Tensor {
  uint32_t kind;       // 0: 0 input, 1 output
  uint32_t format;     // 4
  uint32_t data_type;  // 8
  uint32_t shape[8];   // 12: ends at the first 0
};
static_assert(sizeof(Tensor) == 44);
inline constexpr size_t kTensorsPerRecord = 5;
struct TensorInfo {
  uint64_t name;                      // 0
  uint32_t count;                     // 8
  Tensor tensors[kTensorsPerRecord];  // 12
};
static_assert(sizeof(TensorInfo) == 232);

// additional.context_id_info: the sub-tasks of an operator.
inline constexpr size_t kContextsPerRecord = 55;
struct ContextIdInfo {
  uint64_t name;                     // 0
  uint32_t count;                    // 8
  uint32_t ids[kContextsPerRecord];  // 12
};
static_assert(sizeof(ContextIdInfo) == 232);

// additional.hccl_info: one task of a collective.
struct HcclInfo {
  uint64_t item;         // 0: hash of Memcpy, Notify_Wait, ...
  uint64_t tag;          // 8
  uint64_t group;        // 16
  uint32_t local_rank;   // 24
  uint32_t remote_rank;  // 28
  uint32_t rank_size;    // 32
  uint32_t workflow;     // 36
  uint32_t plane;        // 40
  uint32_t context;      // 44
  uint64_t notify;       // 48
  uint32_t stage;        // 56
  uint32_t role;         // 60: 0 receives, 1 sends
  double estimated_us;   // 64
  uint64_t source;       // 72
  uint64_t destination;  // 80
  uint64_t size;         // 88
  uint32_t op_type;      // 96
  uint32_t data_type;    // 100
  uint32_t link;         // 104
  uint32_t transport;    // 108
  uint32_t rdma;         // 112
  uint32_t unused;       // 116
};
static_assert(sizeof(HcclInfo) == 120);

// additional.mc2_comm_info: which streams AI CPU kernels of a group use.
struct Mc2CommInfo {
  uint64_t group;          // 0
  uint32_t rank_size;      // 8
  uint32_t rank;           // 12
  uint32_t user_rank;      // 16
  uint32_t kernel_stream;  // 20
  uint32_t stream_count;   // 24
  uint32_t streams[8];     // 28
};
static_assert(sizeof(Mc2CommInfo) == 60);

// additional.task_memory_info: an allocation or a release of the graph engine.
struct TaskMemoryInfo {
  uint64_t address;          // 0
  int64_t size;              // 8: negative for a release
  uint64_t name;             // 16
  uint64_t total_allocated;  // 24
  uint64_t total_reserved;   // 32
  uint32_t device;           // 40
  uint32_t device_type;      // 44
};
static_assert(sizeof(TaskMemoryInfo) == 48);

// additional.fusion_op_info
struct FusionOpInfo {
  uint64_t name;       // 0
  uint32_t count;      // 8
  uint64_t input;      // 12
  uint64_t output;     // 20
  uint64_t weight;     // 28
  uint64_t workspace;  // 36
  uint64_t total;      // 44
  uint64_t fused[8];   // 52
};
static_assert(sizeof(FusionOpInfo) == 116);

// additional.graph_id_map
struct GraphIdMap {
  uint64_t model_name;  // 0
  uint32_t graph;       // 8
  uint32_t model;       // 12
};
static_assert(sizeof(GraphIdMap) == 16);

// additional.static_op_mem: memory that a graph sets aside for an operator.
struct StaticOpMem {
  int64_t size;              // 0
  uint64_t name;             // 8
  uint64_t life_start;       // 16: places of operators in the graph
  uint64_t life_end;         // 24
  uint64_t total_allocated;  // 32
  uint64_t dynamic_op;       // 40: 0 = none
  uint32_t graph;            // 48
};
static_assert(sizeof(StaticOpMem) == 52);

// additional.logic_stream_info
struct LogicStreamInfo {
  uint32_t logic;         // 0
  uint32_t count;         // 4
  uint32_t physical[56];  // 8
};
static_assert(sizeof(LogicStreamInfo) == 232);

// additional.capture_op_info: an operator of a graph recorded from a stream; tensors follow.
// variable.capture_op_info: the same with as many bytes as the head's data_len says.
struct CaptureOpInfo {
  uint32_t model;         // 0
  uint32_t device;        // 4
  uint32_t stream;        // 8
  uint32_t task;          // 12
  uint32_t task_type;     // 16
  uint32_t blocks;        // 20
  uint64_t name;          // 24
  uint64_t type;          // 32
  uint64_t attributes;    // 40
  uint64_t unused;        // 48
  uint32_t flags;         // 56
  uint32_t tensor_count;  // 60
};
static_assert(sizeof(CaptureOpInfo) == 64);

// additional.msproftx: a mark or range of the user.
inline constexpr size_t kMarkMessageBytes = 156;
struct MarkInfo {
  uint16_t info_type;               // 0: 1 = the message goes on in other records
  uint16_t segment;                 // 2
  uint32_t unused;                  // 4
  uint16_t magic;                   // 8
  uint16_t data_tag;                // 10
  uint32_t pid;                     // 12
  uint32_t thread;                  // 16
  uint32_t category;                // 20
  uint32_t event_type;              // 24: 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  int32_t payload_type;             // 28
  uint64_t payload;                 // 32
  uint64_t begin;                   // 40
  uint64_t end;                     // 48
  uint64_t mark;                    // 56
  uint64_t domain;                  // 64: hash
  int32_t message_type;             // 72
  char message[kMarkMessageBytes];  // 76: ends at the first 0
};
static_assert(sizeof(MarkInfo) == 232);

#pragma pack(pop)

}  // namespace steplens::format::prof
