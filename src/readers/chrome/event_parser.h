#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "readers/chrome/event_batch.h"
#include "readers/chrome/structural_index.h"

namespace steplens::readers {

// Turns the text of a JSON array of trace events into an EventBatch. One parser per thread; it
// keeps its buffers, and the shapes of events it has seen, between calls.
class EventParser {
 public:
  // Without shapes every event is taken apart token by token; the result is the same.
  explicit EventParser(bool use_shapes = true);
  ~EventParser();
  EventParser(EventParser&&) noexcept;

  // `text` is `[event, event, ...]` with kParserPadding readable bytes behind it; batch texts are
  // views into it. `offset` is the place of text[0] in the whole trace. False if the text is not
  // well formed: the batch is then unusable. An event that is well formed but lacks what it needs
  // is counted in batch.issues. Text that is not valid UTF-8 is not well formed here; the caller
  // repairs it and tries again.
  bool Parse(std::string_view text, uint64_t offset, EventBatch& batch);

  // The same for events that stand apart from each other: Begin empties the batch, each Add appends
  // what one object says, or returns false and appends nothing. `text` is the object alone; it must
  // stay where it is as long as the batch.
  void Begin(EventBatch& batch);
  bool Add(std::string_view text, uint64_t offset);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::readers
