#include "readers/ascend_db/host_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;
using store::SliceId;

constexpr int64_t kQueueApi = 50002;
constexpr int64_t kPythonApi = 50003;

struct Frame {
  int64_t chain;
  int64_t depth;
  StringId text;
};

// Frames of one chain joined by ';', innermost first. Chains share frames, so their texts together
// may be far longer than the file; `bytes_left` is what may still be spent on them.
StringId JoinFrames(DbContext& db, std::span<const Frame> frames, int64_t& bytes_left) {
  std::string stack;
  for (const Frame& frame : frames) {
    const std::string_view text = db.out.Text(frame.text);
    bytes_left -= static_cast<int64_t>(text.size()) + 1;
    if (bytes_left < 0) return StringId::kEmpty;
    if (!stack.empty()) stack += ';';
    stack += text;
  }
  return db.Intern(stack);
}

Result<IdMap<StringId>> ReadCallChains(DbContext& db) {
  std::vector<Frame> frames;
  SL_RETURN_IF_ERROR(
      ReadTable(db, "PYTORCH_CALLCHAINS", {"id", "stack", "stackDepth"}, [&](Scan& row) {
        frames.push_back({row.Int(0), row.Int(2), db.String(row.Int(1))});
        return frames.back().chain != kNone;
      }));
  const auto outer_later = [](const Frame& a, const Frame& b) {
    return std::pair(a.chain, a.depth) < std::pair(b.chain, b.depth);
  };
  if (!std::is_sorted(frames.begin(), frames.end(), outer_later)) {
    std::stable_sort(frames.begin(), frames.end(), outer_later);
  }
  IdMap<StringId> chains(StringId::kEmpty);
  int64_t bytes_left = (int64_t{1} << 20) + 64 * static_cast<int64_t>(db.file.size_bytes());
  for (size_t first = 0; first < frames.size();) {
    size_t last = first;
    while (last < frames.size() && frames[last].chain == frames[first].chain) ++last;
    chains.Add(frames[first].chain, JoinFrames(db, {&frames[first], last - first}, bytes_left));
    first = last;
  }
  if (bytes_left < 0) {
    db.out.issues.Add(
        IssueKind::kDbTableUnreadable,
        db.file.name() +
            ": table 'PYTORCH_CALLCHAINS': the call stacks are too long; some are left out");
  }
  chains.Build();
  return chains;
}

bool HasLetter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

class PytorchApiReader {
 public:
  PytorchApiReader(DbContext& db, IdMap<StringId> chains, HostSlices& host)
      : db_(db),
        chains_(std::move(chains)),
        host_(host),
        track_([&](int64_t tid) { return db_.tracks.PythonThread(tid); }) {}

  Status Read() {
    const size_t rows = db_.file.EstimateRows("PYTORCH_API");
    db_.out.slices.Reserve(db_.out.slices.size() + rows);
    SL_RETURN_IF_ERROR(
        ReadTable(db_, "PYTORCH_API",
                  {"startNs", "endNs", "globalTid", "!connectionId", "name", "!sequenceNumber",
                   "!fwdThreadId", "!inputDtypes", "!inputShapes", "!callchainId", "type"},
                  [&](Scan& row) { return ReadRow(row); }));
    SortDequeueThreadsLast();
    if (!has_stacks_) CountLostTable(db_, "PYTORCH_CALLCHAINS", "PYTORCH_API", rows_with_chain_);
    return {};
  }

 private:
  enum Column : size_t {
    kStart,
    kEnd,
    kTid,
    kLink,
    kName,
    kSequence,
    kFwdThread,
    kTypes,
    kShapes,
    kChain,
    kType
  };

  bool ReadRow(Scan& row) {
    const auto span = ReadTimeSpan(db_, row, kStart, kEnd);
    const int64_t global_tid = row.Int(kTid);
    if (!span || global_tid < 0) return false;
    const int64_t type = row.Int(kType);
    store::SliceTable::Row slice;
    slice.track = track_(global_tid);
    slice.begin_ns = span->begin_ns;
    slice.dur_ns = span->dur_ns;
    slice.name = db_.String(row.Int(kName));
    slice.category = Category(type, slice.name);
    ApiRow api{static_cast<uint32_t>(db_.out.slices.size()), kNoRow};
    db_.out.slices.Append(slice);
    if (type == kPythonApi) return true;
    if (type != kQueueApi) api.host_op = AppendHostOp(row, api.slice);
    if (slice.category == dequeue_) dequeue_threads_.insert(static_cast<uint32_t>(slice.track));
    if (const int64_t link = row.Int(kLink); link != kNone) {
      host_.by_link.Add(link, api);
      ++host_.linked_rows;
    }
    return true;
  }

  StringId Category(int64_t type, StringId name) const {
    if (type == kPythonApi) return python_function_;
    if (type != kQueueApi) return cpu_op_;
    return db_.out.Text(name).starts_with("Dequeue") ? dequeue_ : enqueue_;
  }

  uint32_t AppendHostOp(Scan& row, uint32_t slice) {
    store::HostOpTable::Row op;
    op.slice = SliceId{slice};
    op.sequence_number = ValueOr(row.Int(kSequence), -1);
    op.fwd_thread = ValueOr(row.Int(kFwdThread), 0);
    op.input_types = db_.String(row.Int(kTypes));
    op.input_shapes = db_.String(row.Int(kShapes));
    // Files up to CANN 8.0 have the two columns exchanged. Types have letters, shapes have none.
    if (HasLetter(db_.out.Text(op.input_shapes)) && !HasLetter(db_.out.Text(op.input_types))) {
      std::swap(op.input_shapes, op.input_types);
    }
    if (const int64_t chain = row.Int(kChain); chain != kNone) {
      op.call_stack = chains_.Find(chain);
      has_stacks_ |= op.call_stack != StringId::kEmpty;
      ++rows_with_chain_;
    }
    const auto host_op = static_cast<uint32_t>(db_.out.host_ops.size());
    db_.out.host_ops.Append(op);
    return host_op;
  }

  static int64_t ValueOr(int64_t value, int64_t other) { return value == kNone ? other : value; }

  void SortDequeueThreadsLast() {
    int64_t last = 0;
    for (size_t i = 0; i < db_.out.tracks.size(); ++i)
      last = std::max<int64_t>(last, db_.out.tracks.sort_index[i]);
    for (const uint32_t track : dequeue_threads_) db_.out.tracks.sort_index.Set(track, last + 1);
  }

  DbContext& db_;
  IdMap<StringId> chains_;
  HostSlices& host_;
  TrackMemo<std::function<store::TrackId(int64_t)>> track_;
  std::unordered_set<uint32_t> dequeue_threads_;
  uint64_t rows_with_chain_ = 0;
  bool has_stacks_ = false;
  const StringId cpu_op_ = db_.Intern("cpu_op");
  const StringId enqueue_ = db_.Intern("enqueue");
  const StringId dequeue_ = db_.Intern("dequeue");
  const StringId python_function_ = db_.Intern("python_function");
};

// The layer an API of CANN belongs to, as its slice name says it.
std::string_view LayerName(int64_t type, bool is_hccl_era) {
  switch (type) {
    case 5000:
      return "Runtime";
    case 5500:
      return is_hccl_era ? "Hccl" : "Communication";
    case 10000:
      return "Node";
    case 15000:
      return "Model";
    case 20000:
      return "AscendCL";
    default:
      return {};
  }
}

// "Node@launch"; each made once.
class CannNames {
 public:
  explicit CannNames(DbContext& db) : db_(db) {}
  StringId operator()(int64_t type, StringId api) {
    const std::string_view layer = LayerName(type, db_.is_hccl_era);
    if (layer.empty()) return api;
    const uint64_t key = (static_cast<uint64_t>(type) << 32) | static_cast<uint32_t>(api);
    const auto [place, is_new] = names_.try_emplace(key, StringId::kEmpty);
    if (is_new) place->second = db_.Intern(fmt::format("{}@{}", layer, db_.out.Text(api)));
    return place->second;
  }

 private:
  DbContext& db_;
  std::unordered_map<uint64_t, StringId> names_;
};

// Rows of a table whose first columns are startNs, endNs and globalTid, as slices of a process of
// the host. describe(row, slice, index of the slice) fills in the rest.
template <typename Describe>
Status ReadThreadSlices(DbContext& db, std::string_view table,
                        std::initializer_list<std::string_view> columns,
                        const ExporterProcess& process, const Describe& describe) {
  TrackMemo track([&](int64_t global_tid) { return db.tracks.HostThread(process, global_tid); });
  return ReadTable(db, table, columns, [&](Scan& row) {
    const auto span = ReadTimeSpan(db, row, 0, 1);
    const int64_t global_tid = row.Int(2);
    if (!span || global_tid < 0) return false;
    store::SliceTable::Row slice;
    slice.track = track(global_tid);
    slice.begin_ns = span->begin_ns;
    slice.dur_ns = span->dur_ns;
    describe(row, slice, static_cast<uint32_t>(db.out.slices.size()));
    db.out.slices.Append(slice);
    return true;
  });
}

Status ReadCannApi(DbContext& db, HostSlices& host) {
  db.out.slices.Reserve(db.out.slices.size() + db.file.EstimateRows("CANN_API"));
  CannNames name(db);
  return ReadThreadSlices(db, "CANN_API",
                          {"startNs", "endNs", "globalTid", "type", "name", "!connectionId"}, kCann,
                          [&](Scan& row, store::SliceTable::Row& slice, uint32_t index) {
                            slice.name = name(row.Int(3), db.String(row.Int(4)));
                            slice.correlation = KnownConnection(row.Int(5));
                            if (slice.correlation != kNone) host.cann.Add(slice.correlation, index);
                          });
}

Status ReadMarkers(DbContext& db, HostSlices& host) {
  return ReadThreadSlices(
      db, "MSTX_EVENTS",
      {"startNs", "endNs", "globalTid", "message", "!connectionId", "!eventType", "!domainId"},
      kMarkers, [&](Scan& row, store::SliceTable::Row& slice, uint32_t index) {
        slice.name = db.String(row.Int(3));
        const int64_t connection = KnownConnection(row.Int(4));
        if (connection != kNone) host.markers.Add(connection, index);
        db.out.markers.Append({SliceId{index}, row.Int(5), db.String(row.Int(6)), connection});
      });
}

Status ReadOsRuntime(DbContext& db) {
  return ReadThreadSlices(db, "OSRT_API", {"startNs", "endNs", "globalTid", "name"}, kOsRuntime,
                          [&](Scan& row, store::SliceTable::Row& slice, uint32_t) {
                            slice.name = db.String(row.Int(3));
                          });
}

Status ReadGarbageCollections(DbContext& db) {
  const StringId gc = db.Intern("GC");
  return ReadThreadSlices(
      db, "GC_RECORD", {"startNs", "endNs", "globalTid"}, kPythonGc,
      [&](Scan&, store::SliceTable::Row& slice, uint32_t) { slice.name = slice.category = gc; });
}

}  // namespace

Result<HostSlices> ReadHostSlices(DbContext& db) {
  HostSlices host;
  SL_ASSIGN_OR_RETURN(IdMap<StringId> chains, ReadCallChains(db));
  SL_RETURN_IF_ERROR(PytorchApiReader(db, std::move(chains), host).Read());
  SL_RETURN_IF_ERROR(ReadCannApi(db, host));
  SL_RETURN_IF_ERROR(ReadMarkers(db, host));
  SL_RETURN_IF_ERROR(ReadOsRuntime(db));
  SL_RETURN_IF_ERROR(ReadGarbageCollections(db));
  host.by_link.Build();
  host.cann.Build();
  host.markers.Build();
  return host;
}

}  // namespace steplens::readers
