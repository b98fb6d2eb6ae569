#include "readers/chrome/event_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/hash.h"
#include "base/number.h"
#include "base/utf8.h"
#include "readers/chrome/event_shapes.h"
#include "readers/chrome/event_tokens.h"
#include "readers/chrome/series_index.h"
#include "readers/chrome/value_scan.h"
#include "store/marker_type.h"
#include "store/slice_kind.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;
using store::SliceKind;

// A mark's event_type, which is written by name or by number.
int64_t MarkerType(std::string_view text) {
  const auto found = std::find(store::kMarkerTypes.begin(), store::kMarkerTypes.end(), text);
  if (found == store::kMarkerTypes.end()) return ParseInt64(text).value_or(kNone);
  return found - store::kMarkerTypes.begin();
}

// The text ends with a bracket, which stops this.
const char* SkipBlanks(const char* p) {
  while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') ++p;
  return p;
}

// Remembers the id of the text asked for last: neighbouring events share pid, tid and category.
class Memo {
 public:
  uint32_t Intern(LocalStrings& strings, std::string_view text) {
    if (!valid_ || !SameText(text, last_)) {
      last_ = text;
      id_ = strings.Intern(text);
      valid_ = true;
    }
    return id_;
  }
  void Clear() { valid_ = false; }

 private:
  std::string_view last_;
  uint32_t id_ = 0;
  bool valid_ = false;
};

// The same for the kind of a category.
class KindMemo {
 public:
  store::SliceKind Of(std::string_view category) {
    if (!SameText(category, last_)) {
      last_ = category;
      kind_ = store::KindOfCategory(category);
    }
    return kind_;
  }
  void Clear() { *this = {}; }

 private:
  std::string_view last_;
  store::SliceKind kind_ = store::SliceKind::kOther;
};

}  // namespace

struct EventParser::Impl {
  explicit Impl(bool use) : use_shapes(use) {}

  const bool use_shapes;
  EventShapes shapes;
  StructuralIndex index;
  TokenCursor tokens;
  Event event;
  EventBatch* batch = nullptr;
  const char* text_begin = nullptr;
  uint64_t text_offset = 0;
  Memo pid_memo, tid_memo, category_memo, stack_memo;
  KindMemo kind_memo;
  SeriesIndex series_index;
  uint64_t last_track_key = ~uint64_t{0};
  uint32_t last_track = 0;
  std::vector<std::pair<uint64_t, uint32_t>>
      track_slots;  // open addressing: (pid, tid) -> track + 1

  bool ParseByShapes(std::string_view text);
  bool ParseUnknown(std::string_view text);
  bool ParseRest(const char* p, const char* text_end);
  bool ParseByTokens(std::string_view text);
  bool TakeEvents();
  void Dispatch();
  void AddSlice();
  void AddDetails(uint32_t slice, SliceKind kind);
  void AddFlow(bool is_start);
  void AddCounter();
  void AddMeta();
  void AddInstant();
  void AddEdge(bool is_begin);
  void AddMemory(int64_t ts_ns);

  uint32_t Text(std::string_view text) { return batch->strings.Intern(text); }
  uint32_t OptionalText(std::string_view text) {
    return text.empty() ? EventBatch::kNoText : Text(text);
  }
  // Operators inside each other have one call stack, which is long.
  uint32_t CallStack() {
    const std::string_view text = event.args.Find(KnownArg::kCallStack);
    return text.empty() ? EventBatch::kNoText : stack_memo.Intern(batch->strings, text);
  }
  uint32_t CurrentTrack();
  std::optional<int64_t> CurrentTs();
  void Issue(IssueKind kind, std::string_view what);
  void CountDuplicate() { Issue(IssueKind::kJsonKeyRepeated, "has a key twice"); }
};

EventParser::EventParser(bool use_shapes) : impl_(std::make_unique<Impl>(use_shapes)) {}
EventParser::~EventParser() = default;
EventParser::EventParser(EventParser&&) noexcept = default;

void EventParser::Impl::Issue(IssueKind kind, std::string_view what) {
  if (!batch->issues.IsFirst(kind)) return batch->issues.Add(kind, {});
  const std::string_view at = event.name.empty() ? event.ph : event.name;
  const uint64_t byte =
      at.empty() ? text_offset : text_offset + static_cast<uint64_t>(at.data() - text_begin);
  batch->issues.Add(kind,
                    fmt::format("byte {}: event '{}' {}", byte, event.name.substr(0, 80), what));
}

uint32_t EventParser::Impl::CurrentTrack() {
  const uint32_t pid = pid_memo.Intern(batch->strings, event.pid);
  const uint32_t tid = tid_memo.Intern(batch->strings, event.tid);
  const uint64_t key = (uint64_t{pid} << 32) | tid;
  if (key == last_track_key) return last_track;
  last_track_key = key;
  const size_t mask = track_slots.size() - 1;
  size_t i = (key * 0x9E3779B97F4A7C15ULL) >> 32 & mask;
  while (track_slots[i].second != 0) {
    if (track_slots[i].first == key) return last_track = track_slots[i].second - 1;
    i = (i + 1) & mask;
  }
  last_track = static_cast<uint32_t>(batch->tracks.size());
  batch->tracks.push_back({.pid = pid, .tid = tid});
  track_slots[i] = {key, last_track + 1};
  if (batch->tracks.size() * 2 > track_slots.size()) {
    track_slots.assign(track_slots.size() * 2, {0, 0});
    for (uint32_t track = 0; track < batch->tracks.size(); ++track) {
      const uint64_t k = (uint64_t{batch->tracks[track].pid} << 32) | batch->tracks[track].tid;
      size_t j = (k * 0x9E3779B97F4A7C15ULL) >> 32 & (track_slots.size() - 1);
      while (track_slots[j].second != 0) j = (j + 1) & (track_slots.size() - 1);
      track_slots[j] = {k, track + 1};
    }
  }
  return last_track;
}

std::optional<int64_t> EventParser::Impl::CurrentTs() {
  const auto ts = ParseUsToNs(event.ts);
  if (!ts) {
    Issue(IssueKind::kEventWithoutTs,
          event.ts.empty() ? "has no 'ts'" : "has a 'ts' that is not a number");
  }
  return ts;
}

void EventParser::Impl::AddDetails(uint32_t slice, SliceKind kind) {
  const Args& args = event.args;
  if (kind == SliceKind::kHostOp || kind == SliceKind::kAnnotation) {
    if (kind == SliceKind::kHostOp || event.name.starts_with("ProfilerStep#")) {
      batch->host_ops.push_back({slice, OptionalText(args.Find(KnownArg::kInputDims)),
                                 OptionalText(args.Find(KnownArg::kInputType)), CallStack(),
                                 ParseInt64(args.Find(KnownArg::kSequenceNumber)).value_or(-1),
                                 ParseInt64(args.Find(KnownArg::kFwdThreadId)).value_or(0),
                                 OptionalText(args.Find(KnownArg::kInputStrides)),
                                 OptionalText(args.Find(KnownArg::kConcreteInputs))});
    } else if (event.name.starts_with("gloo:")) {
      EventBatch::Comm comm{.slice = slice};
      comm.data_type = OptionalText(args.Find(KnownArg::kInputType));
      batch->comms.push_back(comm);
    }
    return;
  }
  if (kind == SliceKind::kKernel) {
    batch->kernels.push_back({slice, args.Int(KnownArg::kDevice), args.Int(KnownArg::kStream)});
    if (!store::IsCommunicationKernel(event.name)) return;
    EventBatch::Comm comm{.slice = slice};
    comm.op_type = OptionalText(args.Find(KnownArg::kCollectiveName));
    comm.data_type = OptionalText(args.Find(KnownArg::kDtype));
    comm.group_name = OptionalText(args.Find(KnownArg::kProcessGroupName));
    comm.count = args.Int(KnownArg::kInMsgNelems);
    comm.stream = args.Int(KnownArg::kStream);
    batch->comms.push_back(comm);
    return;
  }
  if (kind == SliceKind::kMemcpy || kind == SliceKind::kMemset) {
    const auto bandwidth = ParseDouble(args.Find(KnownArg::kMemoryBandwidth));
    batch->copies.push_back({slice, args.Int(KnownArg::kCopyBytes),
                             bandwidth.value_or(std::numeric_limits<double>::quiet_NaN())});
    return;
  }
  if (!event.category.empty()) return;
  if (const auto transport = args.Find(KnownArg::kTransportType); !transport.empty()) {
    EventBatch::Comm comm{.slice = slice};
    comm.transport = Text(transport);
    comm.link = OptionalText(args.Find(KnownArg::kLinkType));
    comm.data_type = OptionalText(args.Find(KnownArg::kTaskDataType));
    comm.rdma_type = OptionalText(args.Find(KnownArg::kRdmaType));
    comm.size_bytes = args.Int(KnownArg::kSizeByte);
    comm.src_rank = args.Int(KnownArg::kSrcRank);
    comm.dst_rank = args.Int(KnownArg::kDstRank);
    comm.notify_id = args.Int(KnownArg::kNotifyId);
    comm.stream = args.Int(KnownArg::kStreamId);
    comm.task_id = args.Int(KnownArg::kTaskId);
    batch->comms.push_back(comm);
  } else if (const auto algorithm = args.Find(KnownArg::kAlgType); !algorithm.empty()) {
    EventBatch::Comm comm{.slice = slice};
    comm.alg_type = Text(algorithm);
    comm.data_type = OptionalText(args.Find(KnownArg::kDataType));
    comm.count = args.Int(KnownArg::kCount);
    batch->comms.push_back(comm);
  } else if (const auto marker = args.Find(KnownArg::kEventType); !marker.empty()) {
    batch->markers.push_back(
        {slice, MarkerType(marker), OptionalText(args.Find(KnownArg::kDomain))});
  }
}

void EventParser::Impl::AddSlice() {
  const auto begin = CurrentTs();
  if (!begin) return;
  EventBatch::Slice slice{};
  slice.begin_ns = *begin;
  const auto dur = ParseUsToNs(event.dur);
  if (!dur) {
    Issue(IssueKind::kEventWithoutDur,
          event.dur.empty() ? "has no 'dur'" : "has a 'dur' that is not a number");
  } else if (*dur < 0) {
    Issue(IssueKind::kNegativeDuration, "has a negative 'dur'");
  } else if (*begin > std::numeric_limits<int64_t>::max() - *dur) {
    Issue(IssueKind::kEventWithoutDur, "ends beyond the range of time");
  } else {
    slice.dur_ns = *dur;
  }
  slice.track = CurrentTrack();
  slice.name = Text(event.name);
  slice.correlation = event.args.Int(KnownArg::kCorrelation);
  // Slices of Ascend streams have no category but a type of task.
  const std::string_view category =
      event.category.empty() ? event.args.Find(KnownArg::kTaskType) : event.category;
  slice.category = category_memo.Intern(batch->strings, category);
  slice.args_offset = kNone;
  if (!event.args_text.empty()) {
    slice.args_offset = static_cast<int64_t>(
        text_offset + static_cast<uint64_t>(event.args_text.data() - text_begin));
    slice.args_size = static_cast<uint32_t>(event.args_text.size());
  }
  const auto row = static_cast<uint32_t>(batch->slices.size());
  batch->slices.push_back(slice);
  if (const int64_t device = event.args.Int(KnownArg::kDevice); device != kNone) {
    EventBatch::Track& track = batch->tracks[slice.track];
    if (track.device == kNone) track.device = device;
  }
  const SliceKind kind = kind_memo.Of(event.category);
  const bool needs_no_args = kind == SliceKind::kKernel || event.category == "cpu_op";
  if (event.args.count > 0 || needs_no_args) AddDetails(row, kind);
}

void EventParser::Impl::AddFlow(bool is_start) {
  const auto ts = CurrentTs();
  if (!ts) return;
  const std::string_view kind = event.category.empty() ? event.name : event.category;
  const Hash128 key = HashWide(event.id);
  const uint64_t kind_hash = Hash64(kind);
  batch->flows.push_back({key.high ^ kind_hash, key.low + kind_hash, *ts,
                          ParseInt64(event.id).value_or(kNone), CurrentTrack(),
                          category_memo.Intern(batch->strings, kind), is_start});
}

void EventParser::Impl::AddCounter() {
  const auto ts = CurrentTs();
  if (!ts) return;
  // The accelerator's number is part of the series, not a value of its own.
  const std::string_view accelerator = event.args.Find(KnownArg::kAccId);
  for (size_t i = 0; i < event.args.count; ++i) {
    const Arg& arg = event.args.items[i];
    if (KeyIs(arg.key, "acc_id")) continue;
    const auto value = ParseDouble(Bare(arg.raw));
    if (!value) {
      Issue(IssueKind::kJsonFieldInvalid, "has a counter value that is not a number");
      continue;
    }
    const char* key_end = arg.key;
    while (*key_end != '"') ++key_end;
    const std::string_view key(arg.key, static_cast<size_t>(key_end - arg.key));
    const std::string_view label = accelerator.empty() ? key : accelerator;
    const uint32_t series = series_index.Find({event.pid, event.name, label}, *batch);
    batch->counters.push_back({*ts, *value, series});
  }
}

void EventParser::Impl::AddMeta() {
  using Kind = EventBatch::MetaKind;
  EventBatch::Meta meta{};
  meta.pid = Text(event.pid);
  meta.tid = Text(event.tid);
  const bool is_process = event.name.starts_with("process_");
  if (event.name == "process_name" || event.name == "thread_name") {
    meta.kind = is_process ? Kind::kProcessName : Kind::kThreadName;
    meta.text = Text(event.args.Find(KnownArg::kName));
  } else if (event.name == "process_labels") {
    meta.kind = Kind::kProcessLabels;
    meta.text = Text(event.args.Find(KnownArg::kLabels));
  } else if (event.name == "process_sort_index" || event.name == "thread_sort_index") {
    meta.kind = is_process ? Kind::kProcessSort : Kind::kThreadSort;
    meta.sort_index = event.args.Int(KnownArg::kSortIndex);
  } else {
    return;
  }
  batch->metas.push_back(meta);
}

void EventParser::Impl::AddMemory(int64_t ts_ns) {
  const Args& args = event.args;
  const int64_t bytes = args.Int(KnownArg::kBytes);
  if (bytes == kNone) return Issue(IssueKind::kEventDamaged, "has no 'Bytes'");
  batch->memories.push_back({ts_ns, bytes, args.Int(KnownArg::kAddr),
                             args.Int(KnownArg::kDeviceType), args.Int(KnownArg::kDeviceId),
                             args.Int(KnownArg::kTotalAllocated),
                             args.Int(KnownArg::kTotalReserved)});
}

void EventParser::Impl::AddInstant() {
  const auto ts = CurrentTs();
  if (!ts) return;
  if (event.name == "[memory]") return AddMemory(*ts);
  batch->instants.push_back({*ts, CurrentTrack(), Text(event.name), Text(event.category)});
}

void EventParser::Impl::AddEdge(bool is_begin) {
  const auto ts = CurrentTs();
  if (!ts) return;
  batch->edges.push_back({*ts, CurrentTrack(), Text(event.name), Text(event.category), is_begin});
}

void EventParser::Impl::Dispatch() {
  switch (event.ph.size() == 1 ? event.ph[0] : '\0') {
    case 'X':
      return AddSlice();
    case 's':
      return AddFlow(true);
    case 't':
    case 'f':
      return AddFlow(false);
    case 'C':
      return AddCounter();
    case 'M':
      return AddMeta();
    case 'i':
    case 'I':
    case 'R':
      return AddInstant();
    case 'B':
      return AddEdge(true);
    case 'E':
      return AddEdge(false);
    default:
      Issue(IssueKind::kEventKindIgnored, fmt::format("has 'ph' = '{}'", event.ph.substr(0, 8)));
  }
}

// From an event up to the bracket that closes the array and the text.
bool EventParser::Impl::TakeEvents() {
  do {
    if (tokens.Peek() == '{') {
      if (!ParseEvent(tokens, event)) return false;
      if (event.has_duplicate) CountDuplicate();
      Dispatch();
      continue;
    }
    if (tokens.TakeValue().empty()) return false;
    event.Clear();
    Issue(IssueKind::kEventDamaged, "is not an object");
  } while (tokens.Take(',') != nullptr);
  return tokens.Take(']') != nullptr && tokens.AtEnd();  // text behind the array: not its end
}

bool EventParser::Impl::ParseByTokens(std::string_view text) {
  if (!index.Build(text)) return false;
  tokens = TokenCursor(text, index);
  if (tokens.Take('[') == nullptr) return false;
  if (tokens.Take(']') != nullptr) return tokens.AtEnd();
  return TakeEvents();
}

bool EventParser::Impl::ParseRest(const char* p, const char* text_end) {
  const std::string_view rest(p, static_cast<size_t>(text_end - p));
  if (!index.Build(rest)) return false;
  tokens = TokenCursor(rest, index);
  return TakeEvents();
}

// An object by its tokens, and its shape for the next time.
bool EventParser::Impl::ParseUnknown(std::string_view text) {
  if (!index.Build(text)) return false;
  tokens = TokenCursor(text, index);
  if (!ParseEvent(tokens, event) || !tokens.AtEnd()) return false;
  Dispatch();
  // An event that names a field twice is counted each time, so its shape stays unknown.
  event.has_duplicate ? CountDuplicate() : shapes.Learn(text, index);
  return true;
}

// Event by event, as long as nearly all have known shapes; then, and where the text is anything but
// objects with commas between them, the rest by its tokens.
bool EventParser::Impl::ParseByShapes(std::string_view text) {
  constexpr size_t kFewUnknown = 64;
  constexpr size_t kKnownPerUnknown = 8;
  if (!IsValidUtf8(text)) return false;
  const char* const text_end = text.data() + text.size();
  const char* const end = text_end - 1;  // the closing bracket
  const char* p = SkipBlanks(text.data() + 1);
  if (p == end) return true;
  size_t known = 0;
  size_t unknown = 0;
  while (true) {
    const char* behind = *p == '{' ? shapes.Take(p, end, event) : nullptr;
    if (behind != nullptr) {
      ++known;
      Dispatch();
    } else {
      const bool is_usual = ++unknown <= kFewUnknown + known / kKnownPerUnknown;
      behind = *p == '{' && is_usual ? ScanNested(p, end) : nullptr;
      if (behind == nullptr) return ParseRest(p, text_end);
      if (!ParseUnknown({p, static_cast<size_t>(behind - p)})) return false;
    }
    p = SkipBlanks(behind);
    if (p == end) return true;
    if (*p != ',') return false;
    p = SkipBlanks(p + 1);
  }
}

void EventParser::Begin(EventBatch& batch) {
  batch.Clear();
  impl_->batch = &batch;
  impl_->pid_memo.Clear();
  impl_->tid_memo.Clear();
  impl_->category_memo.Clear();
  impl_->kind_memo.Clear();
  impl_->stack_memo.Clear();
  impl_->series_index.Clear();
  impl_->last_track_key = ~uint64_t{0};
  impl_->track_slots.assign(256, {0, 0});
  impl_->shapes.BeginText();
}

bool EventParser::Add(std::string_view text, uint64_t offset) {
  impl_->text_begin = text.data();
  impl_->text_offset = offset;
  if (!IsValidUtf8(text)) return false;
  const char* const end = text.data() + text.size();
  if (!impl_->use_shapes || impl_->shapes.Take(text.data(), end, impl_->event) != end) {
    return impl_->ParseUnknown(text);
  }
  impl_->Dispatch();
  return true;
}

bool EventParser::Parse(std::string_view text, uint64_t offset, EventBatch& batch) {
  Begin(batch);
  impl_->text_begin = text.data();
  impl_->text_offset = offset;
  return impl_->use_shapes ? impl_->ParseByShapes(text) : impl_->ParseByTokens(text);
}

}  // namespace steplens::readers
