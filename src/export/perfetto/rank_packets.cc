#include "export/perfetto/rank_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::exporting {
namespace {

using store::kNoTrack;
using store::SliceId;
using store::TrackId;

// Fields of the messages, as perfetto's trace.proto numbers them.
namespace packet {
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequence = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kInternedData = 12;
constexpr uint32_t kSequenceFlags = 13;
constexpr uint32_t kTrackDescriptor = 60;
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;
}  // namespace packet
namespace event {
constexpr uint32_t kCategory = 3;
constexpr uint32_t kType = 9;
constexpr uint32_t kName = 10;
constexpr uint32_t kTrack = 11;
constexpr uint32_t kDoubleValue = 44;
constexpr uint32_t kFlow = 47;
constexpr uint32_t kLastOfFlow = 48;
constexpr uint64_t kSliceBegin = 1;
constexpr uint64_t kSliceEnd = 2;
constexpr uint64_t kInstant = 3;
constexpr uint64_t kCounter = 4;
}  // namespace event
namespace track {
constexpr uint32_t kUuid = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kProcess = 3;
constexpr uint32_t kThread = 4;
constexpr uint32_t kParent = 5;
constexpr uint32_t kCounter = 8;
constexpr uint32_t kProcessPid = 1;
constexpr uint32_t kProcessName = 6;
constexpr uint32_t kProcessLabel = 8;
constexpr uint32_t kThreadPid = 1;
constexpr uint32_t kThreadTid = 2;
constexpr uint32_t kThreadName = 5;
}  // namespace track

constexpr int64_t kMostInt32 = 2'147'483'647;
constexpr int64_t kFirstMadeUpId = 1'000'000'000;
constexpr uint32_t kNoSliceRow = UINT32_MAX;

// The number that a text is, if nothing else has it; else one that nothing has.
int64_t UniqueId(std::string_view text, std::set<int64_t>& taken) {
  int64_t id = ParseInt64(text).value_or(-1);
  if (id <= 0 || id > kMostInt32 || taken.contains(id)) {
    id = taken.empty() ? kFirstMadeUpId : std::max(kFirstMadeUpId, *taken.rbegin() + 1);
  }
  taken.insert(id);
  return id;
}

}  // namespace

RankPackets::RankPackets(const store::TraceStore& store, TraceNumbers& numbers, FileOut& out)
    : store_(store),
      view_(store),
      numbers_(numbers),
      out_(out),
      sequence_(numbers.next_sequence++) {
  processes_.resize(store.tracks.size());
  uuids_.resize(store.tracks.size());
}

bool RankPackets::IsCounter(size_t track) const {
  return store_.Text(store_.tracks.kind[track]) == "counter";
}

void RankPackets::WritePacket(int64_t ts_ns, uint32_t field, const ProtoMessage& message,
                              const ProtoMessage& interned) {
  ProtoMessage packet;
  if (field == packet::kTrackEvent)
    packet.Uint(packet::kTimestamp, static_cast<uint64_t>(std::max<int64_t>(ts_ns, 0)));
  packet.Uint(packet::kSequence, sequence_);
  if (!interned.bytes().empty()) packet.Message(packet::kInternedData, interned);
  packet.Uint(packet::kSequenceFlags,
              is_first_ ? packet::kStateCleared | packet::kNeedsState : packet::kNeedsState);
  is_first_ = false;
  packet.Message(field, message);
  ProtoMessage trace;
  constexpr uint32_t kPacketOfTrace = 1;
  trace.Message(kPacketOfTrace, packet);
  out_.text() += trace.bytes();
  out_.Tick();
}

RankPackets::Process RankPackets::MakeProcess(std::string_view pid, const std::string& name,
                                              std::string_view label) {
  Process process;
  process.pid = UniqueId(pid, numbers_.pids);
  process.uuid = numbers_.next_uuid++;
  ProtoMessage inner;
  inner.Uint(track::kProcessPid, static_cast<uint64_t>(process.pid));
  inner.Bytes(track::kProcessName, name);
  if (!label.empty()) inner.Bytes(track::kProcessLabel, label);
  ProtoMessage descriptor;
  descriptor.Uint(track::kUuid, process.uuid);
  descriptor.Message(track::kProcess, inner);
  WritePacket(0, packet::kTrackDescriptor, descriptor, {});
  return process;
}

RankPackets::Process& RankPackets::ProcessOf(TrackId track) {
  // A process itself, the parent of a thread, or the parent's parent of a counter.
  TrackId top = track;
  for (int i = 0; i < 4 && static_cast<size_t>(top) < store_.tracks.size(); ++i) {
    const TrackId parent = store_.tracks.parent[static_cast<size_t>(top)];
    if (parent == kNoTrack || static_cast<size_t>(parent) >= store_.tracks.size()) break;
    top = parent;
  }
  const auto row = static_cast<size_t>(top);
  if (row >= processes_.size() || store_.Text(store_.tracks.kind[row]) == "thread") {
    if (own_.uuid == 0) own_ = MakeProcess("", fmt::format("rank {}", store_.info.rank), "");
    return own_;
  }
  Process& process = processes_[row];
  if (process.uuid == 0) {
    process = MakeProcess(
        store_.Text(store_.tracks.pid[row]),
        fmt::format("rank {}: {}", store_.info.rank, store_.Text(store_.tracks.name[row])),
        store_.Text(store_.tracks.label[row]));
  }
  return process;
}

uint64_t RankPackets::ThreadTrack(Process& process, std::string_view tid, const std::string& name) {
  const uint64_t uuid = numbers_.next_uuid++;
  ProtoMessage inner;
  inner.Uint(track::kThreadPid, static_cast<uint64_t>(process.pid));
  inner.Uint(track::kThreadTid, static_cast<uint64_t>(UniqueId(tid, process.tids)));
  inner.Bytes(track::kThreadName, name);
  ProtoMessage descriptor;
  descriptor.Uint(track::kUuid, uuid);
  descriptor.Uint(track::kParent, process.uuid);
  descriptor.Message(track::kThread, inner);
  WritePacket(0, packet::kTrackDescriptor, descriptor, {});
  return uuid;
}

uint64_t RankPackets::ChildTrack(uint64_t parent, const std::string& name, bool is_counter) {
  const uint64_t uuid = numbers_.next_uuid++;
  ProtoMessage descriptor;
  descriptor.Uint(track::kUuid, uuid);
  descriptor.Uint(track::kParent, parent);
  descriptor.Bytes(track::kName, name);
  if (is_counter) descriptor.Message(track::kCounter, {});
  WritePacket(0, packet::kTrackDescriptor, descriptor, {});
  return uuid;
}

uint64_t RankPackets::RowTrack(std::vector<uint64_t>& rows, size_t row, uint64_t parent,
                               const std::string& name) {
  while (rows.size() <= row) rows.push_back(ChildTrack(parent, name, false));
  return rows[row];
}

void RankPackets::FindArrows() {
  const analysis::FlowEnds& ends = view_.flow_ends();
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    SliceId from = ends.from_slice[i];
    SliceId to = ends.to_slice[i];
    if (from == store::kNoSlice || to == store::kNoSlice || from == to) continue;
    // Perfetto draws an arrow from the slice that begins first.
    const auto begin_ns = [&](SliceId slice) {
      return store_.slices.begin_ns[static_cast<size_t>(slice)];
    };
    if (begin_ns(to) < begin_ns(from)) std::swap(from, to);
    const uint64_t flow = numbers_.next_flow++;
    arrows_.push_back({static_cast<uint32_t>(from), flow, false});
    arrows_.push_back({static_cast<uint32_t>(to), flow, true});
  }
  std::sort(arrows_.begin(), arrows_.end(), [](const Arrow& a, const Arrow& b) {
    return std::tie(a.slice, a.flow, a.is_target) < std::tie(b.slice, b.flow, b.is_target);
  });
}

void RankPackets::Intern(Interned& names, StringId text, ProtoMessage& data) {
  const auto id = static_cast<size_t>(text);
  if (names.known.size() <= id) names.known.resize(id + 1, false);
  if (names.known[id]) return;
  names.known[id] = true;
  constexpr uint32_t kNumber = 1;
  constexpr uint32_t kText = 2;
  ProtoMessage entry;
  entry.Uint(kNumber, id + 1);
  entry.Bytes(kText, store_.Text(text));
  data.Message(names.field, entry);
}

void RankPackets::WriteBegin(const Event& what, uint32_t slice) {
  ProtoMessage data;
  ProtoMessage message;
  if (what.category != StringId::kEmpty) {
    Intern(categories_, what.category, data);
    message.Uint(event::kCategory, static_cast<uint64_t>(what.category) + 1);
  }
  message.Uint(event::kType, slice == kNoSliceRow ? event::kInstant : event::kSliceBegin);
  Intern(names_, what.name, data);
  message.Uint(event::kName, static_cast<uint64_t>(what.name) + 1);
  message.Uint(event::kTrack, what.uuid);
  auto arrow = std::lower_bound(arrows_.begin(), arrows_.end(), slice,
                                [](const Arrow& a, uint32_t row) { return a.slice < row; });
  for (; arrow != arrows_.end() && arrow->slice == slice; ++arrow)
    message.Fixed64(arrow->is_target ? event::kLastOfFlow : event::kFlow, arrow->flow);
  WritePacket(what.ts_ns, packet::kTrackEvent, message, data);
}

void RankPackets::WriteEnd(uint64_t uuid, int64_t ts_ns) {
  ProtoMessage message;
  message.Uint(event::kType, event::kSliceEnd);
  message.Uint(event::kTrack, uuid);
  WritePacket(ts_ns, packet::kTrackEvent, message, {});
}

void RankPackets::WriteSlices(TrackId track, std::vector<uint64_t>& rows, uint64_t parent,
                              const std::string& name) {
  RowEvents events([&](size_t row, int64_t ts_ns) { WriteEnd(rows[row], ts_ns); });
  for (const SliceId id : view_.track_index().slices(track)) {
    const auto slice = static_cast<size_t>(id);
    const int64_t begin_ns = store_.slices.begin_ns[slice];
    const int64_t end_ns = analysis::EndNs(begin_ns, store_.slices.dur_ns[slice]);
    events.Add(begin_ns, end_ns, [&](size_t row, int64_t ts_ns) {
      WriteBegin({ts_ns, RowTrack(rows, row, parent, name), store_.slices.name[slice],
                  store_.slices.category[slice]},
                 static_cast<uint32_t>(id));
    });
  }
  events.Finish();
}

void RankPackets::WriteTrack(TrackId track) {
  const auto row = static_cast<size_t>(track);
  const std::string_view kind = store_.Text(store_.tracks.kind[row]);
  std::string name(store_.Text(store_.tracks.name[row]));
  if (name.empty()) name = store_.Text(store_.tracks.tid[row]);
  Process& process = ProcessOf(track);
  uuids_[row] = kind == "thread" ? ThreadTrack(process, store_.Text(store_.tracks.tid[row]), name)
                                 : ChildTrack(process.uuid, name, kind == "counter");
  if (kind == "counter") return;
  std::vector<uint64_t> rows{uuids_[row]};
  WriteSlices(track, rows, process.uuid, name);
}

// Captures without a timeline: the kernels of each stream.
void RankPackets::WriteLoneKernels() {
  if (store_.slices.size() > 0 || store_.kernels.size() == 0) return;
  std::vector<uint32_t> order;  // those that say when they ran
  for (uint32_t i = 0; i < store_.kernels.size(); ++i) {
    if (store_.kernels.begin_ns[i].is_known() && store_.kernels.dur_ns[i].is_known())
      order.push_back(i);
  }
  const auto key = [&](uint32_t i) {
    return std::tuple(store_.kernels.device[i], store_.kernels.stream[i],
                      store_.kernels.begin_ns[i], -store_.kernels.dur_ns[i].value(), i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  Process process = MakeProcess("", fmt::format("rank {}: kernels", store_.info.rank), "");
  for (size_t i = 0; i < order.size();) {
    const int64_t device = store_.kernels.device[order[i]];
    const int64_t stream = store_.kernels.stream[order[i]];
    const std::string name = stream == store::kNone ? "kernels" : fmt::format("Stream {}", stream);
    std::vector<uint64_t> rows{
        ThreadTrack(process, stream == store::kNone ? "" : fmt::format("{}", stream), name)};
    RowEvents events([&](size_t row, int64_t ts_ns) { WriteEnd(rows[row], ts_ns); });
    for (; i < order.size() && store_.kernels.device[order[i]] == device &&
           store_.kernels.stream[order[i]] == stream;
         ++i) {
      const uint32_t kernel = order[i];
      const int64_t begin_ns = store_.kernels.begin_ns[kernel];
      events.Add(begin_ns, analysis::EndNs(begin_ns, store_.kernels.dur_ns[kernel].value()),
                 [&](size_t row, int64_t ts_ns) {
                   WriteBegin({ts_ns, RowTrack(rows, row, process.uuid, name),
                               store_.kernels.name[kernel], store_.kernels.core[kernel]},
                              kernel);
                 });
    }
    events.Finish();
  }
}

void RankPackets::WriteInstants() {
  for (size_t i = 0; i < store_.instants.size(); ++i) {
    const auto track = static_cast<size_t>(store_.instants.track[i]);
    const bool is_there = track < uuids_.size() && !IsCounter(track);
    const uint64_t uuid =
        is_there && uuids_[track] != 0 ? uuids_[track] : ProcessOf(store_.instants.track[i]).uuid;
    WriteBegin(
        {store_.instants.ts_ns[i], uuid, store_.instants.name[i], store_.instants.category[i]},
        kNoSliceRow);
  }
}

void RankPackets::WriteCounters() {
  for (size_t i = 0; i < store_.counters.size(); ++i) {
    const auto track = static_cast<size_t>(store_.counters.track[i]);
    if (track >= uuids_.size() || uuids_[track] == 0 || !std::isfinite(store_.counters.value[i]))
      continue;
    ProtoMessage message;
    message.Uint(event::kType, event::kCounter);
    message.Uint(event::kTrack, uuids_[track]);
    message.Double(event::kDoubleValue, store_.counters.value[i]);
    WritePacket(store_.counters.ts_ns[i], packet::kTrackEvent, message, {});
  }
}

void RankPackets::Write() {
  FindArrows();
  std::vector<bool> has_samples(store_.tracks.size(), false);
  for (const TrackId track : store_.counters.track.span()) {
    if (static_cast<size_t>(track) < has_samples.size())
      has_samples[static_cast<size_t>(track)] = true;
  }
  for (size_t row = 0; row < store_.tracks.size(); ++row) {
    const auto track = static_cast<TrackId>(row);
    const bool is_used = has_samples[row] || !view_.track_index().slices(track).empty();
    if (is_used) WriteTrack(track);
  }
  WriteLoneKernels();
  WriteInstants();
  WriteCounters();
}

}  // namespace steplens::exporting
