// Measures one path of the product in CPU time, best of several runs, beside the limit it is held
// against, in one process. Prints one JSON object; bench/run.py calls it per measurement, in a
// fresh process, and writes docs/performance.md.
//
//   steplens_bench compare TRACE          trace to store and simdjson On-Demand alone, in turn
//   steplens_bench trace TRACE THREADS    trace to store; with a fourth word 'tokens' without the
//                                         shapes of events
//   steplens_bench db FILE | csv FILE     database, kernel_details.csv to store
//   steplens_bench cache PATH             first and second open of a job
//   steplens_bench breakdown EVENTS FORM  step table over that many device events in memory
//   steplens_bench match COUNT            so many operators of ten names, matched with three more
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "analysis/breakdown/breakdown.h"
#include "analysis/compare/match.h"
#include "base/allocator.h"
#include "base/file.h"
#include "open/open.h"
#include "readers/ascend_db/ascend_db.h"
#include "readers/ascend_text/ascend_text.h"
#include "readers/chrome/chrome_trace.h"
#include "store/cache.h"

namespace {

using namespace steplens;  // NOLINT: a program of one file

constexpr int kRuns = 5;

double Clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Times {
  double cpu_s = 1e30;
  double wall_s = 1e30;
};

Times Once(const std::function<void()>& body) {
  const double cpu = Clock(CLOCK_PROCESS_CPUTIME_ID);
  const double wall = Clock(CLOCK_MONOTONIC);
  body();
  return {Clock(CLOCK_PROCESS_CPUTIME_ID) - cpu, Clock(CLOCK_MONOTONIC) - wall};
}

void Keep(const Times& once, Times& best) {
  best.cpu_s = std::min(best.cpu_s, once.cpu_s);
  best.wall_s = std::min(best.wall_s, once.wall_s);
}

// The best CPU and wall time of kRuns calls.
Times Best(const std::function<void()>& body) {
  Times best;
  for (int i = 0; i < kRuns; ++i) Keep(Once(body), best);
  return best;
}

[[noreturn]] void Fail(const std::string& message) {
  fmt::print(stderr, "steplens_bench: {}\n", message);
  std::exit(1);
}

void Check(const Status& status) {
  if (!status.ok()) Fail(status.error().message);
}

double PeakMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

uint64_t SizeOf(const std::string& path) {
  const auto stamp = StatFile(path);
  if (!stamp.ok()) Fail(stamp.error().message);
  return stamp->size_bytes;
}

void Print(const Times& times, uint64_t bytes, uint64_t rows) {
  fmt::print(
      "{{\"cpu_s\": {:.4f}, \"wall_s\": {:.4f}, \"bytes\": {}, \"rows\": {}, \"peak_mb\": "
      "{:.1f}}}\n",
      times.cpu_s, times.wall_s, bytes, rows, PeakMb());
}

// The bytes of a file, in memory of large pages (large_memory.cc).
class FileText {
 public:
  explicit FileText(size_t size)
      : size_(size), text_(new(std::nothrow) char[size + simdjson::SIMDJSON_PADDING]) {
    if (!text_) Fail("no memory for the text");
  }
  void Load(const std::string& path) {
    const auto source = OpenByteSource(path);
    if (!source.ok()) Fail(source.error().message);
    for (size_t have = 0; have < size_;) {
      const auto got = (*source)->Read(text_.get() + have, size_ - have);
      if (!got.ok() || *got == 0) Fail("cannot read " + path);
      have += *got;
    }
  }
  std::string_view view() const { return {text_.get(), size_}; }
  simdjson::padded_string_view padded() const {
    return simdjson::padded_string_view(text_.get(), size_, size_ + simdjson::SIMDJSON_PADDING);
  }

 private:
  size_t size_;
  std::unique_ptr<char[]> text_;
};

// Every field of every event touched once, nothing kept: the fastest any reader built on simdjson
// could be. Returns the number of events.
uint64_t Walk(simdjson::ondemand::parser& parser, simdjson::padded_string_view text) {
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (parser.iterate(text).get(document)) Fail("not JSON");
  simdjson::ondemand::json_type type{};
  if (document.type().get(type)) Fail("not JSON");
  const auto error = type == simdjson::ondemand::json_type::array
                         ? document.get_array().get(array)
                         : document["traceEvents"].get_array().get(array);
  if (error) Fail("no events");
  uint64_t events = 0;
  uint64_t touched = 0;
  for (auto element : array) {
    simdjson::ondemand::object event;
    if (element.get_object().get(event)) Fail("not an object");
    for (auto field : event) {
      simdjson::ondemand::raw_json_string key;
      std::string_view token;
      if (field.key().get(key) || field.value().raw_json_token().get(token)) Fail("bad field");
      touched += token.size();
    }
    ++events;
  }
  if (touched == 0) Fail("nothing touched");
  return events;
}

// The reader beside the walk, in turn and under the same conditions: each starts from the file and
// with nothing in memory; then a walk whose text is in memory already and whose parser has its
// index (memory that was touched before costs no page faults), and the reader on that text.
void Compare(const std::string& path) {
  ThreadPool pool(1);
  readers::ReadOptions options;
  options.pool = &pool;
  FileText text(SizeOf(path));
  text.Load(path);
  simdjson::ondemand::parser parser;
  Walk(parser, text.padded());  // makes the index
  Times walk_file;
  Times read_file;
  Times walk_memory;
  Times read_memory;
  for (int i = 0; i < kRuns; ++i) {
    Keep(Once([&] {
           FileText own(SizeOf(path));
           own.Load(path);
           simdjson::ondemand::parser own_parser;
           Walk(own_parser, own.padded());
         }),
         walk_file);
    Keep(Once([&] {
           store::TraceStore store;
           Check(readers::ReadChromeTrace(path, options, store));
         }),
         read_file);
    Keep(Once([&] { Walk(parser, text.padded()); }), walk_memory);
    Keep(Once([&] {
           store::TraceStore store;
           Check(readers::ReadChromeText(text.view(), path, options, store));
         }),
         read_memory);
  }
  fmt::print(
      "{{\"bytes\": {}, \"walk_file_s\": {:.4f}, \"read_file_s\": {:.4f}, \"walk_memory_s\": "
      "{:.4f}, "
      "\"read_memory_s\": {:.4f}}}\n",
      SizeOf(path), walk_file.cpu_s, read_file.cpu_s, walk_memory.cpu_s, read_memory.cpu_s);
}

void Trace(const std::string& path, size_t threads, bool use_shapes) {
  ThreadPool pool(threads);
  readers::ReadOptions options;
  options.use_event_shapes = use_shapes;
  options.pool = &pool;
  uint64_t rows = 0;
  const Times times = Best([&] {
    store::TraceStore store;
    Check(readers::ReadChromeTrace(path, options, store));
    rows = store.slices.size() + store.flows.size() * 2 + store.counters.size();
  });
  Print(times, SizeOf(path), rows);
}

uint64_t RowCount(const store::TraceStore& store) {
  uint64_t rows = 0;
  store.ForEachTable([&](const auto& table) { rows += table.size(); });
  return rows;
}

template <typename Read>
void File(const std::string& path, Read read) {
  ThreadPool pool(1);
  readers::ReadOptions options;
  options.pool = &pool;
  uint64_t rows = 0;
  const Times times = Best([&] {
    store::TraceStore store;
    Check(read(path, options, store));
    rows = RowCount(store);
  });
  Print(times, SizeOf(path), rows);
}

void Cache(const std::string& path) {
  opening::OpenOptions options;
  options.threads = 1;
  options.use_cache = false;
  const auto open = [&] {
    const auto job = opening::OpenJob({path}, options);
    if (!job.ok()) Fail(job.error().message);
  };
  const Times first = Best(open);
  options.use_cache = true;
  open();
  const Times second = Best(open);
  fmt::print("{{\"first_cpu_s\": {:.4f}, \"second_cpu_s\": {:.4f}}}\n", first.cpu_s, second.cpu_s);
}

store::TrackId AddTrack(store::TraceStore& store, std::string_view name, store::TrackId parent) {
  store.tracks.Append(
      {.parent = parent,
       .kind = store.strings.Intern(parent == store::kNoTrack ? "process" : "thread"),
       .name = store.strings.Intern(name)});
  return store::TrackId{static_cast<uint32_t>(store.tracks.size() - 1)};
}

// The timeline a text capture has beside its kernels: each on its stream, with the operator that
// launched it, in ten steps.
void AddTimeline(store::TraceStore& store) {
  constexpr int64_t kAhead = 1000000;  // the host runs a millisecond ahead
  const store::TrackId host =
      AddTrack(store, "Thread 1", AddTrack(store, "Python", store::kNoTrack));
  const store::TrackId device = AddTrack(store, "Ascend Hardware", store::kNoTrack);
  std::vector<store::TrackId> streams;
  for (const char* name : {"Stream 0", "Stream 1", "Stream 2", "Stream 3"}) {
    streams.push_back(AddTrack(store, name, device));
  }
  const StringId op = store.strings.Intern("aten::mm");
  const StringId cpu_op = store.strings.Intern("cpu_op");
  const StringId async_npu = store.strings.Intern("async_npu");
  const size_t kernels = store.kernels.size();
  for (size_t i = 0; i < kernels; ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    const store::TrackId stream = streams[i % streams.size()];
    store.slices.Append({host, begin_ns - kAhead, 50, op, cpu_op});
    store.slices.Append({stream, begin_ns, store.kernels.dur_ns[i], store.kernels.name[i]});
    store.flows.Append({async_npu, host, begin_ns - kAhead, stream, begin_ns});
  }
  for (size_t step = 0; step < 10; ++step) {
    const auto begin = store.kernels.begin_ns[step * kernels / 10].value() - kAhead;
    const auto end = store.kernels.begin_ns[(step + 1) * kernels / 10 - 1].value() - kAhead;
    store.steps.Append({static_cast<int64_t>(step), begin, end + 100});
  }
}

// `events` kernels on four streams and a collective after every hundredth. "text" has the timeline
// of a text capture as well and goes by its rule, "db" is one step that holds everything.
void Breakdown(size_t events, const std::string& format) {
  store::Job job;
  store::TraceStore& store = job.ranks.emplace_back();
  store.info.source = store::Source::kAscendPt;
  store.info.format = store::FormatOfName(format).value_or(store::Format::kUnknown);
  const StringId name = store.strings.Intern("MatMul");
  const StringId core = store.strings.Intern("AI_CORE");
  const StringId hcom = store.strings.Intern("hcom_allReduce__1_0_1");
  const StringId hccl = store.strings.Intern("HCCL");
  constexpr int64_t kStart = 1736408883704643212;
  for (size_t i = 0; i < events; ++i) {
    const bool is_comm = i % 100 == 99;
    store::KernelTable::Row kernel;
    kernel.begin_ns = kStart + static_cast<int64_t>(i) * 100;
    kernel.dur_ns = 80 + static_cast<int64_t>(i % 7) * 20;
    kernel.stream = static_cast<int64_t>(i % 4);
    kernel.device = 0;
    kernel.name = is_comm ? hcom : name;
    kernel.core = is_comm ? hccl : core;
    store.kernels.Append(kernel);
    if (!is_comm) continue;
    store::CommOpTable::Row op;
    op.begin_ns = kernel.begin_ns;
    op.dur_ns = kernel.dur_ns;
    op.name = hcom;
    store.comm_ops.Append(op);
  }
  if (format == "text") AddTimeline(store);
  size_t rows = 0;
  const Times times = Best([&] { rows = analysis::StepBreakdown(job, {}).rows(); });
  if (rows == 0) Fail("no row in the breakdown");
  Print(times, 0, events);
}

// The worst case of matching two lists of operators: long, and nearly the same everywhere.
void Match(size_t count) {
  std::vector<uint32_t> base(count);
  for (size_t i = 0; i < count; ++i) base[i] = static_cast<uint32_t>(i % 10);
  std::vector<uint32_t> comparison = base;
  for (const size_t fifth : {size_t{1}, size_t{2}, size_t{4}}) {
    comparison.insert(comparison.begin() + static_cast<ptrdiff_t>(count / 5 * fifth + fifth), 3);
  }
  size_t pairs = 0;
  const Times times =
      Best([&] { pairs = analysis::compare::MatchSequences(base, comparison).size(); });
  if (pairs < count) Fail("operators were lost");
  Print(times, 0, pairs);
}

}  // namespace

int main(int argc, char** argv) {
  UseLargePages();  // as the program does
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2)
    Fail(
        "usage: steplens_bench compare|trace|db|csv|cache|breakdown|match ARGUMENT [THREADS|FORM]");
  const std::string& what = words[0];
  if (what == "compare") Compare(words[1]);
  if (what == "trace") {
    const bool use_shapes = words.size() < 4 || words[3] != "tokens";
    Trace(words[1], words.size() > 2 ? std::stoul(words[2]) : 1, use_shapes);
  }
  if (what == "db") File(words[1], readers::ReadProfilerDb);
  if (what == "csv") {
    File(words[1], [](const std::string& path, const readers::ReadOptions& options,
                      store::TraceStore& store) {
      return readers::ReadTextFile(readers::TextFileKind::kKernelDetails, path, options, store);
    });
  }
  if (what == "cache") Cache(words[1]);
  if (what == "breakdown") Breakdown(std::stoul(words[1]), words.size() > 2 ? words[2] : "db");
  if (what == "match") Match(std::stoul(words[1]));
  return 0;
}
