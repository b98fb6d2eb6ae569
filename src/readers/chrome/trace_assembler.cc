#include "readers/chrome/trace_assembler.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>

#include "base/hash.h"
#include "base/number.h"
#include "base/saturate.h"
#include "readers/chrome/comm_events.h"
#include "readers/chrome/event_batch.h"
#include "readers/chrome/flow_ids.h"
#include "readers/chrome/flow_pairing.h"
#include "readers/chrome/json_escape.h"
#include "readers/chrome/memory_events.h"
#include "readers/chrome/series_index.h"
#include "readers/chrome/step_events.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;
using store::kNoTrack;
using store::TraceStore;
using store::TrackId;

constexpr StringId kUnset{store::kNoId};

// Shapes, types and stacks separate their parts by ';' and, for the eye, a line break. The break is
// dropped.
std::string WithoutLineBreaks(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  return text;
}

}  // namespace

struct TraceAssembler::Impl {
  Impl(TraceStore& store, std::string trace) : out(store), trace_name(std::move(trace)) {}

  TraceStore& out;
  const std::string trace_name;
  tsl::robin_map<uint64_t, uint32_t> threads;    // (pid text, tid text) -> track
  tsl::robin_map<uint32_t, uint32_t> processes;  // pid text -> track
  tsl::robin_map<std::pair<uint64_t, uint32_t>, uint32_t, SeriesHash>
      series;  // (process, name), series -> track
  LooseFlows flows;
  std::vector<CommDetail> comms;
  TraceMemories memories{out.strings};
  struct Edge {
    TrackId track;
    int64_t ts_ns;
    StringId name;
    StringId category;
    bool is_begin;
  };
  std::vector<Edge> edges;
  // What raw texts became without escapes and line breaks, by a hash of 128 bits: pieces of a trace
  // repeat each other's call stacks, which are long.
  struct FlatForm {
    uint64_t hash_low;
    StringId text;
  };
  tsl::robin_map<uint64_t, FlatForm> flat_forms;  // by the hash's other half

  // Of the batch being appended.
  const EventBatch* batch = nullptr;
  std::vector<StringId> texts;
  std::vector<StringId> flat_texts;
  std::vector<TrackId> tracks;

  StringId Text(uint32_t local);
  StringId FlatText(uint32_t local);
  TrackId AddTrack(TrackId parent, std::string_view kind, StringId pid, StringId tid,
                   StringId name);
  TrackId Process(StringId pid);
  TrackId Thread(StringId pid, StringId tid);
  TrackId Series(StringId pid, StringId name, StringId label);

  void AppendSlices();
  void AppendHostOps(uint32_t first_slice);
  void AppendKernels(uint32_t first_slice);
  void AppendDetails(uint32_t first_slice);
  void AppendFlows();
  void AppendCounters();
  void AppendMetas();
  void OrderTracks();
  void FinishEdges();
  void Issue(IssueKind kind, std::string_view what, uint64_t count = 1) {
    out.issues.Add(kind, fmt::format("{}: {}", trace_name, what), count);
  }
  void Shift(int64_t shift_ns);
};

StringId TraceAssembler::Impl::Text(uint32_t local) {
  if (local == EventBatch::kNoText) return StringId::kEmpty;
  StringId& id = texts[local];
  if (id == kUnset) {
    const std::string_view raw = batch->strings.Get(local);
    const bool escaped = raw.find('\\') != std::string_view::npos;
    id = escaped ? out.strings.Intern(UnescapeJson(raw)) : out.strings.Intern(raw);
  }
  return id;
}

StringId TraceAssembler::Impl::FlatText(uint32_t local) {
  if (local == EventBatch::kNoText) return StringId::kEmpty;
  StringId& id = flat_texts[local];
  if (id != kUnset) return id;
  const std::string_view raw = batch->strings.Get(local);
  const Hash128 hash = HashWide(raw);
  const auto known = flat_forms.find(hash.high);
  if (known != flat_forms.end() && known->second.hash_low == hash.low) {
    return id = known->second.text;
  }
  id = out.strings.Intern(WithoutLineBreaks(UnescapeJson(raw)));
  flat_forms[hash.high] = {hash.low, id};
  return id;
}

TrackId TraceAssembler::Impl::AddTrack(TrackId parent, std::string_view kind, StringId pid,
                                       StringId tid, StringId name) {
  store::TrackTable::Row row;
  row.parent = parent;
  row.kind = out.strings.Intern(kind);
  row.pid = pid;
  row.tid = tid;
  row.name = name;
  row.sort_index = kNone;
  out.tracks.Append(row);
  return TrackId{static_cast<uint32_t>(out.tracks.size() - 1)};
}

TrackId TraceAssembler::Impl::Process(StringId pid) {
  const auto [found, is_new] = processes.insert({static_cast<uint32_t>(pid), 0});
  if (is_new) {
    found.value() = static_cast<uint32_t>(
        AddTrack(kNoTrack, "process", pid, StringId::kEmpty, StringId::kEmpty));
  }
  return TrackId{found->second};
}

TrackId TraceAssembler::Impl::Thread(StringId pid, StringId tid) {
  const uint64_t key = (uint64_t{static_cast<uint32_t>(pid)} << 32) | static_cast<uint32_t>(tid);
  const auto found = threads.find(key);
  if (found != threads.end()) return TrackId{found->second};
  const TrackId track = AddTrack(Process(pid), "thread", pid, tid, StringId::kEmpty);
  threads.insert({key, static_cast<uint32_t>(track)});
  return track;
}

TrackId TraceAssembler::Impl::Series(StringId pid, StringId name, StringId label) {
  const TrackId process = Process(pid);
  const uint64_t owner =
      (uint64_t{static_cast<uint32_t>(process)} << 32) | static_cast<uint32_t>(name);
  const auto [found, is_new] = series.insert({{owner, static_cast<uint32_t>(label)}, 0});
  if (is_new) {
    const TrackId track = AddTrack(process, "counter", pid, StringId::kEmpty, name);
    out.tracks.label.Set(static_cast<size_t>(track), label);
    found.value() = static_cast<uint32_t>(track);
  }
  return TrackId{found->second};
}

void TraceAssembler::Impl::AppendSlices() {
  store::SliceTable& slices = out.slices;
  for (const EventBatch::Slice& slice : batch->slices) {
    slices.track.Append(tracks[slice.track]);
    slices.begin_ns.Append(slice.begin_ns);
    slices.dur_ns.Append(slice.dur_ns);
    slices.name.Append(Text(slice.name));
    slices.category.Append(Text(slice.category));
    slices.correlation.Append(slice.correlation);
    slices.args_offset.Append(slice.args_offset);
    slices.args_size.Append(slice.args_size);
  }
}

void TraceAssembler::Impl::AppendHostOps(uint32_t first_slice) {
  for (const EventBatch::HostOp& op : batch->host_ops) {
    out.host_ops.Append({.slice = store::SliceId{first_slice + op.slice},
                         .sequence_number = op.sequence_number,
                         .fwd_thread = op.fwd_thread,
                         .input_shapes = FlatText(op.input_shapes),
                         .input_types = FlatText(op.input_types),
                         .call_stack = FlatText(op.call_stack),
                         .input_strides = FlatText(op.input_strides),
                         .concrete_inputs = FlatText(op.concrete_inputs)});
  }
}

void TraceAssembler::Impl::AppendKernels(uint32_t first_slice) {
  for (const EventBatch::Kernel& kernel : batch->kernels) {
    const uint32_t slice = first_slice + kernel.slice;
    store::KernelTable::Row row;
    row.device = kernel.device;
    row.stream = kernel.stream;
    row.name = out.slices.name[slice];
    row.core = out.slices.category[slice];
    row.begin_ns = out.slices.begin_ns[slice];
    row.dur_ns = out.slices.dur_ns[slice];
    row.correlation = out.slices.correlation[slice];
    out.kernels.Append(row);
  }
}

void TraceAssembler::Impl::AppendDetails(uint32_t first_slice) {
  for (const EventBatch::Comm& comm : batch->comms) {
    CommDetail detail;
    detail.slice = first_slice + comm.slice;
    detail.data_type = Text(comm.data_type);
    detail.alg_type = Text(comm.alg_type);
    detail.op_type = Text(comm.op_type);
    detail.group_name = Text(comm.group_name);
    detail.transport = Text(comm.transport);
    detail.link = Text(comm.link);
    detail.rdma_type = Text(comm.rdma_type);
    detail.fields = comm;
    comms.push_back(detail);
  }
  for (const EventBatch::Copy& copy : batch->copies) {
    out.copies.Append(
        {store::SliceId{first_slice + copy.slice}, copy.size_bytes, copy.bandwidth_gbps});
  }
  for (const EventBatch::Marker& marker : batch->markers) {
    const uint32_t slice = first_slice + marker.slice;
    out.markers.Append({store::SliceId{slice}, marker.event_type, Text(marker.domain),
                        out.slices.correlation[slice]});
  }
}

void TraceAssembler::Impl::AppendFlows() {
  for (const EventBatch::Flow& flow : batch->flows) {
    (flow.is_start ? flows.starts : flows.ends)
        .push_back({flow.key_high, flow.key_low, flow.ts_ns, flow.id, tracks[flow.track],
                    Text(flow.kind)});
  }
}

void TraceAssembler::Impl::AppendCounters() {
  std::vector<TrackId> series_tracks;
  for (const EventBatch::Series& one : batch->series) {
    series_tracks.push_back(Series(Text(one.pid), Text(one.name), Text(one.label)));
  }
  for (const EventBatch::Counter& counter : batch->counters) {
    out.counters.track.Append(series_tracks[counter.series]);
    out.counters.ts_ns.Append(counter.ts_ns);
    out.counters.value.Append(counter.value);
  }
}

void TraceAssembler::Impl::AppendMetas() {
  using Kind = EventBatch::MetaKind;
  for (const EventBatch::Meta& meta : batch->metas) {
    const StringId pid = Text(meta.pid);
    const bool is_thread = meta.kind == Kind::kThreadName || meta.kind == Kind::kThreadSort;
    const auto row = static_cast<size_t>(is_thread ? Thread(pid, Text(meta.tid)) : Process(pid));
    switch (meta.kind) {
      case Kind::kProcessName:
      case Kind::kThreadName:
        out.tracks.name.Set(row, Text(meta.text));
        break;
      case Kind::kProcessLabels:
        out.tracks.label.Set(row, Text(meta.text));
        break;
      case Kind::kProcessSort:
      case Kind::kThreadSort:
        out.tracks.sort_index.Set(row, meta.sort_index);
        break;
    }
  }
}

TraceAssembler::TraceAssembler(TraceStore& out, std::string name)
    : impl_(std::make_unique<Impl>(out, std::move(name))) {}
TraceAssembler::~TraceAssembler() = default;

void TraceAssembler::Append(const EventBatch& batch) {
  Impl& self = *impl_;
  self.batch = &batch;
  self.texts.assign(batch.strings.size(), kUnset);
  self.flat_texts.assign(batch.strings.size(), kUnset);
  self.tracks.clear();
  for (const EventBatch::Track& track : batch.tracks) {
    const TrackId id = self.Thread(self.Text(track.pid), self.Text(track.tid));
    self.tracks.push_back(id);
    const auto row = static_cast<size_t>(id);
    if (track.device != kNone && self.out.tracks.device[row] == kNone)
      self.out.tracks.device.Set(row, track.device);
  }
  const auto first_slice = static_cast<uint32_t>(self.out.slices.size());
  self.AppendSlices();
  self.AppendHostOps(first_slice);
  self.AppendKernels(first_slice);
  self.AppendDetails(first_slice);
  self.AppendFlows();
  self.AppendCounters();
  for (const EventBatch::Edge& edge : batch.edges) {
    self.edges.push_back({self.tracks[edge.track], edge.ts_ns, self.Text(edge.name),
                          self.Text(edge.category), edge.is_begin});
  }
  self.AppendMetas();
  for (const EventBatch::Instant& instant : batch.instants) {
    self.out.instants.Append({self.tracks[instant.track], instant.ts_ns, self.Text(instant.name),
                              self.Text(instant.category)});
  }
  for (const EventBatch::Memory& memory : batch.memories) self.memories.Append(memory);
  for (size_t i = 0; i < static_cast<size_t>(IssueKind::kCount); ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const store::IssueLog::Entry& entry = batch.issues.entry(kind);
    if (entry.count > 0) self.Issue(kind, entry.example, entry.count);
  }
}

void TraceAssembler::Reserve(double ratio) {
  Impl& self = *impl_;
  const auto rows = [ratio](size_t seen) {
    return static_cast<size_t>(ratio * static_cast<double>(seen));
  };
  self.out.slices.Reserve(rows(self.out.slices.size()));
  self.out.host_ops.Reserve(rows(self.out.host_ops.size()));
  self.out.kernels.Reserve(rows(self.out.kernels.size()));
  self.out.counters.Reserve(rows(self.out.counters.size()));
  self.flows.starts.reserve(rows(self.flows.starts.size()));
  self.flows.ends.reserve(rows(self.flows.ends.size()));
  self.comms.reserve(rows(self.comms.size()));
  self.memories.rows().reserve(rows(self.memories.rows().size()));
}

// Joins each 'E' with the latest open 'B' of its track.
void TraceAssembler::Impl::FinishEdges() {
  std::vector<std::vector<const Edge*>> open(out.tracks.size());
  for (const Edge& edge : edges) {
    std::vector<const Edge*>& stack = open[static_cast<size_t>(edge.track)];
    if (edge.is_begin) {
      stack.push_back(&edge);
      continue;
    }
    if (stack.empty()) {
      Issue(IssueKind::kBeginWithoutEnd, fmt::format("'E' at {} ns has no 'B'", edge.ts_ns));
      continue;
    }
    const Edge& begin = *stack.back();
    stack.pop_back();
    store::SliceTable::Row row;
    row.track = edge.track;
    row.begin_ns = begin.ts_ns;
    row.dur_ns = SubtractSaturating(edge.ts_ns, begin.ts_ns);
    if (row.dur_ns < 0) {
      row.dur_ns = 0;
      Issue(IssueKind::kNegativeDuration,
            fmt::format("'E' at {} ns lies before its 'B'", edge.ts_ns));
    }
    row.name = begin.name;
    row.category = begin.category;
    out.slices.Append(row);
  }
  for (const std::vector<const Edge*>& stack : open) {
    for (const Edge* edge : stack) {
      Issue(IssueKind::kBeginWithoutEnd, fmt::format("'B' at {} ns has no 'E'", edge->ts_ns));
    }
  }
}

// Orders tracks by process and, inside it, threads before counters, by id and name: the order in
// which pieces of the trace happened to create them must not show.
void TraceAssembler::Impl::OrderTracks() {
  const auto number = [&](StringId id) {  // "12" before "100", numbers before texts
    const std::string_view text = out.Text(id);
    return std::tuple(ParseInt64(text).value_or(std::numeric_limits<int64_t>::max()), text);
  };
  const auto key = [&](uint32_t i) {
    return std::tuple(number(out.tracks.pid[i]), out.tracks.parent[i] != kNoTrack,
                      out.Text(out.tracks.kind[i]) == "counter", number(out.tracks.tid[i]),
                      out.Text(out.tracks.name[i]), out.Text(out.tracks.label[i]));
  };
  std::vector<uint32_t> order(out.tracks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<TrackId> renamed(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) renamed[order[i]] = TrackId{i};
  const auto rename = [&](TrackId& track) {
    if (track != kNoTrack) track = renamed[static_cast<size_t>(track)];
  };
  store::TrackTable ordered;
  for (const uint32_t i : order) {
    store::TrackTable::Row row = out.tracks.Get(i);
    rename(row.parent);
    ordered.Append(row);
  }
  out.tracks = std::move(ordered);
  for (store::Column<TrackId>* column :
       {&out.slices.track, &out.counters.track, &out.instants.track}) {
    for (size_t i = 0; i < column->size(); ++i)
      column->Set(i, renamed[static_cast<size_t>((*column)[i])]);
  }
  for (FlowEnd& end : flows.starts) rename(end.track);
  for (FlowEnd& end : flows.ends) rename(end.track);
  for (Edge& edge : edges) rename(edge.track);
}

void TraceAssembler::Impl::Shift(int64_t shift_ns) {
  const auto shift_begins = [shift_ns](auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {  // the end must stay in range as well
      const int64_t begin_ns = table.begin_ns[i];
      const int64_t dur_ns = table.dur_ns[i];
      if (begin_ns == store::kNone || dur_ns == store::kNone) continue;
      const int64_t latest_ns = std::numeric_limits<int64_t>::max() - dur_ns;
      table.begin_ns.Set(i, std::min(AddSaturating(begin_ns, shift_ns), latest_ns));
    }
  };
  shift_begins(out.slices);
  shift_begins(out.kernels);
  const auto shift = [shift_ns](int64_t& ts_ns) { ts_ns = AddSaturating(ts_ns, shift_ns); };
  for (store::Column<int64_t>* column : {&out.counters.ts_ns, &out.instants.ts_ns}) {
    for (size_t i = 0; i < column->size(); ++i)
      column->Set(i, AddSaturating((*column)[i], shift_ns));
  }
  for (FlowEnd& end : flows.starts) shift(end.ts_ns);
  for (FlowEnd& end : flows.ends) shift(end.ts_ns);
  for (TraceMemory& memory : memories.rows()) shift(memory.ts_ns);
  for (Edge& edge : edges) shift(edge.ts_ns);
}

LooseFlows TraceAssembler::Finish(int64_t shift_ns, ThreadPool& pool) {
  Impl& self = *impl_;
  if (shift_ns != 0) self.Shift(shift_ns);
  self.OrderTracks();
  self.FinishEdges();
  // Each task fills tables of its own; only one of them adds texts, and the others read none.
  LooseFlows left;
  OddFlowIds odd;
  const TorchNpuTexts texts(self.out.strings);
  const std::array<std::function<void()>, 4> tasks{
      [&] { FillMemory(std::move(self.memories.rows()), self.out); },
      [&] {
        FillCommunication(self.comms, self.out);
        FillSteps(self.out);
      },
      [&] { left = PairFlows(self.flows, self.out.flows); },
      [&] { odd = FindOddFlowIds(self.flows, texts, shift_ns, self.out); },
  };
  pool.ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
  if (odd.count > 0) {
    self.Issue(IssueKind::kFlowIdInvalid,
               fmt::format("flow '{}' at {} ns has the id {}", self.out.Text(odd.first.kind),
                           odd.first.ts_ns, odd.first.id),
               odd.count);
  }
  return left;
}

}  // namespace steplens::readers
