#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/chrome/local_strings.h"
#include "store/issues.h"
#include "store/tables.h"

namespace steplens::readers {

// The events of one piece of a trace, in file order per kind. Texts are ids into `strings`, raw
// JSON (still escaped); tracks are ids into `tracks`. kNoText where an event has no such field.
struct EventBatch {
  static constexpr uint32_t kNoText = store::kNoId;

  struct Track {
    uint32_t pid;
    uint32_t tid;
    int64_t device = store::kNone;  // that the first of its slices names which names one
  };
  struct Slice {
    int64_t begin_ns;
    int64_t dur_ns;
    int64_t correlation;
    int64_t args_offset;
    uint32_t args_size;
    uint32_t track;
    uint32_t name;
    uint32_t category;
  };
  // A host operator's own fields; `slice` is the index into `slices`.
  struct HostOp {
    uint32_t slice;
    uint32_t input_shapes;
    uint32_t input_types;
    uint32_t call_stack;
    int64_t sequence_number;
    int64_t fwd_thread;
    uint32_t input_strides;
    uint32_t concrete_inputs;
  };
  // A copy or memset of the device.
  struct Copy {
    uint32_t slice;
    int64_t size_bytes;
    double bandwidth_gbps;
  };
  // A collective, its tasks on a plane, or a communication kernel: whatever of these its args say.
  struct Comm {
    uint32_t slice;
    uint32_t data_type = kNoText;
    uint32_t alg_type = kNoText;
    uint32_t op_type = kNoText;
    uint32_t group_name = kNoText;
    uint32_t transport = kNoText;
    uint32_t link = kNoText;
    uint32_t rdma_type = kNoText;
    int64_t count = store::kNone;
    int64_t size_bytes = store::kNone;
    int64_t src_rank = store::kNone;
    int64_t dst_rank = store::kNone;
    int64_t notify_id = store::kNone;
    int64_t stream = store::kNone;
    int64_t task_id = store::kNone;
    int64_t is_master = store::kNone;
  };
  // A GPU kernel slice with its device and stream.
  struct Kernel {
    uint32_t slice;
    int64_t device;
    int64_t stream;
  };
  // A mark or range of mstx.
  struct Marker {
    uint32_t slice;
    int64_t event_type;
    uint32_t domain;
  };
  // Ids of flows may exceed 64 bits: the key is a 128-bit hash of category and id text.
  struct Flow {
    uint64_t key_high;
    uint64_t key_low;
    int64_t ts_ns;
    int64_t id;  // none if it is no number of 64 bits
    uint32_t track;
    uint32_t kind;
    bool is_start;
  };
  // What the values of a counter belong to: an arg of the events of one name.
  struct Series {
    uint32_t pid;
    uint32_t name;
    uint32_t label;
  };
  struct Counter {
    int64_t ts_ns;
    double value;
    uint32_t series;  // index into `series`
  };
  struct Instant {
    int64_t ts_ns;
    uint32_t track;
    uint32_t name;
    uint32_t category;
  };
  // 'B' and 'E' events, matched by the assembler.
  struct Edge {
    int64_t ts_ns;
    uint32_t track;
    uint32_t name;
    uint32_t category;
    bool is_begin;
  };
  // A Kineto '[memory]' event.
  struct Memory {
    int64_t ts_ns;
    int64_t bytes;
    int64_t address;
    int64_t device_type;
    int64_t device_id;
    int64_t total_allocated;
    int64_t total_reserved;
  };
  enum class MetaKind : uint8_t {
    kProcessName,
    kProcessLabels,
    kProcessSort,
    kThreadName,
    kThreadSort
  };
  struct Meta {
    MetaKind kind;
    uint32_t pid;
    uint32_t tid;
    uint32_t text;
    int64_t sort_index;
  };

  LocalStrings strings;
  std::vector<Track> tracks;
  std::vector<Slice> slices;
  std::vector<HostOp> host_ops;
  std::vector<Comm> comms;
  std::vector<Kernel> kernels;
  std::vector<Copy> copies;
  std::vector<Marker> markers;
  std::vector<Flow> flows;
  std::vector<Series> series;
  std::vector<Counter> counters;
  std::vector<Instant> instants;
  std::vector<Edge> edges;
  std::vector<Memory> memories;
  std::vector<Meta> metas;
  store::IssueLog issues;

  void Clear() {
    strings.Clear();
    tracks.clear();
    slices.clear();
    host_ops.clear();
    comms.clear();
    kernels.clear();
    copies.clear();
    markers.clear();
    flows.clear();
    series.clear();
    counters.clear();
    instants.clear();
    edges.clear();
    memories.clear();
    metas.clear();
    issues = {};
  }
};

}  // namespace steplens::readers
