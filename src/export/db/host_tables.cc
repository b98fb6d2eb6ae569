#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <unordered_set>

#include "analysis/classify/classify.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"
#include "base/number.h"
#include "export/db/db_context.h"
#include "export/db/host_links.h"

namespace steplens::exporting {
namespace {

using analysis::SliceKind;
using analysis::TrackKind;
using store::kNoId;
using store::kNone;
using store::TraceStore;

constexpr int64_t kOpType = 50001;
constexpr int64_t kQueueType = 50002;
constexpr int64_t kPythonType = 50003;

int64_t EndOf(const TraceStore& store, uint32_t slice) {
  return analysis::EndNs(store.slices.begin_ns[slice], store.slices.dur_ns[slice]);
}

// PYTORCH_CALLCHAINS: each distinct stack once, its frames from the inside out.
class CallChains {
 public:
  explicit CallChains(DbContext& ctx)
      : ctx_(ctx),
        rows_(ctx.db.Table("PYTORCH_CALLCHAINS", "id INTEGER, stack INTEGER, stackDepth INTEGER")),
        chains_(ctx.store.strings.size(), kNone) {}

  // The chain of a stack; kNone for none.
  int64_t operator()(StringId stack) {
    if (stack == StringId::kEmpty) return kNone;
    int64_t& chain = chains_[static_cast<size_t>(stack)];
    if (chain != kNone) return chain;
    chain = next_++;
    std::string_view rest = ctx_.store.Text(stack);
    for (int64_t depth = 0; !rest.empty(); ++depth) {
      const size_t cut = std::min(rest.find(';'), rest.size());
      rows_.Int(chain).Int(ctx_.strings.framework(rest.substr(0, cut))).Int(depth).EndRow();
      rest.remove_prefix(std::min(cut + 1, rest.size()));
    }
    return chain;
  }

 private:
  DbContext& ctx_;
  TableWriter rows_;
  std::vector<int64_t> chains_;  // by StringId
  int64_t next_ = 0;
};

class PytorchApiWriter {
 public:
  explicit PytorchApiWriter(DbContext& ctx)
      : ctx_(ctx),
        store_(ctx.store),
        links_(CollectHostLinks(ctx)),
        api_(ctx.db.Table(
            "PYTORCH_API",
            "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
            "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, "
            "inputShapes INTEGER, callchainId INTEGER, type INTEGER")),
        connections_(ctx.db.Table("CONNECTION_IDS", "id INTEGER, connectionId INTEGER")),
        chains_(ctx),
        has_link_(ctx.store.slices.size(), false) {
    for (const HostLink& link : links_) has_link_[link.slice] = true;
  }

  void Write() {
    Sort();
    for (const uint32_t slice : parts_[kPython]) WriteRow(slice, kPythonType);
    for (const uint32_t slice : parts_[kEnqueue]) WriteRow(slice, kQueueType);
    for (const uint32_t slice : parts_[kDequeue]) WriteRow(slice, kQueueType);
    for (const uint32_t slice : parts_[kOps]) WriteRow(slice, kOpType);
    for (const uint32_t slice : parts_[kMarkerOps]) WriteRow(slice, kOpType);
  }

 private:
  enum Part : size_t { kPython, kEnqueue, kDequeue, kOps, kMarkerOps, kParts };

  void Sort() {
    const analysis::SliceKinds kinds(store_);
    for (uint32_t i = 0; i < store_.slices.size(); ++i) {
      switch (kinds[store_.slices.category[i]]) {
        case SliceKind::kPython:
          parts_[kPython].push_back(i);
          break;
        case SliceKind::kEnqueue:
          parts_[kEnqueue].push_back(i);
          break;
        case SliceKind::kDequeue:
          parts_[kDequeue].push_back(i);
          break;
        case SliceKind::kHostOp:
        case SliceKind::kAnnotation:
          parts_[IsMarker(i) ? kMarkerOps : kOps].push_back(i);
          break;
        default:
          break;
      }
    }
    const auto earlier = [begin_ns = store_.slices.begin_ns.span()](uint32_t a, uint32_t b) {
      return begin_ns[a] < begin_ns[b];
    };
    for (const Part part : {kOps, kMarkerOps})
      std::stable_sort(parts_[part].begin(), parts_[part].end(), earlier);
  }
  bool IsMarker(uint32_t slice) const {
    return store_.Text(store_.slices.name[slice]).starts_with("mstx_");
  }

  static int64_t OrNull(int64_t string_id) { return string_id == kNoId32 ? kNone : string_id; }

  void WriteRow(uint32_t slice, int64_t type) {
    api_.IntText(store_.slices.begin_ns[slice]).IntText(EndOf(store_, slice));
    api_.Int(ctx_.GlobalTid(store_.slices.track[slice])).Int(LinkOf(slice));
    api_.Int(ctx_.strings.framework(store_.slices.name[slice]));
    const uint32_t op =
        type == kOpType ? analysis::FindHostOpDetail(store_, store::SliceId{slice}) : kNoId;
    if (op == kNoId) {
      api_.Null().Null().Null().Null().Null();
    } else {
      const store::HostOpTable& ops = store_.host_ops;
      api_.Int(ops.sequence_number[op]).Int(ops.fwd_thread[op]);
      api_.Int(OrNull(ctx_.strings.framework.Lines(ops.input_types[op])));
      api_.Int(OrNull(ctx_.strings.framework.Lines(ops.input_shapes[op])));
      api_.Int(chains_(ops.call_stack[op]));
    }
    api_.Int(type).EndRow();
  }

  // The id under which CONNECTION_IDS lists what the slice is connected with; kNone if nothing.
  int64_t LinkOf(uint32_t slice) {
    if (!has_link_[slice]) return kNone;
    const auto first = std::lower_bound(links_.begin(), links_.end(), HostLink{slice, kNone});
    if (first == links_.end() || first->slice != slice) return kNone;
    for (auto link = first; link != links_.end() && link->slice == slice; ++link)
      connections_.Int(next_link_).Int(link->connection).EndRow();
    return next_link_++;
  }

  DbContext& ctx_;
  const TraceStore& store_;
  std::vector<HostLink> links_;
  TableWriter api_;
  TableWriter connections_;
  CallChains chains_;
  std::vector<bool> has_link_;  // by slice
  std::array<std::vector<uint32_t>, kParts> parts_;
  int64_t next_link_ = 0;
};

int64_t ApiType(std::string_view level) {
  if (level == "acl") return 20000;
  if (level == "model") return 15000;
  if (level == "node") return 10000;
  if (level == "hccl" || level == "communication") return 5500;
  return 5000;
}

// The connections of a GPU's device work. Nothing for other captures.
std::unordered_set<int64_t> GpuLaunches(const DbContext& ctx, const analysis::SliceKinds& kinds) {
  std::unordered_set<int64_t> connections;
  if (ctx.timeline.platform != analysis::Platform::kGpu) return connections;
  for (uint32_t i = 0; i < ctx.store.slices.size(); ++i) {
    if (analysis::IsGpuWork(kinds[ctx.store.slices.category[i]]))
      connections.insert(ctx.ConnectionOf(i));
  }
  return connections;
}

// CANN_API. connectionId is the table's key: a call without one, or with one that is taken, gets a
// negative one, which connects nothing. The calls of a GPU's runtime that launch work are of the
// node level, whose calls a db knows as launches.
void WriteCannApi(DbContext& ctx) {
  const TraceStore& store = ctx.store;
  const analysis::SliceKinds kinds(store);
  const std::unordered_set<int64_t> launches = GpuLaunches(ctx, kinds);
  TableWriter rows = ctx.db.Table("CANN_API",
                                  "startNs INTEGER, endNs INTEGER, type INTEGER, "
                                  "globalTid INTEGER, connectionId INTEGER PRIMARY KEY, "
                                  "name INTEGER");
  std::unordered_set<int64_t> taken;
  int64_t next_unconnected = -1;
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const bool is_cann = ctx.timeline.of(store.slices.track[i]).kind == TrackKind::kCann;
    if (!is_cann && !analysis::IsGpuApi(kinds[store.slices.category[i]])) continue;
    const std::string_view name = store.Text(store.slices.name[i]);
    const auto api = analysis::ParseCannApi(name);
    int64_t connection = ctx.ConnectionOf(i);
    if (connection == kNoId32 || connection < 0 || !taken.insert(connection).second)
      connection = next_unconnected--;
    rows.Int(store.slices.begin_ns[i]).Int(EndOf(store, i));
    const std::string_view gpu_level = launches.contains(connection) ? "node" : "runtime";
    rows.Int(api ? ApiType(api->level) : is_cann ? 0 : ApiType(gpu_level));
    rows.Int(ctx.GlobalTid(store.slices.track[i])).Int(connection);
    rows.Int(ctx.strings.exporter(api ? api->name : name)).EndRow();
  }
}

void WriteMarkers(DbContext& ctx) {
  const TraceStore& store = ctx.store;
  TableWriter rows = ctx.db.Table(
      "MSTX_EVENTS",
      "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, "
      "message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, "
      "connectionId INTEGER");
  for (size_t row = 0; row < store.markers.size(); ++row) {
    const auto slice = static_cast<uint32_t>(store.markers.slice[row]);
    if (slice >= store.slices.size()) continue;
    const int64_t tid = ctx.GlobalTid(store.slices.track[slice]);
    const int64_t connection = store.markers.correlation[row];
    rows.Int(store.slices.begin_ns[slice]).Int(EndOf(store, slice));
    rows.Int(store.markers.event_type[row]).Int(kNoId32).Int(kNoId32);
    rows.Int(ctx.strings.exporter(store.slices.name[slice])).Int(tid).Int(tid);
    rows.Int(ctx.strings.exporter(store.markers.domain[row]));
    rows.Int(connection == kNone ? kNoId32 : connection).EndRow();
  }
}

// Slices of processes that have a table of their own.
void WriteOtherHostSlices(DbContext& ctx) {
  const TraceStore& store = ctx.store;
  TableWriter gc = ctx.db.Table("GC_RECORD", "startNs INTEGER, endNs INTEGER, globalTid INTEGER");
  TableWriter runtime =
      ctx.db.Table("OSRT_API", "name INTEGER, globalTid INTEGER, startNs INTEGER, endNs INTEGER");
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const store::TrackId track = store.slices.track[i];
    const std::string_view process = ctx.timeline.of(track).process;
    if (process == "Python GC") {
      gc.Int(store.slices.begin_ns[i]).Int(EndOf(store, i)).Int(ctx.GlobalTid(track)).EndRow();
    } else if (process == "OS Runtime API") {
      runtime.Int(ctx.strings.exporter(store.slices.name[i])).Int(ctx.GlobalTid(track));
      runtime.Int(store.slices.begin_ns[i]).Int(EndOf(store, i)).EndRow();
    }
  }
}

}  // namespace

std::vector<int64_t> DbContext::GlobalTids(const TraceStore& store, const Timeline& timeline) {
  std::vector<int64_t> out(store.tracks.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const TrackFacts& facts = timeline.tracks[i];
    int64_t pid = timeline.os_pid;
    if (facts.kind == TrackKind::kHost) {
      const auto written = ParseInt64(store.Text(store.tracks.pid[i]));
      if (written && *written >= 0) pid = *written;
    }
    out[i] = static_cast<int64_t>((static_cast<uint64_t>(pid) & 0x7FFFFFFF) << 32 |
                                  (static_cast<uint64_t>(facts.tid) & 0xFFFFFFFF));
  }
  return out;
}

int64_t DbContext::GlobalTid(store::TrackId track) const {
  const auto i = static_cast<size_t>(track);
  if (i < global_tids.size()) return global_tids[i];
  return static_cast<int64_t>((static_cast<uint64_t>(timeline.os_pid) & 0x7FFFFFFF) << 32);
}

void WriteHostTables(DbContext& ctx) {
  PytorchApiWriter(ctx).Write();
  WriteCannApi(ctx);
  WriteMarkers(ctx);
  WriteOtherHostSlices(ctx);
}

}  // namespace steplens::exporting
