#include "readers/nsys/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;
using store::TrackId;

// globalTid:  hardware and virtual machine | process : 24 | thread : 24
// globalPid:  the same with thread 0
constexpr int kThreadBits = 24;
constexpr int64_t kThreadMask = (int64_t{1} << kThreadBits) - 1;
int64_t ProcessOf(int64_t global_id) { return global_id >> kThreadBits; }

// NVTX_EVENTS.eventType.
constexpr int64_t kMark = 34;
constexpr int64_t kPushPopRange = 59;
constexpr int64_t kStartEndRange = 60;

// Threads of the host and streams of the devices, made at their first use.
class Tracks {
 public:
  explicit Tracks(DbContext& db) : db_(db) {}

  void NameThread(int64_t global_tid, StringId name) { thread_names_[global_tid] = name; }

  TrackId Thread(int64_t global_tid) {
    TrackId& thread = threads_.try_emplace(global_tid, store::kNoTrack).first->second;
    if (thread != store::kNoTrack) return thread;
    const int64_t pid = ProcessOf(global_tid) & kThreadMask;
    TrackId& process = processes_.try_emplace(ProcessOf(global_tid), store::kNoTrack).first->second;
    if (process == store::kNoTrack)
      process = AddProcess(pid, fmt::format("process {}", pid), "CPU");
    const int64_t tid = global_tid & kThreadMask;
    const auto name = thread_names_.find(global_tid);
    thread = AddThread(
        process, tid,
        name != thread_names_.end() ? name->second : db_.Intern(fmt::format("thread {}", tid)));
    return thread;
  }

  TrackId Stream(int64_t device, int64_t stream) {
    TrackId& track = streams_.try_emplace({device, stream}, store::kNoTrack).first->second;
    if (track != store::kNoTrack) return track;
    TrackId& process = devices_.try_emplace(device, store::kNoTrack).first->second;
    const std::string name = fmt::format("GPU {}", device);
    if (process == store::kNoTrack) process = AddProcess(device, name, name);
    track = AddThread(process, stream, db_.Intern(fmt::format("stream {}", stream)));
    return track;
  }

 private:
  TrackId Add(const store::TrackTable::Row& row) {
    db_.out.tracks.Append(row);
    return static_cast<TrackId>(db_.out.tracks.size() - 1);
  }
  TrackId AddProcess(int64_t pid, const std::string& name, const std::string& label) {
    return Add({.kind = db_.Intern("process"),
                .pid = db_.Intern(fmt::to_string(pid)),
                .name = db_.Intern(name),
                .label = db_.Intern(label)});
  }
  TrackId AddThread(TrackId process, int64_t tid, StringId name) {
    return Add({.parent = process,
                .kind = db_.Intern("thread"),
                .pid = db_.out.tracks.pid[static_cast<size_t>(process)],
                .tid = db_.Intern(fmt::to_string(tid)),
                .name = name,
                .sort_index = tid});
  }

  DbContext& db_;
  std::map<int64_t, StringId> thread_names_;
  std::map<int64_t, TrackId> processes_, threads_, devices_;
  std::map<std::pair<int64_t, int64_t>, TrackId> streams_;
};

class NsysReader {
 public:
  NsysReader(SqliteFile& file, store::TraceStore& out) : db_(file, out), tracks_(db_) {}

  Status Read() {
    SL_RETURN_IF_ERROR(ReadStrings());
    SL_RETURN_IF_ERROR(ReadThreadNames());
    SL_RETURN_IF_ERROR(ReadRanges());
    SL_RETURN_IF_ERROR(ReadCalls());
    SL_RETURN_IF_ERROR(ReadWork("CUPTI_ACTIVITY_KIND_KERNEL", "?demangledName|shortName", "kernel",
                                [&](int64_t name) { return db_.String(name); }));
    SL_RETURN_IF_ERROR(ReadWork("CUPTI_ACTIVITY_KIND_MEMCPY", "?copyKind", "gpu_memcpy",
                                [&](int64_t kind) { return CopyName(kind); }));
    return ReadWork("CUPTI_ACTIVITY_KIND_MEMSET", "?value", "gpu_memset",
                    [&](int64_t) { return db_.Intern("Memset (Device)"); });
  }

 private:
  Status ReadStrings() {
    SL_RETURN_IF_ERROR(ReadTable(db_, "StringIds", {"id", "value"}, [&](Scan& row) {
      const int64_t id = row.Int(0);
      if (id == kNone) return false;
      db_.strings.Add(id, db_.Intern(row.Text(1)));
      return true;
    }));
    db_.strings.Build();
    return {};
  }

  Status ReadThreadNames() {
    return ReadTable(db_, "ThreadNames", {"nameId", "globalTid"}, [&](Scan& row) {
      const int64_t global_tid = row.Int(1);
      if (global_tid < 0) return false;
      tracks_.NameThread(global_tid, db_.String(row.Int(0)));
      return true;
    });
  }

  Status ReadRanges() {
    enum Column : size_t { kStart, kEnd, kType, kText, kTextId, kTid };
    const StringId category = db_.Intern("user_annotation");
    return ReadTable(
        db_, "NVTX_EVENTS", {"start", "end", "?eventType", "?text", "?textId", "globalTid"},
        [&](Scan& row) {
          const int64_t type = row.Int(kType);
          const bool is_range = type == kPushPopRange || type == kStartEndRange || type == kNone;
          if (!is_range && type != kMark) return true;  // names of domains, categories, threads
          const int64_t begin_ns = row.Int(kStart);
          const int64_t global_tid = row.Int(kTid);
          if (begin_ns < 0 || global_tid < 0) return false;
          const StringId name = TextOf(row.Text(kText), row.Int(kTextId));
          const TrackId track = tracks_.Thread(global_tid);
          if (!is_range) {
            db_.out.instants.Append({track, begin_ns, name, category});
            return true;
          }
          if (row.Int(kEnd) == kNone) {
            db_.out.issues.Add(IssueKind::kBeginWithoutEnd,
                               fmt::format("{}: NVTX range '{}' at {} ns has no end",
                                           db_.file.name(), db_.out.Text(name), begin_ns));
            return true;
          }
          const auto span = ReadTimeSpan(db_, row, kStart, kEnd);
          if (!span) return false;
          AppendSlice(track, *span, name, category, kNone);
          return true;
        });
  }

  StringId TextOf(std::string_view text, int64_t text_id) {
    return text.empty() && text_id != kNone ? db_.String(text_id) : db_.Intern(text);
  }

  Status ReadCalls() {
    enum Column : size_t { kStart, kEnd, kTid, kCorrelation, kName };
    const StringId runtime = db_.Intern("cuda_runtime");
    const StringId driver = db_.Intern("cuda_driver");
    return ReadTable(db_, "CUPTI_ACTIVITY_KIND_RUNTIME",
                     {"start", "end", "globalTid", "?correlationId", "?nameId"}, [&](Scan& row) {
                       const auto span = ReadTimeSpan(db_, row, kStart, kEnd);
                       const int64_t global_tid = row.Int(kTid);
                       if (!span || global_tid < 0) return false;
                       const int64_t name_id = row.Int(kName);
                       const StringId name = name_id > 0 ? db_.String(name_id) : StringId::kEmpty;
                       const std::string_view text = db_.out.Text(name);
                       const bool is_driver = text.starts_with("cu") && !text.starts_with("cuda");
                       AppendSlice(tracks_.Thread(global_tid), *span, name,
                                   is_driver ? driver : runtime,
                                   Correlation(global_tid, row.Int(kCorrelation)));
                       return true;
                     });
  }

  // Work of the devices. `name_column` says what name_of(number) makes a name of.
  template <typename NameOf>
  Status ReadWork(std::string_view table, std::string_view name_column, std::string_view category,
                  NameOf name_of) {
    enum Column : size_t { kStart, kEnd, kDevice, kStream, kCorrelation, kPid, kName };
    const StringId category_id = db_.Intern(category);
    return ReadTable(
        db_, table,
        {"start", "end", "deviceId", "?streamId", "?correlationId", "?globalPid", name_column},
        [&](Scan& row) {
          const auto span = ReadTimeSpan(db_, row, kStart, kEnd);
          const int64_t device = row.Int(kDevice);
          if (!span || device < 0) return false;
          const int64_t stream = std::max<int64_t>(row.Int(kStream), 0);
          const int64_t correlation = Correlation(row.Int(kPid), row.Int(kCorrelation));
          const StringId name = name_of(row.Int(kName));
          AppendSlice(tracks_.Stream(device, stream), *span, name, category_id, correlation);
          db_.out.kernels.Append({.device = device,
                                  .stream = stream,
                                  .name = name,
                                  .core = category_id,
                                  .begin_ns = span->begin_ns,
                                  .dur_ns = span->dur_ns,
                                  .correlation = correlation});
          return true;
        });
  }

  StringId CopyName(int64_t kind) {
    switch (kind) {
      case 1:
        return db_.Intern("Memcpy HtoD");
      case 2:
        return db_.Intern("Memcpy DtoH");
      case 8:
        return db_.Intern("Memcpy DtoD");
      case 10:
        return db_.Intern("Memcpy PtoP");
      default:
        return db_.Intern("Memcpy");
    }
  }

  // correlationId counts per process:  number of the process : 31 | correlationId : 32. The first
  // process has number 0, so the ids of a file with one process stay as they are, and work that
  // does not say its process (older exports) is taken for the first one's.
  int64_t Correlation(int64_t global_id, int64_t id) {
    constexpr int kIdBits = 32;
    if (id < 0 || id >> kIdBits != 0) return kNone;
    if (global_id < 0) return id;
    const auto next = static_cast<int64_t>(process_numbers_.size());
    return process_numbers_.try_emplace(ProcessOf(global_id), next).first->second << kIdBits | id;
  }

  void AppendSlice(TrackId track, const TimeSpan& span, StringId name, StringId category,
                   int64_t correlation) {
    db_.out.slices.Append({.track = track,
                           .begin_ns = span.begin_ns,
                           .dur_ns = span.dur_ns,
                           .name = name,
                           .category = category,
                           .correlation = correlation});
  }

  DbContext db_;
  Tracks tracks_;
  std::map<int64_t, int64_t> process_numbers_;
};

}  // namespace

Status ReadNsysDb(const std::string& path, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(SqliteFile file, SqliteFile::Open(path));
  const bool is_export = std::any_of(std::begin(kNsysTables), std::end(kNsysTables),
                                     [&](std::string_view table) { return file.HasTable(table); });
  if (!is_export) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: no Nsight Systems export: none of the tables {} is there",
                             file.name(), fmt::join(kNsysTables, ", "))};
  }
  if (options.wanted.timeline) SL_RETURN_IF_ERROR(NsysReader(file, out).Read());
  if (options.progress != nullptr) options.progress->Add(file.size_bytes());
  return {};
}

}  // namespace steplens::readers
