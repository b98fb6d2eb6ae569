#include "readers/chrome/chrome_trace.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <optional>

#include "base/cancel.h"
#include "base/ordered_pipeline.h"
#include "readers/chrome/chunk_cutter.h"
#include "readers/chrome/damaged_piece.h"
#include "readers/chrome/event_parser.h"
#include "readers/chrome/event_splitter.h"
#include "readers/chrome/trace_assembler.h"
#include "readers/chrome/trace_members.h"

namespace steplens::readers {
namespace {

using store::IssueKind;

// Parsers for the threads of a pipeline: taken for one piece, given back.
class ParserShelf {
 public:
  explicit ParserShelf(bool use_shapes) : use_shapes_(use_shapes) {}

  std::unique_ptr<EventParser> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<EventParser>(use_shapes_);
    auto parser = std::move(free_.back());
    free_.pop_back();
    return parser;
  }
  void Give(std::unique_ptr<EventParser> parser) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(parser));
  }

 private:
  const bool use_shapes_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<EventParser>> free_;
};

// A piece on its way through the pipeline.
struct Work {
  TracePiece piece;
  PickedEvents picked;
  uint64_t consumed_bytes = 0;
};

// As a run of whole events; false if it is not one.
bool ParseWhole(Work& work, EventParser& parser) {
  size_t events_end = work.piece.text().size();
  SplitResult& end = work.picked.end;
  end = {.consumed = events_end};
  if (work.piece.is_last()) {
    const auto array_end = FindArrayEnd(work.piece.text());
    if (!array_end) return false;  // cut off: the careful way finds the whole events
    events_end = *array_end;
    end = {.consumed = events_end + 1, .array_ended = true};
  }
  // The bracket that AsArray writes stands where a comma or the array's own ']' was.
  return parser.Parse(work.piece.AsArray(events_end), work.piece.offset() - 1, work.picked.batch);
}

// What this gives holds if the piece begins where an event does; the collector knows.
void ParsePiece(Work& work, EventParser& parser) {
  if (ParseWhole(work, parser)) return;
  PickEvents(work.piece.text(), work.piece.offset(), work.piece.is_last(), parser, work.picked);
}

// Takes the pieces in order: what was made of them goes to the assembler, unless the piece before
// ended inside an event. That one's rest and the piece are then taken together.
class Collector {
 public:
  Collector(store::TraceStore& out, const std::string& name) : assembler_(out, name) {}

  void Take(const Work& work) {
    const std::string_view text = work.piece.text();
    if (array_ended_) return AddToTail(text);
    if (carry_.empty()) {
      assembler_.Append(work.picked.batch);
      return GoOn(text, work.piece.offset(), work.picked.end);
    }
    // Where the pieces were cut, a comma and blanks stood; positions must not move.
    carry_ += ',';
    carry_.resize(work.piece.offset() - carry_offset_, ' ');
    carry_ += text;
    // Not for every piece again: an event that does not end would be scanned as often.
    if (work.piece.is_last() || carry_.size() >= 2 * carry_picked_) PickCarry(work.piece.is_last());
  }

  // Returns the JSON text behind the array, starting with the comma or brace that follows it.
  const std::string& tail() const { return tail_; }
  bool array_ended() const { return array_ended_; }
  void Reserve(double ratio) { assembler_.Reserve(ratio); }
  LooseFlows Finish(int64_t shift_ns, ThreadPool& pool) {
    return assembler_.Finish(shift_ns, pool);
  }

 private:
  void AddToTail(std::string_view text) {
    if (tail_.size() > kTailLimit) return;
    tail_ += ',';  // where the pieces were cut
    tail_ += text;
  }

  void GoOn(std::string_view text, uint64_t offset, const SplitResult& end) {
    array_ended_ = end.array_ended;
    (array_ended_ ? tail_ : carry_) = text.substr(end.consumed);
    carry_offset_ = offset + end.consumed;
    carry_picked_ = carry_.size();
  }

  void PickCarry(bool at_end) {
    const std::string text = std::move(carry_).append(kParserPadding, '\0');
    carry_.clear();
    const std::string_view events(text.data(), text.size() - kParserPadding);
    PickEvents(events, carry_offset_, at_end, parser_, picked_);
    assembler_.Append(picked_.batch);
    GoOn(events, carry_offset_, picked_.end);
  }

  static constexpr size_t kTailLimit = 64 << 20;  // members of a trace are small; damage is not

  TraceAssembler assembler_;
  bool array_ended_ = false;
  std::string carry_;  // text not taken apart yet: it ends inside an event
  uint64_t carry_offset_ = 0;
  size_t carry_picked_ = 0;  // its size when it was last tried
  std::string tail_;
  EventParser parser_;
  PickedEvents picked_;
};

// `size_bytes`: of the file, packed or not; 0 if it is not known.
Status ReadFrom(ByteSource& source, uint64_t size_bytes, const std::string& name,
                const ReadOptions& options, store::TraceStore& out, LooseFlows* loose) {
  constexpr uint64_t kEstimateParts = 64;  // rows are guessed from one part in this many
  ChunkCutter cutter(source, name, options.chunk_bytes);
  SL_RETURN_IF_ERROR(cutter.ReadHead());
  ParserShelf shelf(options.use_event_shapes);
  Collector collector(out, name);
  uint64_t reported = 0;
  RunOrdered<Work>(
      *options.pool,
      [&](Work& work) {
        if (IsCancelled() || !cutter.Next(work.piece)) return false;
        work.consumed_bytes = source.file_position();
        return true;
      },
      [&](Work& work) {
        auto parser = shelf.Take();
        ParsePiece(work, *parser);
        shelf.Give(std::move(parser));
      },
      [&](Work& work) {
        collector.Take(work);
        const uint64_t part = size_bytes / kEstimateParts;
        if (reported < part && work.consumed_bytes >= part) {
          collector.Reserve(1.1 * static_cast<double>(size_bytes) /
                            static_cast<double>(work.consumed_bytes));
        }
        if (options.progress != nullptr) options.progress->Add(work.consumed_bytes - reported);
        reported = work.consumed_bytes;
      });
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
  if (!cutter.source_status().ok()) {
    const Error& error = cutter.source_status().error();
    const bool is_behind_end = error.code == ErrorCode::kUnsupported;
    out.issues.Add(is_behind_end ? IssueKind::kTextBehindEnd : IssueKind::kTraceTruncated,
                   error.message);
  } else if (!collector.array_ended()) {
    out.issues.Add(IssueKind::kTraceTruncated,
                   fmt::format("{}: the array of events is not closed", name));
  }
  std::optional<std::string_view> tail;
  if (collector.array_ended()) tail = collector.tail();
  const int64_t base_ns = ReadTraceMembers(cutter.head(), tail, name, out);
  LooseFlows left = collector.Finish(base_ns, *options.pool);
  if (loose != nullptr) {
    *loose = std::move(left);
  } else {
    CountLoose(left, name, out);
  }
  return {};
}

}  // namespace

Status ReadChromeTrace(const std::string& path, const ReadOptions& options, store::TraceStore& out,
                       LooseFlows* loose) {
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  SL_ASSIGN_OR_RETURN(const FileStamp stamp, StatFile(path));
  return ReadFrom(*source, stamp.size_bytes, path, options, out, loose);
}

Status ReadChromeText(std::string_view text, const std::string& name, const ReadOptions& options,
                      store::TraceStore& out) {
  const std::unique_ptr<ByteSource> source = MakeMemorySource(text);
  return ReadFrom(*source, text.size(), name, options, out, nullptr);
}

}  // namespace steplens::readers
