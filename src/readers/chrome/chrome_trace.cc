#include "readers/chrome/chrome_trace.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <optional>

#include "base/cancel.h"
#include "base/ordered_pipeline.h"
#include "base/utf8.h"
#include "readers/chrome/chunk_cutter.h"
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
  EventBatch batch;
  bool parsed = false;
  size_t events_end = 0;  // bytes of the piece that belong to the array; the rest is behind its ']'
  uint64_t consumed_bytes = 0;
};

void ParsePiece(Work& work, EventParser& parser) {
  work.events_end = work.piece.text().size();
  std::optional<size_t> array_end;
  if (work.piece.is_last()) {
    array_end = FindArrayEnd(work.piece.text());
    if (!array_end) {  // cut off: the careful way finds the whole events
      work.parsed = false;
      return;
    }
    work.events_end = *array_end;
  }
  // The bracket that AsArray writes stands where a comma or the array's own ']' was.
  work.parsed =
      parser.Parse(work.piece.AsArray(work.events_end), work.piece.offset() - 1, work.batch);
}

// Takes the pieces in order: batches that parsed go to the assembler; from a piece that did not,
// events are picked one by one.
class Collector {
 public:
  Collector(store::TraceStore& out, std::string name)
      : out_(out), name_(std::move(name)), assembler_(out, name_) {}

  void Take(const Work& work) {
    const std::string_view text = work.piece.text();
    if (array_ended_) {
      tail_ += ',';  // where the pieces were cut
      tail_ += text;
      return;
    }
    if (work.parsed && carry_.empty()) {
      assembler_.Append(work.batch);
      if (work.piece.is_last()) {
        array_ended_ = true;
        tail_ = text.substr(work.events_end + 1);
      }
      return;
    }
    if (carry_.empty()) {
      carry_offset_ = work.piece.offset();
    } else {
      // Where the pieces were cut, a comma and blanks stood; positions must not move.
      carry_ += ',';
      carry_.resize(work.piece.offset() - carry_offset_, ' ');
    }
    carry_ += text;
    PickEvents(work.piece.is_last());
  }

  // Returns the JSON text behind the array, starting with the comma or brace that follows it.
  const std::string& tail() const { return tail_; }
  bool array_ended() const { return array_ended_; }
  void Reserve(double ratio) { assembler_.Reserve(ratio); }
  LooseFlows Finish(int64_t shift_ns, ThreadPool& pool) {
    return assembler_.Finish(shift_ns, pool);
  }

 private:
  void PickEvents(bool at_end) {
    SplitCallbacks callbacks;
    callbacks.on_event = [&](std::string_view event, size_t position) {
      TakeEvent(event, position);
    };
    callbacks.on_damage = [&](size_t position) {
      out_.issues.Add(IssueKind::kEventDamaged,
                      fmt::format("{}: byte {}: not an event: '{}'", name_,
                                  carry_offset_ + position, carry_.substr(position, 60)));
    };
    const SplitResult result = SplitEvents(carry_, at_end, callbacks);
    if (result.array_ended) {
      array_ended_ = true;
      tail_ = carry_.substr(result.consumed);
      carry_.clear();
      return;
    }
    carry_.erase(0, result.consumed);
    carry_offset_ += result.consumed;
  }

  void TakeEvent(std::string_view event, size_t position) {
    buffer_.assign("[");
    buffer_ += event;
    buffer_ += ']';
    buffer_.append(kParserPadding, '\0');
    const std::string_view text(buffer_.data(), event.size() + 2);
    const uint64_t offset = carry_offset_ + position - 1;
    bool parsed = parser_.Parse(text, offset, batch_);
    if (!parsed && RepairUtf8()) {
      out_.issues.Add(IssueKind::kInvalidUtf8, fmt::format("{}: byte {}", name_, offset + 1));
      parsed = parser_.Parse(text, offset, batch_);
    }
    if (parsed) return assembler_.Append(batch_);
    out_.issues.Add(IssueKind::kEventDamaged, fmt::format("{}: byte {}: not valid JSON: '{}'",
                                                          name_, offset + 1, event.substr(0, 60)));
  }

  // Replaces bytes that are not UTF-8 by '?', which keeps every position. False if there were none.
  bool RepairUtf8() {
    bool changed = false;
    std::string_view rest = buffer_;
    while (!rest.empty()) {
      const size_t length = Utf8Length(rest);
      if (length == 0) {
        buffer_[buffer_.size() - rest.size()] = '?';
        changed = true;
      }
      rest.remove_prefix(std::max<size_t>(1, length));
    }
    return changed;
  }

  store::TraceStore& out_;
  const std::string name_;
  TraceAssembler assembler_;
  bool array_ended_ = false;
  std::string carry_;  // text not taken apart yet: it ends inside an event
  uint64_t carry_offset_ = 0;
  std::string tail_;
  EventParser parser_;
  EventBatch batch_;
  std::string buffer_;
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
