#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readers/prof/prof_files.h"
#include "readers/prof/tensor_sets.h"
#include "readers/read_options.h"
#include "store/issues.h"

// The host's records as rows of what is used of them. Times are values of the host's counter.
namespace steplens::readers::prof {

// A call of the host, from two events or one record.
struct Api {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t item = 0;
  uint32_t type = 0;
  uint32_t thread = 0;
  uint32_t request = 0;  // models: the iteration
  uint16_t level = 0;
};

// A task that the runtime gave to a device.
struct LaunchedTask {
  uint64_t time = 0;
  uint64_t kernel = 0;  // hash of its name; 0 = none
  uint32_t thread = 0;
  uint32_t stream = 0;
  uint32_t task = 0;   // 16 bits
  uint32_t batch = 0;  // how often the ids of its stream had begun again
  uint32_t type = 0;
  uint16_t device = 0;
  uint16_t blocks = 0;
  uint8_t mix_ratio = 0;
  bool has_blocks = false;
};

// What an operator is.
struct NodeInfo {
  uint64_t time = 0;
  uint64_t name = 0;
  uint64_t type = 0;
  uint32_t thread = 0;
  uint32_t task_type = 0;
  uint16_t blocks = 0;
  uint16_t mix_ratio = 0;
  bool is_static = false;
  bool is_hf32 = false;
};

// The attributes of an operator, one text.
struct NodeAttributes {
  uint64_t time = 0;
  uint64_t name = 0;
  uint64_t text = 0;  // hash
  uint32_t thread = 0;
};

// The tensors of an operator.
struct NodeTensors {
  uint64_t time = 0;
  uint64_t name = 0;
  uint32_t thread = 0;
  uint32_t tensors = 0;  // of TensorSets
};

// Sub-tasks of an operator or of a collective's task: ids [first, first + count) of `contexts`.
struct NodeContexts {
  uint64_t time = 0;
  uint64_t name = 0;
  uint32_t thread = 0;
  uint32_t first = 0;
  uint16_t count = 0;
  uint16_t level = 0;
};

// A task of a collective.
struct CommTaskInfo {
  uint64_t time = 0;
  uint64_t item = 0;
  uint64_t group = 0;
  uint64_t notify = 0;
  uint64_t size = 0;
  uint32_t thread = 0;
  uint32_t local_rank = 0;
  uint32_t remote_rank = 0;
  uint32_t rank_size = 0;
  uint32_t plane = 0;
  uint32_t context = 0;
  uint32_t data_type = 0;
  uint32_t link = 0;
  uint32_t transport = 0;
  uint32_t rdma = 0;
  double estimated_us = 0;
};

// A collective.
struct CommOpInfo {
  uint64_t time = 0;
  uint64_t algorithm = 0;
  uint64_t count = 0;
  uint64_t group = 0;
  uint32_t thread = 0;
  uint8_t data_type = 0;
  bool is_relay = false;
  bool is_retry = false;
};

// A graph that is recorded from a stream, or no longer.
struct StreamCapture {
  uint64_t time = 0;
  uint32_t stream = 0;
  uint32_t model = 0;
  uint16_t device = 0;
  bool is_end = false;
};

// A copy, of which one task moves `max_size` bytes at most.
struct CopyInfo {
  uint64_t time = 0;
  uint64_t size = 0;
  uint64_t max_size = 0;
  uint32_t thread = 0;
  uint16_t direction = 0;
};

// A mark or range of the user.
struct Mark {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t id = 0;
  uint64_t domain = 0;
  uint32_t thread = 0;
  uint32_t event_type = 0;
  uint32_t category = 0;
  int32_t payload_type = 0;
  int32_t message_type = 0;
  uint64_t payload = 0;
  bool is_linked = false;  // the device has its part of it
  std::string message;
};

struct MemoryChange {
  uint64_t time = 0;
  uint64_t address = 0;
  uint64_t name = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
  int64_t size = 0;  // negative for a release
  uint32_t thread = 0;
  uint32_t device = 0;
};

// The streams of a group whose collectives run on AI CPU.
struct AicpuGroup {
  uint64_t group = 0;
  uint32_t kernel_stream = 0;
  std::vector<uint32_t> streams;
};

// An operator of a graph that was recorded from a stream.
struct CapturedOp {
  uint64_t name = 0;
  uint64_t type = 0;
  uint32_t device = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t task_type = 0;
  uint32_t tensors = 0;
  uint64_t attributes = 0;  // hash; 0 = none
  uint16_t blocks = 0;
  uint16_t mix_ratio = 0;
  bool is_hf32 = false;
};

struct FusedOp {
  uint64_t name = 0;
  uint64_t sizes[5] = {};  // input, output, weight, workspace, total
  uint32_t thread = 0;
  uint64_t time = 0;
  std::vector<uint64_t> parts;
};

// Memory that a graph sets aside for an operator, while operators [first, last] of the graph run.
struct StaticMemory {
  uint64_t name = 0;
  uint64_t first = 0;
  uint64_t last = 0;
  int64_t bytes = 0;
  uint32_t graph = 0;
};

struct GraphName {
  uint64_t name = 0;
  uint32_t graph = 0;
  uint32_t model = 0;
};

// Everything the host wrote that is used, in the order of the files.
struct HostRecords {
  std::vector<Api> apis;
  std::vector<LaunchedTask> tasks;
  std::vector<NodeInfo> nodes;
  std::vector<NodeTensors> tensors;
  std::vector<NodeAttributes> attributes;
  std::vector<CopyInfo> copies;
  TensorSets tensor_sets;
  std::vector<NodeContexts> node_contexts;  // of both levels
  std::vector<uint32_t> contexts;
  std::vector<CommTaskInfo> comm_tasks;
  std::vector<CommOpInfo> comm_ops;
  std::vector<StreamCapture> captures;
  std::vector<CapturedOp> captured_ops;
  std::vector<Mark> marks;
  std::vector<MemoryChange> memory;
  std::vector<AicpuGroup> aicpu_groups;
  std::vector<FusedOp> fused_ops;
  std::vector<GraphName> graphs;
  std::vector<StaticMemory> static_memory;
  bool has_wide_streams = false;  // stream ids of 15 bits
};

HostRecords ReadHostRecords(const Side& host, const ReadOptions& options, store::IssueLog& issues);

}  // namespace steplens::readers::prof
